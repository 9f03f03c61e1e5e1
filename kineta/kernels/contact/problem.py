"""A system with contacts as data: sparsity of inertia and contact rows, and terms of the equations of motion in one state.

Multipliers of constraints count as speeds without mass: the inertia of a block of speeds is::

    [  M  -J' ]
    [ -J  -R  ]

with a small R that iterative refinement makes disappear.
"""

from __future__ import annotations

from collections.abc import Callable

from kineta.memory import Integers, Reals, Record


class ContactProblem(Record):
    """Sizes and sparsity of a system; constant in a run.

    speeds : number of speeds and, behind them, ``multipliers``
    block_start, block_speeds : (blocks + 1,), (speeds,) indices of the speeds of each block of the inertia
    inertia_start : (blocks + 1,) places of the n (n + 2) numbers of a block of n speeds: its matrix by rows, 1 for every
        multiplier, and room for R
    row_start, row_speeds : (contacts + 1,), (entries,) indices of the speeds in the rows of each contact, all of whole blocks
    coupled_start, coupled_blocks : (contacts + 1,), (couplings,) blocks of these speeds
    has_normal : (contacts,) 1 for contacts, 0 for friction of joints, which is always closed and whose size is a force
    poisson : (contacts,) 1 for Poisson's law of restitution, 0 for Newton's
    tangents : (contacts,) numbers of tangents
    """

    speeds: int
    multipliers: int
    contacts: int
    blocks: int
    block_start: Integers
    block_speeds: Integers
    inertia_start: Integers
    row_start: Integers
    row_speeds: Integers
    coupled_start: Integers
    coupled_blocks: Integers
    has_normal: Integers
    poisson: Integers
    tangents: Integers


class ContactTerms(Record):
    """Terms of the equations of motion in one state. Rows of a contact are its normal and two tangents, zero where missing.

    The inertia is factored in place, so that one of two kernels of ``block_inertia`` follows each evaluation, once:
    ``factor_blocks``, with which ``mode_accelerations`` begins, or ``copy_blocks`` where impacts follow, since their Newton's
    method needs the inertia itself. Then come ``accelerations``, and ``respond`` for each contact that takes part.

    inertia : the blocks; force : (speeds,) generalised forces, for multipliers the acceleration bias of their constraints
    jacobian : (3 entries,) rows n, u, w of each contact, over its ``row_speeds``
    velocity, bias : (3 contacts,) relative velocities along the rows, and their rates without accelerations
    law : (4 contacts,) kinetic and static coefficient of friction, or friction of a joint, where less than zero counts as zero;
        restitution; the speed of slip over which smooth friction grows, 0 for Coulomb's
    gap : (contacts,) gaps
    """

    inertia: Reals
    force: Reals
    jacobian: Reals
    velocity: Reals
    bias: Reals
    law: Reals
    gap: Reals


class ContactSolution(Record):
    """Working memory of a contact problem.

    response : (3 entries,) changes of the ``row_speeds`` by unit forces along each row
    delassus : (9 contacts,) changes of the velocities along the rows of a contact by unit forces along them
    target : (3 contacts,) velocities along the rows that are added to those of the speeds
    impulse : (3 contacts,) impulses along the rows; least : (contacts,) the least of those along the normals
    friction : (contacts,) coefficients of friction of contacts at rest, or the friction of joints
    before : (speeds,) speeds before an impact; compression : (3 contacts,) impulses while contacts close
    active : (contacts,) indices of the contacts that act; label : (blocks,) islands
    local : (4,) impulse of one contact
    """

    response: Reals
    delassus: Reals
    target: Reals
    impulse: Reals
    least: Reals
    friction: Reals
    before: Reals
    compression: Reals
    active: Integers
    label: Integers
    local: Reals


#: ``void f(const double *t, const double *y, const double *h, double *out)``.
Function = Callable[[Reals, Reals, Reals, Reals], None]
#: The numbers of the mode of a contact, named in :data:`kineta.mechanics.contact.unilateral_rows.FLAGS`.
CLOSED, STUCK, SLIPS, ALONG, ALONG_W, ALONG_N, BEGINS, SLACK, FLAGS = range(9)
#: What the guards of a contact watch.
NORMAL, TANGENTS, BOUND = range(3)

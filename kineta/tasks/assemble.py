"""Assembly: a state on the constraint manifold from a guess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.infix import number
from kineta.arrays import FloatArray
from kineta.consistency.consistent_state import GUESSES, consistent_state
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.redundancy import singular_configuration
from kineta.drawing import notebook, show
from kineta.equations import case_arguments
from kineta.equations.equations import equations_of
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError, did_you_mean
from kineta.model.coercion import records
from kineta.model.dimensions import variable_units
from kineta.model.name_inference import speed_derivatives
from kineta.model.system import System, a_system
from kineta.records import dataclass
from kineta.runtime.independent_states import state_names
from kineta.runtime.parameter_checks import parameters
from kineta.tasks.motions.conditioning import Conditioning, of_constraints
from kineta.values import finite

#: Ratio of speeds to the given state beyond which constraints count as tangent.
TOUCHING = 1e5

#: Coordinates at most whose changes are shown.
MOST_SHOWN = 6


#: Speeds that do not move coordinates, speeds that stay, and coordinates that stay, by their numbers.
Held = tuple[list[int], list[int], list[int]]


@dataclass(frozen=True)
class Assembly:
    """A consistent state, or one for each of several cases.

    q, v : coordinates (nq,) and speeds (nv,), or (cases, nq) and (cases, nv); ``initial`` has both by name
    moved : largest change of a coordinate from the guess; ``moves`` are the changes by name, the largest first, of those that
        moved, of the first of several cases
    residual : largest constraint residual
    notes : remarks, as on a guess from which Newton's method fails
    conditioning : distance from a singular position, in which the mobility of unpinned coordinates rises; one for each case, none
        without constraints
    system, t, p : the model, the time and the parameters
    """

    q: FloatArray
    v: FloatArray
    initial: dict[str, Any]
    moved: float
    residual: float
    notes: tuple[str, ...] = ()
    conditioning: tuple[Conditioning, ...] = ()
    moves: dict[str, float] = field(default_factory=dict)
    system: System = field(kw_only=True, repr=False, compare=False)
    t: float = field(kw_only=True, repr=False, compare=False)
    p: FloatArray = field(kw_only=True, repr=False, compare=False)

    _repr_html_ = notebook

    def lines(self) -> list[str]:
        """Return what was found as text; the last line is a statement of the language with the state."""
        lines = [f"{note[0].upper()}{note[1:]}." for note in self.notes]
        units = variable_units(self.system)
        shown = [f"{n} by {x:.3g} {units.get(n, '')}".rstrip() for n, x in [*self.moves.items()][:MOST_SHOWN]]
        shown += [f"{len(self.moves) - MOST_SHOWN} more by less"] * (len(self.moves) > MOST_SHOWN)
        moved = f"Moved to meet the constraints: {', '.join(shown)}" if shown else "No coordinate moved"
        lines.append(f"{moved}; constraints are met to {self.residual:.0e}.")
        lines += [f"How near it is to a singular position: {measured}." for measured in self.conditioning]
        values = {name: number(x) for name, x in self.initial.items() if x}
        values |= {n: str(x) for n, x in self.system.initial if n in speed_derivatives(self.system, [n])}
        return [*lines, f"initial {', '.join(f'{n} = {x}' for n, x in values.items())};"] if values else lines

    def as_dict(self) -> dict[str, Any]:
        """Return the state by name and its measures as plain data."""
        near = self.conditioning[0].as_dict() if self.conditioning else None
        state = {"model": self.system.name, **self.initial}
        return {**state, "moved": self.moved, "moves": self.moves, "residual": self.residual, "conditioning": near}

    def picture(self, *, towards: Any = None, ax: Any = None) -> Any:
        """Draw the machine as it was assembled, of several cases the first; returns the Matplotlib axes."""
        return show(self, towards=towards, ax=ax)


def assemble(
    system: System, q: Any = None, v: Any = None, p: Any = None, *, t: float = 0.0, pinned: Iterable[str] = ()
) -> Assembly:
    """Return a consistent state of *system* at the time *t* [s], near the guess *q*, *v*.

    The change has the least kinetic energy. Coordinates and speeds *pinned* by name stay fixed (a ``Ball`` or ``Free`` motion by
    its name, one of its rotations or translations as ``b.Rx``, ``b.Sx``). *q*, *v*, *p* as for
    :func:`~kineta.simulation.simulate.simulate`, of one case or of many.
    Where Newton's method fails, as from a guess at which the constraints have no gradient, neighbouring guesses are tried.

    Raises :class:`SimulationError` where no such state is found, with the largest constraint residual.
    """
    values = parameters(a_system(system), p)
    q0, v0 = initial_state(system, q, v, values)
    t, held = finite("t", t), _held(system, pinned)
    equations = equations_of(system)
    cases = case_arguments.case_count({"q": q0, "v": v0, "p": values})
    if cases is None:
        return _assembled(NumericConstraints(equations, values), t, q0, v0, held)
    rows = zip(*(np.broadcast_to(x, (cases, x.shape[-1])) for x in (q0, v0, values)), strict=True)
    found = []
    for i, (one, speeds, own) in enumerate(rows):
        try:
            found.append(_assembled(NumericConstraints(equations, own), t, one, speeds, held))
        except SimulationError as error:
            raise SimulationError(f"Case {i}: {error}") from None
    q, v = (np.array([getattr(x, n) for x in found]) for n in ("q", "v"))
    names = (*system.q_names, *system.v_names)
    return Assembly(
        q,
        v,
        dict(zip(names, np.concatenate([q, v], axis=1).T, strict=True)),
        max(x.moved for x in found),
        max(x.residual for x in found),
        tuple(f"case {i}: {note}" for i, x in enumerate(found) for note in x.notes),
        tuple(one for x in found for one in x.conditioning),
        found[0].moves,
        system=system,
        t=t,
        p=values,
    )


def _assembled(constraints: NumericConstraints, t: float, q0: FloatArray, v0: FloatArray, held: Held) -> Assembly:
    """Return one case of :func:`assemble`; *held*: what stays, by :func:`_held`."""
    system = constraints.system
    found = consistent_state(constraints, t, q0, v0, held)
    q, v, allowed = found.q, found.v, tolerances.CONSTRAINT_TOLERANCE * found.scale
    if not found.satisfied:
        still = len(set(held[0])) == len(constraints.system.base_speeds)
        raise SimulationError(_unmet(constraints, t, found.residuals, allowed, pinned=any(held), still=still))
    if np.abs(v).max(initial=0.0) > TOUCHING * constraints.scale(q, v0):
        depend = singular_configuration(
            constraints.equations, constraints.p, t, (q, np.zeros_like(v)), (), tolerances.SINGULARITY_TOLERANCE
        ).removesuffix(" there")
        raise SimulationError(
            f"Model '{system.name}': in the position found {depend or 'constraints nearly depend on each other'}, so that "
            f"speeds of {np.abs(v).max():.1g} would be needed. It may be the only one: check lengths and parameters."
        )
    names = (*system.q_names, *system.v_names)
    initial = dict(zip(names, np.concatenate([q, v]).tolist(), strict=True))
    led = zip(("position", "speeds"), found.distances, strict=True)
    notes = tuple(f"the guess led to no {what}; one {beside} beside it did" for what, beside in led if beside)
    speeds = found.v if not system.quasi else np.zeros(len(system.base_speeds))
    measured = of_constraints(constraints, t, q, speeds, held[0], held[2])
    moved = float(np.abs(q - q0).max(initial=0.0))
    near = () if measured is None else (measured,)
    changes = sorted(zip(system.q_names, (q - q0).tolist(), strict=True), key=lambda row: -abs(row[1]))
    moves = {n: x for n, x in changes if abs(x) > tolerances.ROUNDING_TOLERANCE}
    return Assembly(q, v, initial, moved, found.violation, notes, near, moves, system=system, t=t, p=constraints.p)


def _unmet(
    constraints: NumericConstraints, t: float, off: FloatArray, allowed: float, *, pinned: bool, still: bool
) -> str:
    """Return the sentence on the largest constraint residual, of position constraints first, with advice."""
    off = np.where(np.isfinite(off), np.abs(off), np.inf)
    where = [k for k in constraints.on_position if off[k] > allowed]
    k = max(where or sorted({*range(len(off))} - {*constraints.on_position}), key=lambda k: float(off[k]))
    advice = (
        "Pin less: nothing is left to move."
        if still
        else "Pin less, or start from another guess."
        if pinned
        else "Start from another guess, or check lengths and parameters: it may be that no position meets them all."
        if where or constraints.compiled.linear
        else "Start from other speeds, or check parameters: it may be that no speeds meet them all."
    )
    tried = f"this guess, nor from {GUESSES} beside it" if where or not constraints.compiled.linear else "this guess"
    return (
        f"Model '{constraints.system.name}': {constraints.described(k)} cannot be met at t = {t:g} s from {tried}: the nearest "
        f"state found misses it by {off[k]:.3g}. {advice}"
    )


def _held(system: System, pinned: Iterable[str]) -> Held:
    """Return the speeds that must not move coordinates, the speeds that stay, and the coordinates that stay, from the names
    *pinned*: positions of a joint that turns change by several of its speeds.
    """
    names = records(pinned, str, "names of coordinates and speeds", "'q1'")
    blocks: dict[str, tuple[str, ...]] = {}
    for joint, motion in system.joints.items():
        turns = tuple(n for n, (turn, _) in zip(motion.speeds, motion.components, strict=True) if turn)
        blocks |= {joint: motion.speeds, **dict.fromkeys(motion.quaternion, turns)}
    places = {n: k for k, n in enumerate(system.base_speeds)}
    changes = state_names(system)[: len(places)]
    coordinates, speeds, fixed = [], [], []
    for name in names:
        if name in blocks:
            coordinates += [places[n] for n in blocks[name]]
        elif name in system.state_names:
            continue  # constraints move no state
        elif name in changes:
            coordinates.append(changes.index(name))
        elif name in system.q_names:
            fixed.append(system.q_names.index(name))
        elif name in system.base_speeds:
            speeds.append(places[name])
        else:
            known = (*system.q_names, *system.base_speeds, *system.joints)
            raise ArgumentError(
                f"Model '{system.name}' has no coordinate or speed '{name}' to pin.{did_you_mean(name, known)}"
            )
    return coordinates, speeds, fixed

"""The table of the quantities of equations: names, arguments beside the state, names of entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product

from kineta.errors import ArgumentError, did_you_mean, one_of, shown
from kineta.model.body import GROUND
from kineta.model.constraints import holding
from kineta.model.reserved_symbols import NAME, momentum
from kineta.model.system import System
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity of the equations of motion.

    letter : symbol of its entries, followed by their indices
    inputs : input blocks beside t, q, v: accelerations ``vdot``, or added forces ``tau``
    speeds : the block in the place of v: the speeds, or the ``momentum``
    entries : names of the entries, where they are not indexed letters
    keeps : whether the quantity contains constraint reactions, though no added forces
    formalism : the only formalism with this quantity, "" for a quantity of every formalism
    """

    name: str
    letter: str = ""
    inputs: tuple[str, ...] = ()
    entries: Callable[[System], Sequence[str]] | None = None
    speeds: str = "v"
    keeps: bool = False
    formalism: str = ""

    @property
    def solved(self) -> bool:
        """Return whether the quantity follows from a solution with the constraints, which requires independent rows."""
        return self.keeps or "tau" in self.inputs

    @property
    def arguments(self) -> tuple[str, ...]:
        """Input blocks of a function of the quantity, beside the parameters."""
        return ("t", "q", self.speeds, *self.inputs)

    def labels(self, system: System, shape: tuple[int, ...]) -> list[str]:
        """Names of the entries of an array of this *shape*: ``tau[q1']``, ``q1''``, ``M[1,2]``, ``T``."""
        if self.entries is not None:
            return list(self.entries(system))
        letter = self.letter or self.name
        if not shape:
            return [heading(letter, system)]
        return [f"{letter}[{','.join(str(i + 1) for i in index)}]" for index in product(*map(range, shape))]


#: Words that tell a letter from a name of the model that is the same.
_WORDS = {
    "T": "kinetic",
    "V": "potential",
    "E": "total",
    "L": "Lagrange",
    "h": "Jacobi",
    "H": "Hamilton",
    "R": "Routh",
    "S": "Appell",
    "Z": "Gauss",
    "P": "power",
    "V_eff": "potential",
}


def heading(letter: str, system: System) -> str:
    """The *letter* of a quantity; where it is a name of the model, with a word as its index: ``L_Lagrange`` beside a length L."""
    names = (*system.parameter_names, *system.q_names)
    return f"{letter}_{_WORDS[letter]}" if letter in names and letter in _WORDS else letter


def _rates(names: Iterable[str]) -> list[str]:
    return [f"{n}'" for n in names]


def _canonical(system: System) -> list[str]:
    return _rates((*system.q_names, *map(momentum, system.v_names)))


#: Components of a joint reaction: force and couple.
WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")


def _reactions(system: System) -> list[str]:
    return [f"{b.name}.{c}" for b in system.bodies for c in WRENCH]


def _loop_reactions(system: System) -> list[str]:
    return [f"{condition.name}.{c}" for condition in holding(system.constraints) for c in WRENCH]


#: All quantities by name, in the order of display.
QUANTITIES: dict[str, Quantity] = {
    q.name: q
    for q in (
        Quantity("kinetic_energy", "T"),
        Quantity("potential_energy", "V"),
        Quantity("energy", "E"),
        Quantity("lagrangian", "L"),
        Quantity("generalized_energy", "h"),
        Quantity("hamiltonian", "H", speeds="momentum"),
        Quantity("canonical", inputs=("tau",), entries=_canonical, speeds="momentum"),
        Quantity("routhian", "R", inputs=("momentum",)),
        Quantity("effective_potential", "V_eff", speeds="momentum"),
        Quantity("momentum", "p", entries=lambda s: [momentum(n) for n in s.v_names]),
        Quantity("linear_momentum"),
        Quantity("angular_momentum"),
        Quantity("mass_centre"),
        Quantity("qdot"),
        Quantity("zdot", entries=lambda s: _rates(s.state_names)),
        Quantity("positions", "r"),
        Quantity("rotations", "R"),
        Quantity("velocities"),
        Quantity("accelerations", inputs=("vdot",)),
        Quantity("jacobian", "J"),
        Quantity("outputs", entries=lambda s: [o.name for o in s.outputs], keeps=True),
        Quantity("state_rate", inputs=("tau",), entries=lambda s: _rates((*s.q_names, *s.v_names))),
        Quantity("appell_function", "S", inputs=("vdot",), formalism="appell"),
        Quantity("gauss_constraint", "Z", inputs=("vdot",), formalism="gauss"),
        Quantity("inverse", inputs=("vdot",), entries=lambda s: [f"tau[{n}]" for n in s.v_names]),
        Quantity("regressor", "Y", inputs=("vdot",)),
        Quantity("inertial_parameters", "pi"),
        Quantity("mass_matrix", "M"),
        Quantity("bias", "h"),
        Quantity("mass_and_bias"),
        Quantity("forward", inputs=("tau",), entries=lambda s: _rates(s.v_names)),
        Quantity("multipliers", inputs=("tau",)),
        Quantity("reaction_forces", inputs=("tau",)),
        Quantity("reactions", inputs=("tau",), entries=_reactions),
        Quantity("constraint_reactions"),
        Quantity("loop_reactions", inputs=("tau",), entries=_loop_reactions),
        Quantity("constraints"),
        Quantity("constraint_jacobian", "A"),
        Quantity("projected_q", entries=lambda s: list(s.q_names), keeps=True),
        Quantity("projected_v", entries=lambda s: list(s.v_names), keeps=True),
        Quantity("power", "P", inputs=("tau",)),
        Quantity("forward_by_q", "D_q", inputs=("tau",)),
        Quantity("forward_by_v", "D_v", inputs=("tau",)),
        Quantity("forward_by_tau", "D_tau", inputs=("tau",)),
        Quantity("forward_by_t", "D_t", inputs=("tau",)),
        Quantity("forward_by_p", "D_p", inputs=("tau",)),
        Quantity("forward_derivatives", inputs=("tau",)),
        Quantity("inverse_by_q", "K", inputs=("vdot",)),
        Quantity("inverse_by_v", "C", inputs=("vdot",)),
        Quantity("inverse_derivatives", inputs=("vdot",)),
        Quantity("inverse_by_qq", "K_q", inputs=("vdot",)),
        Quantity("inverse_by_qv", "K_v", inputs=("vdot",)),
        Quantity("inverse_by_vv", "C_v", inputs=("vdot",)),
        Quantity("mass_matrix_by_q", "M_q"),
        Quantity("inverse_second_derivatives", inputs=("vdot",)),
        Quantity("forward_by_qq", "D_qq", inputs=("tau",)),
        Quantity("forward_by_qv", "D_qv", inputs=("tau",)),
        Quantity("forward_by_vv", "D_vv", inputs=("tau",)),
        Quantity("forward_by_qtau", "D_qtau", inputs=("tau",)),
        Quantity("forward_second_derivatives", inputs=("tau",)),
    )
}

#: The quantities of one body or point as their argument: ``position(Tip)``, ``jacobian(Tip in Hand)``.
PLACED: dict[str, Quantity] = {
    q.name: q
    for q in (
        Quantity("position", "r"),
        Quantity("rotation", "R"),
        Quantity("pose", "X"),
        Quantity("velocity", "u"),
        Quantity("acceleration", "a", inputs=("vdot",)),
        Quantity("jacobian", "J"),
        Quantity("reaction", "F", inputs=("tau",)),
    )
}

#: The quantities of an order s as their argument, ``kineta(3)``. Their inputs are the derivatives of the speeds
#: below v^(s).
ORDERED: dict[str, Quantity] = {
    q.name: q
    for q in (Quantity("kineta", "K"), Quantity("inertia_forces", entries=lambda s: [f"Q[{n}]" for n in s.v_names]))
}
#: The quantities of the equations under programs of motion, of the order s of these equations, which may be omitted. Their
#: inputs are the derivatives of the speeds below v^(s-1), and added forces where s = 2.
CONTROLLED: dict[str, Quantity] = {
    q.name: q
    for q in (
        Quantity("highest", keeps=True),
        Quantity("program_multipliers", keeps=True),
        Quantity("control", keeps=True),
    )
}
#: The largest order.
HIGHEST = 12
#: Input blocks of the derivatives of the speeds: ``vdot``, ``vddot``, ``vdddot``, ...
DERIVATIVES = tuple(f"v{'d' * k}ot" for k in range(1, HIGHEST))

_ORDERED = re.compile(r"\s*(\w+)\s*\(\s*(\d{1,2})\s*\)\s*")


def ordered(name: str) -> tuple[str, int] | None:
    """Kind and order of ``kind(order)``; None for a quantity without an order.

    Raise :class:`ArgumentError` for a missing order, or one beyond 1 to ``HIGHEST``.
    """
    kind = name.partition("(")[0].strip()
    if kind not in ORDERED and kind not in CONTROLLED:
        return None
    match = _ORDERED.fullmatch(name)
    if match is None or not 1 <= int(match[2]) <= HIGHEST:
        raise ArgumentError(
            f"Expected {kind} with its order in brackets, from 1 to {HIGHEST}, as in {kind}(3), found {shown(name)}."
        )
    return kind, int(match[2])


_PLACED = re.compile(rf"\s*(\w+)\s*\(\s*({NAME.pattern})\s*(?:(?<=\s)in\s+({NAME.pattern})\s*)?\)\s*")


@dataclass(frozen=True, slots=True)
class Placed:
    """A quantity of ``PLACED`` for a body or point, relative to the frame of a body."""

    kind: str
    of: str
    frame: str

    def __str__(self) -> str:
        return f"{self.kind}({self.of})" if self.frame == GROUND else f"{self.kind}({self.of} in {self.frame})"


def placed(system: System, name: str) -> Placed | None:
    """The quantity ``kind(name)`` or ``kind(name in frame)``; None for any other quantity.

    Raise :class:`ArgumentError` for an unknown kind, body or point.
    """
    match, head = _PLACED.fullmatch(name), name.partition("(")[0].strip()
    if match is None and head in PLACED and name not in QUANTITIES:
        raise ArgumentError(f"Expected a body or point in brackets, {head}(A) or {head}(A in B), found {shown(name)}.")
    if match is None:
        return None
    kind, of, frame = match[1], match[2], match[3] or GROUND
    one_of(kind, PLACED, "a quantity of a body or point")
    points = [p.name for p in system.points]
    for known, found, what in (((*system.frames, *points), of, "body or point"), (system.frames, frame, "body")):
        if found not in known:
            raise ArgumentError(f"Model '{system.name}' has no {what} '{found}'.{did_you_mean(found, known)}")
    return Placed(kind, of, frame)


def quantity(name: str) -> Quantity:
    """The row of the quantity *name*, with or without arguments."""
    if name in QUANTITIES:
        return QUANTITIES[name]
    if (found := ordered(name)) is None:
        return PLACED[name.partition("(")[0]]
    kind, order = found
    if kind in CONTROLLED:
        return replace(CONTROLLED[kind], name=name, inputs=(*DERIVATIVES[: order - 2], *["tau"] * (order == 2)))
    return replace(ORDERED[kind], name=name, inputs=DERIVATIVES[: order - 1])


#: The quantities whose operations are counted and compared.
COUNTED = ("kinetic_energy", "inverse", "mass_matrix", "mass_and_bias", "forward")
#: Names of quantities, as they complete words of the command line.
NAMES = (*QUANTITIES, *CONTROLLED, *(f"{kind}({order})" for kind in ORDERED for order in (1, 2, 3, 4)))
#: Counted quantities with an entry for every pair of speeds.
SQUARE = ("mass_matrix", "mass_and_bias")

#: Equations that are neither formalisms nor quantities, but told: forms in independent speeds.
_TOLD = ("maggi", "voronets", "chaplygin", "boltzmann_hamel")
#: What shows equations that other tools and books have as formalisms.
_SHOWN_BY = {
    "hamilton": "Hamilton's equations are shown by --quantity canonical, in Python by text('canonical'), and told step by step "
    "with --explain, by account('canonical').",
    "routh": "Routh's function is shown by --quantity routhian, in Python by text('routhian'), and the effective potential by "
    "--quantity effective_potential.",
}
#: Other names of these equations.
_ALIASES = {
    "hamiltonian": "hamilton",
    "canonical": "hamilton",
    "routhian": "routh",
    "boltzmann": "boltzmann_hamel",
    "hamel": "boltzmann_hamel",
}

#: The parts whose lack leaves a quantity without entries, where these are not constraints.
_LACKING = {"outputs": "no outputs", "zdot": "no states", "forward_by_p": "no parameters"}


def shown_by(name: str) -> str:
    """The sentence on what shows the equations *name*, which are no formalism of their own; ``""`` for others."""
    own = re.sub(r"\W+", "_", name).lower()
    return _SHOWN_BY.get(_ALIASES.get(own, own), "") or told(_ALIASES.get(own, own))


def told(name: str) -> str:
    """The sentence on what tells the form *name* of the equations in independent speeds; ``""`` for others."""
    if name not in _TOLD:
        return ""
    return (
        f"'{name}' is a form of the equations in independent speeds, told step by step by --explain --quantity {name}, in Python "
        f"by account('{name}')."
    )


def nothing(system: System, quantity: str) -> str:
    """The sentence on the reason why *quantity* has no entries for *system*."""
    if not system.nv and quantity != "outputs":
        why = "nothing in the model can move: it has no coordinates"
    else:
        why = f"the model has {_LACKING.get(quantity, 'no constraints')}"
    return f"Model '{system.name}': {quantity} is empty, {why}."

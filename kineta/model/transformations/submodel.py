"""Models within models: a description with a prefix before its names, on a body of another, with values for its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from typing import Any

from kineta.algebra.expression import Expr, symbol
from kineta.errors import Location, ModelError, nearest_or_listed
from kineta.model.appearance.mark import Mark
from kineta.model.appearance.viewpoint import Viewpoint
from kineta.model.body import GROUND, Body, Inertia
from kineta.model.coercion import named_pairs, records, scalar
from kineta.model.contacts.contact import Contact
from kineta.model.description import Description, kinded
from kineta.model.elements.axes import OWN
from kineta.model.elements.compliant_contact import CompliantContact
from kineta.model.joints.motion import Motion
from kineta.model.motion_program import Control
from kineta.model.named_expressions import Let, Output, substitute_names
from kineta.model.parameters import Initial, Parameter
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, NAME, POINT_COMPONENTS, TIME, added_force, forced, owner
from kineta.model.vectors import KINDS, Part, VectorSymbol, cross, norm, part
from kineta.records import dataclass
from kineta.values import word

#: Fields of a system that are joined, one after another.
JOINED = (
    *("bodies", "parameters", "elements", "points", "initial", "outputs", "lets", "constraints", "quasi", "states"),
    *("contacts", "switches", "programs", "appearance"),
)
#: Fields of records that hold words of the language; other texts are names of the model.
_WORDS = ("shape", "joint", "law", "solid", "file", "colour", "unit")


@dataclass(frozen=True, slots=True)
class Submodel:
    """A *system* within another: each of its names has the *prefix* before it and a dot, ``left.Foot``.

    Its ground is the frame ``left.ground``, which stands on the body *on* and is reached by the motions *at*; without both it is
    the ground. Parameters of *values* are named expressions of the other system, or numbers. Its gravity, its direction of sight
    and outputs of energies are left out.
    """

    system: Description
    prefix: str
    on: str = GROUND
    at: tuple[Motion, ...] = ()
    values: tuple[tuple[str, Expr], ...] = ()
    location: Location | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.prefix):
            text = f"expected a name of letters, digits and '_' for the prefix of a model, found '{self.prefix}'."
            raise ModelError(text, self.location)
        known = {p.name: p for p in self.system.parameters}
        for name, value in self.values:
            if name not in known:
                text = f"model '{self.system.name}' has no parameter '{name}'.{nearest_or_listed(name, known)}"
                raise ModelError(text, self.location)
            if value.value is None and (known[name].fixed or name in self.system.switched):
                what = "a constant" if known[name].fixed else "a parameter that a switch sets"
                text = f"'{name}' of model '{self.system.name}' is {what}; expected a number for it, found '{value}'."
                raise ModelError(text, self.location)

    @property
    def placed(self) -> bool:
        """Whether its ground is a frame of its own."""
        return self.on != GROUND or bool(self.at)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of its coordinates."""
        return tuple(f"{self.prefix}.{c}" for c in self.system.coordinates)

    def parts(self, resting: Iterable[str] = ()) -> dict[str, Any]:
        """Its records, by the arguments of a system that take them; *resting* are the parameters of the other system.

        Raises :class:`ModelError` for accelerations in a model whose ground moves.
        """
        renaming = _Renaming(self, self.on == GROUND and {*resting}.issuperset(n for m in self.at for n in _names(m)))
        found = {name: renaming.record(getattr(self.system, name)) for name in JOINED}
        found["initial"] = Initial(found["initial"], [renaming.dot + name for name in self.system.initial.measured])
        given = {f"{self.prefix}.{name}": value for name, value in self.values}
        found["parameters"], found["lets"] = renaming.given(found["parameters"], found["lets"], given)
        if self.placed:
            frame = Body(f"{self.prefix}.{GROUND}", self.on, self.at, Inertia(), self.location)
            found["bodies"] = (frame, *found["bodies"])
        return found

    def control(self) -> Control | None:
        """Its law of control; None for one without programs."""
        if not self.system.programs:
            return None
        control: Control = _Renaming(self, True).record(self.system.control, "control")
        return control


def submodel(
    system: Description,
    prefix: str,
    *,
    on: str | Body = GROUND,
    at: Sequence[Motion] = (),
    p: Mapping[str, Any] | None = None,
) -> Submodel:
    """The :class:`Submodel` of *system*; the arguments are those of :meth:`kineta.model.system.System.placed`."""
    place = records(at, Motion, "motions of a place", "kn.Rz(0.5)")
    given = named_pairs({} if p is None else p, "values of parameters", "{'m': 2}")
    base = on.name if isinstance(on, Body) else word(on, "a body or its name")
    return Submodel(
        system, word(prefix, "the prefix of a model"), base, place, tuple((name, scalar(x)) for name, x in given)
    )


class _Renaming:
    """The names of a model with its prefix, and its expressions as the other model knows them."""

    def __init__(self, own: Submodel, still: bool) -> None:
        system = own.system
        self.own, self.still = own, still
        self.dot = f"{own.prefix}."
        self.ground = f"{own.prefix}.{GROUND}" if own.placed else GROUND
        named = (
            *system.bodies,
            *system.points,
            *kinded(system),
            *system.quasi,
            *system.states,
            *system.parameters,
            *system.lets,
        )
        self.known = {r.name for r in named} | {*system.joints, *system.q_names, *system.speeds}
        self.places = {*system.frames, *(p.name for p in system.points)}
        self._symbols: dict[str, Expr] = {}

    def record(self, value: Any, name: str = "") -> Any:
        """A record, a tuple of records, an expression or a text in the field *name*, with other names in it."""
        if isinstance(value, Expr):
            return substitute_names({n: self.symbol(n) for n in value.symbols()}, value)
        if isinstance(value, str):
            return self.text(value, name)
        if isinstance(value, tuple):
            kept = (x for x in value if not isinstance(x, Viewpoint) and not _is_energy(x))
            return tuple(self.record(x, name) for x in kept)
        if isinstance(value, Output) and value.value.name == value.name:
            return self.shown(value)
        if is_dataclass(value) and not isinstance(value, type | Location):
            words: tuple[str, ...] = ("name",) if isinstance(value, Mark) else ()
            words += (
                ("surface",) if isinstance(value, Contact | CompliantContact) else ()
            )  # a shape, a body of what rolls
            own = (f.name for f in fields(value) if f.init and f.name not in words)
            changed = {n: self.record(getattr(value, n), n) for n in own}
            return replace(value, **changed)
        return value

    def shown(self, output: Output) -> Output:
        """An *output* that is a name: it shows what the name means in the other model."""
        name = output.name
        if name.startswith(MULTIPLIER) or forced(name):
            return replace(output, name=str(self.symbol(name)), value=self.symbol(name))
        return replace(output, name=self.dot + name, value=symbol(name if name == TIME else self.dot + name))

    def text(self, value: str, name: str) -> str:
        """A name of the model with the prefix, or a word of the language."""
        if value == GROUND:
            return self.ground
        if name in _WORDS or not value or (name == "axes" and value == OWN):
            return value
        known = name == "name" or owner(value.rstrip("'"), self.known)[0] in self.known
        return self.dot + value if known else value

    def given(
        self, parameters: Sequence[Parameter], lets: Sequence[Let], values: Mapping[str, Expr]
    ) -> tuple[tuple[Parameter, ...], tuple[Let, ...]]:
        """Parameters and named expressions, with *values* of the other model in place of their own."""
        kept = [p for p in parameters if p.name not in values or values[p.name].value is not None]
        for i, p in enumerate(kept):
            if p.name in values:
                kept[i] = replace(p, value=values[p.name].value, default=None)
        named = [Let(n, x, self.own.location) for n, x in values.items() if x.value is None]
        return tuple(kept), (*lets, *named)

    def symbol(self, name: str) -> Expr:
        """What a symbol of the model is in the other."""
        if name not in self._symbols:
            self._symbols[name] = self._symbol(name)
        return self._symbols[name]

    def _symbol(self, name: str) -> Expr:
        if name == TIME or name in ENERGIES:
            return symbol(name)
        if speed := forced(name):
            return symbol(added_force(self.dot + speed))
        if name.startswith(MULTIPLIER):
            return symbol(MULTIPLIER + self.dot + name.removeprefix(MULTIPLIER))
        if (vector := part(name)) is not None:
            return self._vector(vector)
        place, _, component = name.rpartition(".")
        if self.own.placed and place in self.places and component in POINT_COMPONENTS:
            k = POINT_COMPONENTS.index(component)
            return self._vector(Part(VectorSymbol("r" if k < 3 else "v", place), k % 3, 0))
        return symbol(self.dot + name)

    def _vector(self, own: Part) -> Expr:
        """A part of a vector against the ground of the model."""
        of, axes = (self.text(n, "body") for n in (own.vector.of, own.vector.frame))
        vector = replace(own.vector, of=of, frame=axes)
        if own.vector.kind == "r" or self.still or not self.own.placed:
            return symbol(replace(own, vector=vector).name)
        if own.order > 1:
            raise ModelError(
                f"'{own.name}' of model '{self.own.system.name}' is an acceleration against its ground, which moves with "
                f"'{self.own.on}'; write it where the model is used, as in {KINDS[vector.kind].words} of '{of}' there.",
                self.own.location,
            )
        moved = self._against_ground(vector if own.component is not None else replace(vector, frame=self.ground))
        return norm(moved) if own.component is None else moved[own.component]

    def _against_ground(self, vector: VectorSymbol) -> Sequence[Expr]:
        """The components of a velocity or of an angular velocity against the ground of the model."""
        frame, base = vector.frame, self.ground
        if vector.kind == "v" and frame == base:
            return [symbol(Part(VectorSymbol("r", vector.of, base), k, 1).name) for k in range(3)]
        turn = VectorSymbol("w", base, frame)
        if vector.kind == "w":
            return [a - b for a, b in zip(vector, turn, strict=True)]
        arm = [a - b for a, b in zip(VectorSymbol("r", vector.of, frame), VectorSymbol("r", base, frame), strict=True)]
        lead = zip(VectorSymbol("v", base, frame), cross(turn, arm), strict=True)
        return [a - (b + c) for a, (b, c) in zip(vector, lead, strict=True)]


def _names(motion: Motion) -> Iterator[str]:
    return (n for x in motion.arguments for n in x.symbols())


def _is_energy(value: Any) -> bool:
    """Whether *value* is an output of energies, which would be those of the whole."""
    return isinstance(value, Output) and not {*ENERGIES}.isdisjoint(value.value.symbols())

"""``Derivation``: the named expressions of a system, each derived when first asked for.

A formalism adds its own rules for the quantities in which formalisms differ: inverse dynamics, mass matrix, bias, forward
dynamics. Kinematics, energies and what the elements do are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from kineta.errors import ModelError, did_you_mean, one_of
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.node import Expr
from kineta.formalism import energy, inertia
from kineta.formalism.axes import aligned
from kineta.formalism.constraint import Row, rows
from kineta.formalism.elements import Elements
from kineta.formalism.kinematics import Kinematics
from kineta.formalism.mechanism import Mechanism, kinematic_tree, regrouped, with_mass
from kineta.formalism.ordered import BY_ORDER
from kineta.formalism.origins import slid
from kineta.formalism.placed import RULES
from kineta.formalism.program import Programs, named_levels, programs
from kineta.formalism.quantity import ordered, placed
from kineta.formalism.quasi import Forms, forms, reduced, released
from kineta.formalism.sweeps import Motion, accelerated
from kineta.formalism.symbols import Symbols, symbols
from kineta.formalism.touch import Touch, touches
from kineta.model.body import GROUND, Station
from kineta.model.extreme import blamed
from kineta.model.infer import ENERGIES, MULTIPLIER, derivatives, results, vectors
from kineta.model.infer import touches as touching
from kineta.model.system import System
from kineta.passes.cancel import cancel
from kineta.passes.substitute import substitute
from kineta.threads import once


@dataclass(frozen=True, slots=True)
class Array:
    """References in row-major order, with their shape; a quantity of several arrays names its ``parts`` and their shapes.

    ``labels`` are names of the entries, where what is derived decides about them.
    """

    shape: tuple[int, ...]
    refs: tuple[Ref, ...]
    parts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert len(self.refs) == prod(self.shape), (self.shape, len(self.refs))

    def of(self, refs: Sequence[Ref]) -> Array:
        """Other references in the same shape."""
        return replace(self, refs=tuple(refs))


#: How a quantity is derived.
Rule = Callable[["Derivation"], Array]


@dataclass(frozen=True, eq=False)
class Derivation:
    """A system in the variables of one graph, and the rules by which its quantities are derived.

    left_out : names of constraints that say what others say, and of which nothing is asked
    watched : whether the caller looks at what becomes of the pivots of constraints; else accelerations are NaN where one of
        them is but a rounding error
    pull : with which accelerations go back to constraints that are not met (Baumgarte) [1/s]
    strategy : how accelerations and multipliers are solved for, of ``strategies.STRATEGIES``
    pressed : names of the touches whose forces are part of the equations
    """

    symbols: Symbols
    rules: Mapping[str, Rule]
    left_out: frozenset[str] = frozenset()
    watched: bool = False
    pull: float = 0.0
    strategy: str = "multipliers"
    pressed: frozenset[str] = frozenset()

    @property
    def graph(self) -> Graph:
        """The graph of all expressions."""
        return self.symbols.graph

    @once
    def described(self) -> Mechanism:
        """The mechanism with every mass where the description has it."""
        return slid(with_mass(aligned(kinematic_tree(self.symbols))))

    @once
    def mechanism(self) -> Mechanism:
        """The mechanism with base parameters: same motion, fewer numbers."""
        return regrouped(self.described)

    @once
    def kinematics(self) -> Kinematics:
        """Frames and velocities of the links."""
        return Kinematics(self.mechanism)

    @once
    def accelerated(self) -> Motion:
        """The motion of the links where the speeds have the accelerations ``vdot``."""
        return Motion(self.mechanism, accelerated(self.graph, self.symbols.vdot), lower=self.kinematics.motion)

    @once
    def elements(self) -> Elements:
        """What the elements do."""
        return Elements(self.mechanism, self.kinematics)

    @once
    def rows(self) -> tuple[Row, ...]:
        """The constraints that the speeds leave to be kept by reactions: none where there are quasi-velocities."""
        if self.symbols.system.quasi:
            return ()
        return tuple(r.pulled(self.graph, self.pull) for r in self.closures if r.constraint not in self.left_out)

    @once
    def closures(self) -> tuple[Row, ...]:
        """All constraints, in the speeds of the motions."""
        d = self.released if self.symbols.system.quasi else self
        return rows(d.symbols, d.elements, self.symbols.system.constraints)

    @once
    def programs(self) -> Programs:
        """The programs of motion, and the constraints beside them."""
        return programs(self)

    @once
    def touches(self) -> tuple[Touch, ...]:
        """What may touch or stick."""
        return touches(self.elements)

    @once
    def pressing(self) -> tuple[Touch, ...]:
        """Those whose forces are part of the equations."""
        return tuple(t for t in self.touches if t.name in self.pressed)

    @once
    def released(self) -> Derivation:
        """The derivation of a system with quasi-velocities in the speeds of its motions, without its constraints."""
        return replace(self, symbols=released(self.forms, self.symbols))

    @once
    def forms(self) -> Forms:
        """The forms that define the quasi-velocities."""
        return forms(self.symbols)

    @once
    def _derived(self) -> dict[str, Array]:
        return {}

    def expression(self, *expressions: Expr) -> list[Ref]:
        """*expressions* as outputs and runs may name them: of what elements may be made of, of energies, and of accelerations
        and multipliers under ``tau``.
        """
        asked = {n for e in expressions for n in e.symbols()}
        more = self._energies(asked) | named_levels(self.symbols, asked)
        if found := results(self.symbols.system, asked):
            more |= {n: self._result(n) for n in found}
        return self._solved(asked, self.elements.expression(*expressions, more=more))

    def _solved(self, asked: Collection[str], refs: list[Ref]) -> list[Ref]:
        """*refs*, made of the names *asked*, with the highest derivatives as they follow from a state in place of their symbols.
        Raises :class:`ModelError` for higher ones.
        """
        system, highest = self.symbols.system, "highest" if "highest" in self.rules else "forward"
        s = self.programs.s if highest == "highest" else 2
        known = derivatives(system, asked) | {n: x.order for n, x in vectors(system, asked).items()}
        if not system.programs:
            beyond = "programs of motion bring higher ones"
        elif highest == "highest":
            beyond = "its programs ask for no higher ones"
        else:
            beyond = "runs under its programs know higher ones"
        for name in (n for n, order in known.items() if order > s):
            raise ModelError(
                f"Model '{system.name}': expected derivatives up to the order {s}, which the motion has, found {name} of order "
                f"{known[name]}; {beyond}."
            )
        if self.symbols.order(refs) < s:
            return refs
        names = [str(self.graph.name(x)) for x in self.symbols.level(s)]
        return substitute(self.graph, refs, dict(zip(names, self[highest].refs, strict=True)))

    def expression_of_levels(self, *expressions: Expr) -> list[Ref]:
        """*expressions* that may hold energies, and derivatives of any order, which are variables: ``q1'''``."""
        asked = {n for e in expressions for n in e.symbols()}
        return self.elements.expression(*expressions, more=self._energies(asked) | named_levels(self.symbols, asked))

    def _energies(self, asked: Collection[str]) -> dict[str, Ref]:
        return {n: self[n].refs[0] for n in ENERGIES if n in asked}

    def _result(self, name: str) -> Ref:
        """An acceleration ``q1''`` or a multiplier ``lambda.E.x``. Raises :class:`ModelError` for a row that is none."""
        if not name.startswith(MULTIPLIER):
            return self["forward"].refs[self.symbols.names.index(name[:-1])]
        found = dict(zip(self["multipliers"].labels, self["multipliers"].refs, strict=True))
        if name not in found:
            if name.removeprefix(MULTIPLIER) in touching(self.symbols.system):
                return ZERO  # where no run switches it on, or nothing can move along it
            raise ModelError(
                f"Model '{self.symbols.system.name}': there is no '{name}'; its multipliers are {', '.join(found)}."
                f"{did_you_mean(name, found)}"
            )
        return found[name]

    def __getitem__(self, quantity: str) -> Array:
        """The expressions of *quantity*. Raises :class:`ArgumentError` for an unknown one."""
        name = self.known(quantity)
        found = self._derived.get(name)
        if found is None:
            with blamed(self.symbols.system):
                found = self._derived[name] = self._cancelled(self._array(name))
        return found

    def known(self, quantity: str) -> str:
        """The name of *quantity* as it is written. Raises :class:`ArgumentError` for an unknown one."""
        if isinstance(quantity, str) and (found := ordered(quantity)) is not None:
            return f"{found[0]}({found[1]})"
        asked = placed(self.symbols.system, quantity) if isinstance(quantity, str) else None
        return one_of(quantity, self.rules, "a quantity") if asked is None else str(asked)

    def _array(self, name: str) -> Array:
        if (found := ordered(name)) is not None:
            kind, order = found
            shape, refs = BY_ORDER[kind](self, order)
            return Array(shape, tuple(refs))
        asked = placed(self.symbols.system, name)
        if asked is None:
            return self.rules[name](self)
        shape, refs = RULES[asked.kind](self, self.elements.stations[asked.of], asked.frame)
        return Array(shape, tuple(refs))

    def _cancelled(self, array: Array) -> Array:
        """*array* without what cancels: forces on absolute coordinates are differences. On relative ones nothing does."""
        if self.mechanism.one_to_one:
            return array
        return array.of(cancel(self.graph, array.refs))


def scalar(ref: Ref) -> Array:
    """One expression."""
    return Array((), (ref,))


def vector(refs: Sequence[Ref]) -> Array:
    """A row of expressions."""
    return Array((len(refs),), tuple(refs))


def matrix(rows: Sequence[Sequence[Ref]], columns: int) -> Array:
    """Rows of expressions."""
    return Array((len(rows), columns), tuple(r for row in rows for r in row))


# -- rules common to all formalisms ---------------------------------------------------------------------------------


def _kinetic(d: Derivation) -> Array:
    T = energy.kinetic_energy(d.mechanism, d.kinematics)
    return scalar(d.graph.add(T, inertia.kinetic_energy(d.symbols)))


def _momentum(d: Derivation) -> Array:
    of_links = energy.generalized_momentum(d.mechanism, d.kinematics)
    return vector([d.graph.add(p, own) for p, own in zip(of_links, inertia.momentum(d.symbols), strict=True)])


def _potential(d: Derivation) -> Ref:
    return d.graph.add(energy.gravity_potential(d.mechanism), d.elements.potential)


def _positions(d: Derivation) -> Array:
    return matrix([d.kinematics.position(Station(b.name)).refs for b in d.symbols.system.bodies], 3)


def _rotations(d: Derivation) -> Array:
    bodies = d.symbols.system.bodies
    return Array((len(bodies), 3, 3), tuple(r for b in bodies for r in d.kinematics.axes(b.name).refs))


def _velocities(d: Derivation) -> Array:
    rows = []
    for body in d.symbols.system.bodies:
        w = d.kinematics.angular_velocity(d.mechanism.places[body.name])
        rows.append(d.kinematics.velocity(Station(body.name)).refs + w.refs)
    return matrix(rows, 6)


def _accelerations(d: Derivation) -> Array:
    stations = [Station(b.name) for b in d.symbols.system.bodies]
    return matrix([list(RULES["acceleration"](d, at, GROUND)[1]) for at in stations], 6)


def _jacobian(d: Derivation) -> Array:
    bodies, nv = d.symbols.system.bodies, len(d.symbols.v)
    rows = [row for b in bodies for row in d.kinematics.jacobian(Station(b.name))]
    return Array((len(bodies), 6, nv), tuple(r for row in rows for r in row))


def _momenta(d: Derivation) -> tuple[Array, Array]:
    total = energy.total_momentum(d.described, Kinematics(d.described))
    return vector(total.f.refs), vector(total.n.refs)


def _mass_centre(d: Derivation) -> Array:
    m, c = energy.mass_centre(d.described, Kinematics(d.described))
    return vector((c * d.graph.div(d.graph.const(1.0), m)).refs if m != ZERO else c.refs)


def _state_rate(d: Derivation) -> Array:
    return vector((*d.symbols.qdot, *d["forward"].refs))


def _energy(d: Derivation) -> Array:
    return scalar(d.graph.add(d["kinetic_energy"].refs[0], d["potential_energy"].refs[0]))


def _generalized_energy(d: Derivation) -> Array:
    """Jacobi's integral v . dT/dv - T + V: the energy where no drives move, and kept where the time is in no energy."""
    g = d.graph
    work = g.sum(g.mul(p, v) for p, v in zip(d["momentum"].refs, d.symbols.v, strict=True))
    return scalar(g.add(g.sub(work, d["kinetic_energy"].refs[0]), d["potential_energy"].refs[0]))


def _outputs(d: Derivation) -> Array:
    found = d.expression(*(o.value for o in d.symbols.system.outputs))
    return vector(substitute(d.graph, found, dict.fromkeys((f"tau.{n}" for n in d.symbols.names), ZERO)))


COMMON: Mapping[str, Rule] = {
    "kinetic_energy": _kinetic,
    "potential_energy": lambda d: scalar(_potential(d)),
    "energy": _energy,
    "generalized_energy": _generalized_energy,
    "momentum": _momentum,
    "linear_momentum": lambda d: _momenta(d)[0],
    "angular_momentum": lambda d: _momenta(d)[1],
    "mass_centre": _mass_centre,
    "qdot": lambda d: vector(d.symbols.qdot),
    "positions": _positions,
    "rotations": _rotations,
    "velocities": _velocities,
    "accelerations": _accelerations,
    "jacobian": _jacobian,
    "outputs": _outputs,
    "state_rate": _state_rate,
}


def derivation(system: System, rules: Mapping[str, Rule]) -> Derivation:
    """The derivation of *system* by *rules*, in a graph of its own."""
    own = reduced(system, Graph()) if system.quasi else symbols(system, Graph())
    return Derivation(own, {**COMMON, **rules})

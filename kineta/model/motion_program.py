"""Programs of motion: servo-constraints of any differential order, and the law of their control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr, Scalar, expr
from kineta.errors import Location, did_you_mean
from kineta.model.bounds import Bound
from kineta.model.coercion import ModelRecord, records
from kineta.model.constraints import placement
from kineta.model.constraints.equality import Equality, difference, vanishing
from kineta.model.kind import Kind, Production, Scope
from kineta.model.reserved_symbols import forced
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token

#: The law for every system; zero control for uncontrolled motions that satisfy the programs.
COVARIANT = "covariant"
#: The law of named actuators.
LEAST = "least"
#: Laws of control (Rodionov; theory R.7), by name.
LAWS = (COVARIANT, "kineta", "inertial", LEAST)


@dataclass(frozen=True, slots=True)
class Program(Equality):
    """A program of motion: ``value`` = 0 at all times, by forces of control that the equations find (Rodionov (5)).

    An expression of the time, parameters, coordinates and their derivatives of any order, ``q1''``, ``q1'''``, and of vectors of
    bodies and points, ``|a(Tip)|``.
    """


@dataclass(frozen=True, slots=True)
class Control(ModelRecord):
    """Law of control: the choice among the control forces that satisfy the programs of a system.

    ``law`` is one of ``LAWS``. ``actuators`` are the speeds on which controls act, with weights: all, each with the weight 1, if
    there are none. ``transversal`` are parts of the control transversal to the programs, by speed.
    """

    law: str = COVARIANT
    actuators: tuple[tuple[str, Expr], ...] = ()
    transversal: tuple[tuple[str, Expr], ...] = ()
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the control."""
        return tuple(value for _, value in (*self.actuators, *self.transversal))


def program(name: str, value: Scalar) -> Program:
    """The :class:`Program` *value* = 0, kept by controls: ``kn.program("hold", abs(kn.vector("a", "Tip")) - 2)``."""
    return Program(name, vanishing("Program", name, value, "a == 3"))


def control(
    law: str | None = None,
    *,
    actuators: Mapping[str, Scalar] | Iterable[str] = (),
    transversal: Mapping[str, Scalar] | None = None,
) -> Control:
    """The :class:`Control` by a *law*.

    law : the derivative of the control, along the gradients of the programs: the covariant derivative (``covariant``, default),
        which vanishes on uncontrolled motions that satisfy the programs; the derivative of all reactions (``kineta``), by
        Rodionov's forms and the generalised principle of Gauss; the rate of the torque in inertial axes (``inertial``), for a
        single free body; or the least derivative of the actuator forces (``least``, for named actuators)
    actuators : names of the speeds on which controls act, or a mapping of these to weights
    transversal : parts of the control transversal to the programs, by speed
    """
    weights: Mapping[str, Scalar]
    if isinstance(actuators, Mapping):
        weights = actuators
    else:
        weights = dict.fromkeys(records(actuators, str, "names of speeds", '"q1\'"'), 1.0)
    given = {(forced(n) or n) if isinstance(n, str) else n: w for n, w in weights.items()}
    chosen = (LEAST if given else COVARIANT) if law is None else law
    return Control(chosen, given, {} if transversal is None else transversal)  # type: ignore[arg-type]  # a record takes what it is given


# -- in the text language ---------------------------------------------------------------------------------------------


def _read(source: Source, name: Token, left: Node, right: Node) -> Program:
    return Program(str(name), difference(source, f"program '{name}'", left, right), source.location(name))


def _fault(system: Scope, program: Program) -> tuple[str, str] | None:
    (plain,) = system.expand(program.value)
    if set(plain.symbols()) <= {"t", *(p.name for p in system.parameters)}:
        text = f"expected coordinates, their derivatives or vectors in it, found '{program.value}', which no motion changes."
        return text, ""
    return None


KIND = Program.kind = Kind(
    Program, "program", {"program": Production('":" sum "=" sum', _read)}, lambda p: f": {p.value} = 0", fault=_fault
)

#: The first word of the statement on the control.
CONTROL = "control"


def read_control(source: Source, node: Node) -> Control:
    """The control of a statement: its law, or none; then actuators and transversal parts."""
    law, *parts = node.children
    found: dict[str, list[tuple[str, Expr]]] = {"actuator": [], "definition": []}
    for part in parts:
        name, value = part.children
        given = expr(1) if value is None else source.expression(value)
        found[str(part.data)].append((_speed(source, name), given))
    named = (LEAST if found["actuator"] else COVARIANT) if law is None else source.noted(law)
    return Control(named, tuple(found["actuator"]), tuple(found["definition"]), source.location(node))


def _speed(source: Source, name: Token) -> str:
    """Name of a speed; a coordinate stands for its rate, an added force for the speed on which it acts."""
    own = name.update(value=forced(name) or str(name))
    return source.noted(own.update(value=f"{own}'") if str(own) in source.coordinates else own)


def write_control(control: Control) -> str:
    """*control* as the statement that reads back as it."""
    text = f"{CONTROL} {control.law}"
    if control.actuators:
        text += f" on {', '.join(n if w.value == 1 else f'{n} weight {w}' for n, w in control.actuators)}"
    if control.transversal:
        text += f" transversal {', '.join(f'{n} = {x}' for n, x in control.transversal)}"
    return f"{text};"


def control_faults(system: Scope, control: Control, *, held: bool) -> Iterator[tuple[str, str]]:
    """Errors in the *control* of a system, sentences each with the word at fault; *held*: whether it has programs."""
    if control.law not in LAWS:
        text = f"expected a law ({', '.join(LAWS)}), found '{control.law}'.{did_you_mean(control.law, LAWS)}"
        yield text, control.law
    if (control != Control() or control.location) and not held:
        text = "there is no program that controls could hold; give one, as in program hold : |a(Tip)| = 2 m/s^2, or no control."
        yield text, ""
    for what, pairs in (("actuators", control.actuators), ("transversal parts", control.transversal)):
        names = [n for n, _ in pairs]
        for i, name in enumerate(names):
            if name not in system.v_names:
                known = ", ".join(system.v_names)
                text = f"expected {what} by speeds ({known}), found '{name}'.{did_you_mean(name, system.v_names)}"
                yield text, name
            elif name in names[:i]:
                yield f"'{name}' is twice among the {what}.", name
    for name, weight in control.actuators:
        bound = Bound(weight, f"the weight of '{name}'", positive=True)
        if text := placement.bound_fault(system, bound):
            yield text, name
    if control.actuators and control.law in LAWS and control.law != LEAST:
        text = f"the law {control.law} acts on all speeds; of single actuators the law {LEAST} makes use, found '{control.law}'."
        yield text, control.law

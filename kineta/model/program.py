"""Programs of motion: differential constraints of any order that controls hold, and by which law they hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kineta.errors import Location, did_you_mean
from kineta.expr.node import Expr, Scalar, expr
from kineta.model.constraints import hold
from kineta.model.constraints.equality import Equality, difference, vanishing
from kineta.model.elements.kind import Form, Kind
from kineta.model.given import Record, records

if TYPE_CHECKING:
    from lark import Token

    from kineta.model.io.expression import Node
    from kineta.model.io.source import Source
    from kineta.model.system import System

#: The law that holds for every system and leaves alone what meets a program by itself.
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
class Control(Record):
    """How the forces of control are chosen among those that hold the programs of a system.

    ``law`` is one of ``LAWS``. ``actuators`` are the speeds on which controls act, with weights: all, each with the weight 1, if
    there are none. ``transversal`` are parts of the control that programs do not ask for, by speed.
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
    """The :class:`Program` that *value* is zero, held by controls: ``kn.program("hold", abs(kn.vector("a", "Tip")) - 2)``."""
    return Program(name, vanishing("Program", name, value, "a == 3"))


def control(
    law: str | None = None,
    *,
    actuators: Mapping[str, Scalar] | Iterable[str] = (),
    transversal: Mapping[str, Scalar] | None = None,
) -> Control:
    """The :class:`Control` by a *law*.

    law : what is along the gradients of the programs: the covariant derivative of the control (``covariant``, default), so that a
        motion which meets them by itself is left alone; that of all reactions (``kineta``), as in Rodionov's forms and by the
        generalised principle of Gauss; the rate of the torque in inertial axes (``inertial``), for one free body; or the
        derivative of the forces of the actuators is the least that does (``least``, where actuators are named)
    actuators : names of the speeds on which controls act, or a mapping of these to weights
    transversal : parts of the control that programs do not ask for, by speed
    """
    given = actuators
    if not isinstance(actuators, Mapping):
        given = dict.fromkeys(records(actuators, str, "names of speeds", '"q1\'"'), 1.0)
    chosen = (LEAST if given else COVARIANT) if law is None else law
    return Control(chosen, given, {} if transversal is None else transversal)  # type: ignore[arg-type]  # a record takes what it is given


# -- in the text language ---------------------------------------------------------------------------------------------


def _read(source: Source, name: Token, left: Node, right: Node) -> Program:
    return Program(str(name), difference(source, f"program '{name}'", left, right), source.location(name))


def _fault(system: System, program: Program) -> tuple[str, str] | None:
    (plain,) = system.expand(program.value)
    if set(plain.symbols()) <= {"t", *(p.name for p in system.parameters)}:
        text = f"expected coordinates, their derivatives or vectors in it, found '{program.value}', which no motion changes."
        return text, ""
    return None


KIND = Kind(
    Program,
    "program",
    {"program": Form('":" sum "=" sum', _read)},
    lambda p: f": {p.value} = 0",
    fault=_fault,
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
    """The speed that *name* says; a coordinate stands for its own."""
    return source.noted(name.update(value=f"{name}'") if str(name) in source.coordinates else name)


def write_control(control: Control) -> str:
    """*control* as the statement that reads back as it."""
    text = f"{CONTROL} {control.law}"
    if control.actuators:
        text += f" on {', '.join(n if w.value == 1 else f'{n} weight {w}' for n, w in control.actuators)}"
    if control.transversal:
        text += f" transversal {', '.join(f'{n} = {x}' for n, x in control.transversal)}"
    return f"{text};"


def control_faults(system: System) -> Iterator[tuple[str, str]]:
    """What is wrong with the control of *system*: sentences, each with the word at fault."""
    control = system.control
    if control.law not in LAWS:
        text = f"expected a law ({', '.join(LAWS)}), found '{control.law}'.{did_you_mean(control.law, LAWS)}"
        yield text, control.law
    if (control != Control() or control.location) and not system.programs:
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
        if text := hold.positive(system, weight, f"the weight of '{name}'"):
            yield text, name
    if control.actuators and control.law in LAWS and control.law != LEAST:
        text = f"the law {control.law} acts on all speeds; of single actuators the law {LEAST} makes use, found '{control.law}'."
        yield text, control.law

"""Programs of motion: differential constraints of any order that controls hold, and by which law they hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kineta.errors import ArgumentError, Location, shown
from kineta.expr.node import Expr, Scalar
from kineta.model.given import Record, entries, scalar

#: The law that holds for every system and leaves alone what meets a program by itself.
COVARIANT = "covariant"
#: Laws of control (Rodionov; theory R.7), by name.
LAWS = (COVARIANT, "kineta", "inertial", "gauss", "least")


@dataclass(frozen=True, slots=True)
class Program(Record):
    """A program of motion: ``value`` = 0 at all times, by forces of control that the equations find (Rodionov (5)).

    An expression of the time, parameters, coordinates and their derivatives of any order, ``q1''``, ``q1'''``, and of vectors of
    bodies and points, ``|a(Tip)|``.
    """

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the program."""
        return (self.value,)


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
    if isinstance(value, bool):
        raise ArgumentError(
            f"Program {shown(name)}: expected an expression that stays zero, found the truth value {value}; of two "
            "expressions that stay equal write the difference, a - 3 and not a == 3."
        )
    return Program(name, scalar(value))


def control(
    law: str = COVARIANT,
    *,
    actuators: Mapping[str, Scalar] | Iterable[str] = (),
    transversal: Mapping[str, Scalar] | None = None,
) -> Control:
    """The :class:`Control` by a *law*.

    law : what is along the gradients of the programs: the covariant derivative of the control (``covariant``, default), so that a
        motion which meets them by itself is left alone; that of all reactions (``kineta``), as in Rodionov's forms; the rate of
        the torque in inertial axes (``inertial``), for one free body; the control itself (``gauss``); or the derivative of the
        forces of the actuators is the least that does (``least``)
    actuators : names of the speeds on which controls act, or a mapping of these to weights
    transversal : parts of the control that programs do not ask for, by speed
    """
    given = actuators if isinstance(actuators, Mapping) else dict.fromkeys(entries(actuators) or (), 1.0)
    return Control(law, given, {} if transversal is None else transversal)  # type: ignore[arg-type]  # a record takes what it is given

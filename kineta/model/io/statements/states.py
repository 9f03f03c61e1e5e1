"""First-order states."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token

from kineta.errors import ModelError
from kineta.model import units
from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.model_text import ModelText
from kineta.model.motion_variables import State
from kineta.model.units import Dimension


def declare_state_dimensions(text: ModelText, statements: Sequence[Node]) -> None:
    """Dimensions of states with units, which count as those of parameters do."""
    for name, unit, _, _ in (s.children for s in statements if s.data == "state"):
        if unit is not None:
            text.declare_state(str(name), _dimension(text, unit))


def infer_state_dimensions(text: ModelText, statements: Sequence[Node]) -> None:
    """Dimensions of the other states: those of their rates times a second."""
    own = [s for s in statements if s.data == "state"]
    while True:
        known = dict(text.forms)
        text.source.moving = {**text.source.moving, **known}
        for name, unit, _, tree in (s.children for s in own):
            if str(name) not in text.forms and unit is None:
                rate = text.source.quantity(tree)
                if rate.dimension is not None and not rate.plain:
                    text.forms[str(name)] = units.times(rate.dimension, units.TIME)
        if known == text.forms:
            return


def _dimension(text: ModelText, unit: Token) -> Dimension:
    """Dimension of the unit of a state."""
    try:
        return units.unit(str(unit)).dimension
    except ModelError as error:
        raise ModelError(str(error), text.at(unit)) from None


def read_state(text: ModelText, node: Node) -> None:
    """A first-order state and its rate."""
    name, given, rate, tree = node.children
    if str(rate) != f"{name}'":
        message = f"state '{name}': expected the rate {name}' = ..., found {rate}."
        primes = len(rate) - len(rate.rstrip("'"))
        if rate.rstrip("'") == name and primes > 1:
            message = (
                f"state '{name}': a state is of first order, found {rate}; give its rate {name}', and that of a further "
                f"state for the next order, as in state {name}_rate : {name}_rate' = ...;"
            )
        raise ModelError(message, text.at(rate))
    dimension = text.forms.get(str(name))
    expected = None if dimension is None else units.times(dimension, units.TIME, -1)
    value = text.source.expression(tree, expected, f"the rate of state '{name}'")
    shown = "" if dimension is None else units.symbol(dimension)
    text.states.append(State(str(name), value, shown if given is None else str(given), text.at(name)))

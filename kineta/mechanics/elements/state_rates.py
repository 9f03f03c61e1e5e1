"""Rates of first-order states, in the variables of a system."""

from __future__ import annotations

from dataclasses import replace

from kineta.mechanics.elements.applied_forces import Elements
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.mechanics.kinematics.tree import kinematic_tree
from kineta.mechanics.variables import Symbols


def with_state_rates(symbols: Symbols) -> Symbols:
    """*symbols* with the rates of the first-order states of their system, which may name positions and velocities of points."""
    rates = [own.rate for own in symbols.system.states]
    if not rates:
        return symbols
    if symbols.by_name.keys() >= {n for rate in rates for n in rate.symbols()}:
        return replace(symbols, state_rates=tuple(symbols.expression(*rates)))
    mechanism = kinematic_tree(symbols)
    return replace(symbols, state_rates=tuple(Elements(mechanism, TreeKinematics(mechanism)).expression(*rates)))

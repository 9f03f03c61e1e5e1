"""The list behind ``=`` of a body."""

from __future__ import annotations

from typing import Any

from kineta.algebra.expression import expr
from kineta.errors import ModelError, did_you_mean
from kineta.expr.op import FUNCTIONS
from kineta.model import units
from kineta.model.body import Inertia
from kineta.model.coercion import vector
from kineta.model.io.kin_expressions import Reader
from kineta.model.io.kin_functions import KEYS
from kineta.model.io.kin_quantities import Node

_MOMENTS = {"Jx": 0, "Jy": 1, "Jz": 2}
_PRODUCTS = {"Jxy": 0, "Jxz": 1, "Jyz": 2}


class InertiaList:
    """The list behind ``=`` of a body: by position (m, Jx, Jy, Jz), by keys, or a mass alone."""

    def __init__(self, reader: Reader, body: str, node: Node) -> None:
        self.reader = reader
        self.body = body
        self.node = node
        self.mass = expr(0)
        self.moments = [expr(0)] * 3
        self.products = [expr(0)] * 3
        self.com = vector((0, 0, 0))

    def read(self) -> Inertia:
        """Inertia from the list."""
        settings = [c for c in self.node.children if c.data == "setting"]
        items = [c for c in self.node.children if c.data != "setting"]
        for setting in settings:
            self._setting(setting)
        if len(settings) > 1:
            raise self._error("the centre of mass is given twice", settings[1])
        self.unchecked = any(_is_word(c, "unchecked") for c in items)
        items = [c for c in items if not _is_word(c, "unchecked")]
        keyed = [c for c in items if c.data == "call" and _key(c) in KEYS]
        if keyed and len(keyed) < len(items):
            other = next(c for c in items if c.data != "call" or _key(c) not in KEYS)
            if other.data == "call" and (word := str(other.children[0])) not in FUNCTIONS:
                near = did_you_mean(word, KEYS)
                known = f"the keys are {', '.join(KEYS)}{'.' * bool(near)}{near}"
                raise self._error(f"'{word}' is no key of an inertia; {known}", other)
            raise self._error("entries with and without keys are mixed; write keys on all, as in m(m1), Jz(J1)", other)
        if keyed:
            return self._keyed(keyed)
        return self._positional(items)

    def _error(self, message: str, node: Any) -> ModelError:
        return ModelError(f"Body '{self.body}': {message}.", self.reader.location(node))

    def _setting(self, node: Node) -> None:
        name, value = node.children
        if name != "com" or value.data != "vector":
            raise self._error(f"expected com = (x, y, z), found '{name} = ...'", node)
        self.com = self.reader.vector(value, units.LENGTH, "the centre of mass")

    def _keyed(self, items: list[Any]) -> Inertia:
        seen: set[str] = set()
        for item in items:
            key = _key(item)
            if key in seen:
                raise self._error(f"the entry {key} is given twice", item)
            seen.add(key)
            if len(item.children) != 2:
                raise self._error(f"{key} takes one value, found {len(item.children) - 1}", item)
            what = f"{key} of body '{self.body}'"
            dimension = units.MASS if key == "m" else units.MOMENT_OF_INERTIA
            value = self.reader.expression(item.children[1], dimension, what)
            if key == "m":
                self.mass = value
            elif key in _MOMENTS:
                self.moments[_MOMENTS[key]] = value
            else:
                self.products[_PRODUCTS[key]] = value
        lumped = 0 < len(seen & _MOMENTS.keys()) < 3 or bool(seen & _PRODUCTS.keys() and not seen >= _MOMENTS.keys())
        return self._inertia(lumped=lumped)

    def _positional(self, items: list[Any]) -> Inertia:
        if len(items) not in (1, 4):
            raise self._error(
                f"expected 1 entry (mass) or 4 (m, Jx, Jy, Jz), found {len(items)}; "
                "give other lists with keys, as in m(m1), Jz(J1), com(x, y, z)",
                items[0] if items else self.node,
            )
        self.mass = self.reader.expression(items[0], units.MASS, f"the mass of body '{self.body}'")
        for i, item in enumerate(items[1:]):
            what = f"J{'xyz'[i]} of body '{self.body}'"
            self.moments[i] = self.reader.expression(item, units.MOMENT_OF_INERTIA, what)
        return self._inertia(lumped=False)

    def _inertia(self, *, lumped: bool) -> Inertia:
        a, b, c = self.moments
        d, e, f = self.products
        return Inertia(
            mass=self.mass, com=self.com, moments=(a, b, c), products=(d, e, f), lumped=lumped, unchecked=self.unchecked
        )


def _is_word(node: Node, word: str) -> bool:
    return bool(node.data == "name" and node.children[0] == word)


def _key(node: Node) -> str:
    return str(node.children[0]).replace("_", "")

"""The parser: rules that pass on their only part take no work, and trees are those of Lark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lark import Lark, Tree

from kineta.model.io import kin_grammar
from kineta.model.io.kin_grammar import Grammar
from kineta.model.io.kin_reader import GRAMMAR
from tests.support import EXAMPLES


def parser(monkeypatch: pytest.MonkeyPatch, passes_on: Callable[[Any, Any], bool]) -> Lark:
    monkeypatch.setattr(kin_grammar, "_passes_on", passes_on)
    return Grammar(GRAMMAR.kinds).parser


def told(tree: Tree[Any]) -> list[object]:
    """Every subtree with its words and its positions."""
    return [
        (s.data, vars(s.meta), [str(c) for c in s.children if not isinstance(c, Tree)])
        for s in tree.iter_subtrees_topdown()
    ]


def test_trees_and_positions_are_those_of_lark(monkeypatch: pytest.MonkeyPatch) -> None:
    short, whole = parser(monkeypatch, kin_grammar._passes_on), parser(monkeypatch, lambda rule, action: False)
    for name in ("hopping_robot", "trotting_quadruped", "wind_turbine", "car_axis"):
        text = (EXAMPLES / f"{name}.kin").read_text(encoding="utf-8")
        assert told(short.parse(text, start="start")) == told(whole.parse(text, start="start"))

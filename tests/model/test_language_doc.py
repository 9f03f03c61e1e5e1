"""The page about the language: its models read, its errors are the real ones, its tables are complete."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from kineta.expr.op import FUNCTIONS
from kineta.model import appearance, constraints, contacts, elements
from kineta.model.checks.check import STATEMENTS
from kineta.model.units import UNITS
from tests.support import EXAMPLES, ROOT

PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```([\w-]+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MODELS = [text for kind, text in BLOCKS if kind == "kin"]
ERRORS = [(text, said[1].strip()) for (kind, text), said in pairwise(BLOCKS) if kind == "kin-error"]
WARNINGS = [(text, said.strip()) for (kind, text), (then, said) in pairwise(BLOCKS) if (kind, then) == ("kin", "text")]


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


#: Models of the page by the names of their files, which others use.
FILES = {found[1]: text for text in MODELS if (found := re.match(r"# (\w+\.kin):", text))}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a file beside those of the page."""
    folder = tmp_path_factory.mktemp("page")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return str(folder / "model.kin")


@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("text", MODELS, ids=lambda t: t.strip().splitlines()[-1][:40])
def test_models_of_the_page_are_read_and_derived(text: str, model: str) -> None:
    system = kn.loads(text, model)
    again = kn.loads(kn.dumps(system))
    assert again == system
    assert [p.dimension for p in again.parameters] == [p.dimension for p in system.parameters]
    assert len(kn.derive(system).expressions("bias").refs) == system.nv


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=lambda t: t[:40])
def test_errors_of_the_page_are_the_real_ones(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(text, "model.kin")
    assert str(raised.value) == message


@pytest.mark.parametrize(("text", "message"), WARNINGS, ids=lambda t: t[:40])
def test_warnings_of_the_page_are_the_real_ones(text: str, message: str) -> None:
    with pytest.warns(kn.KinetaWarning) as said:
        kn.loads(text, "model.kin")
    assert [str(w.message) for w in said] == [message]


def test_the_carrier_of_the_planetary_gear_turns_at_a_quarter_of_its_sun() -> None:
    (text,) = (text for text in MODELS if "planetary" in text)
    run = kn.simulate(kn.loads(text), 1.0)
    # Work and energy: the sun turns at 4, the planet at -2 times the rate of the carrier.
    c = 4 * 1.0 / (0.001 * (1 + 4**2 + 2**2 / 10) + 0.2 * 0.04**2)
    np.testing.assert_allclose([run[n][-1] for n in ("c'", "s'", "p'")], [c, 3 * c, -3 * c], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize(("index", "example"), [(0, "hopping_robot"), (1, "puma_andreev")])
def test_the_printed_models_are_those_of_the_examples(index: int, example: str) -> None:
    printed, file = kn.loads(MODELS[index]), kn.load(EXAMPLES / f"{example}.kin")
    # A word that waives a check of values is no part of the paper's notation.
    bodies = tuple(replace(b, inertia=replace(b.inertia, unchecked=False)) for b in file.bodies)
    assert (printed.bodies, printed.coordinates) == (bodies, file.coordinates)
    assert {p.name for p in printed.parameters} == {p.name for p in file.parameters}


@pytest.mark.slow
def test_only_what_the_page_says_is_in_doubt(model: str) -> None:
    doubtful = {MODELS[0], MODELS[1], *(text for text, _ in WARNINGS)}
    for text in MODELS:
        if text not in doubtful:
            kn.loads(text, model)


def test_tables_name_every_function_unit_and_statement() -> None:
    words = {
        title: set(re.findall(r"[A-Za-zµμ°%]\w*", " ".join(re.findall(r"`([^`]*)`", section(title)))))
        for title in ("Expressions", "Units", "Reserved words")
    }
    assert words["Expressions"] >= FUNCTIONS.keys()
    assert words["Reserved words"] >= set(STATEMENTS)
    prefixes = ("n", "u", "µ", "μ", "m", "c", "k", "M", "G", "")
    assert all(any(u == p + base for p in prefixes for base in words["Units"]) for u in UNITS)
    assert words["Units"] >= {
        "m",
        "g",
        "kg",
        "s",
        "A",
        "N",
        "J",
        "W",
        "Pa",
        "V",
        "C",
        "T",
        "Hz",
        "rad",
        "deg",
        "rev",
        "rpm",
    }


def test_every_statement_has_an_example() -> None:
    shown = {m for text in MODELS for m in re.findall(r"(?:^|;)\s*(\w+)", re.sub("#.*", "", text))}
    assert shown >= set(STATEMENTS) - {"include"}  # which needs a file: the page about URDF has one


def test_the_grammar_names_every_rule_of_the_parser() -> None:
    lark = (Path(kn.__file__).parent / "model" / "io" / "kin.lark").read_text(encoding="utf-8")
    rules = set(re.findall(r"^\??([a-z]+):", lark, re.MULTILINE)) | {
        *(kind.word for kind in (*elements.KINDS, *constraints.KINDS, *contacts.KINDS, *appearance.KINDS)),
        "when",
    }
    said = set(re.findall(r"^([a-z]+) *=", section("Grammar"), re.MULTILINE))
    inner = {"start", "declaration", "definition", "axis", "form", "setting", "shown", "exponent", "numbers"}
    assert rules - said == inner | {"definitions", "expression"}  # the last two: texts of options and arguments


def test_the_three_ways_in_give_the_same_system() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    (described,) = re.findall(r"^```kin\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    space: dict[str, object] = {}
    exec(program.partition("run = ")[0], space)
    assert space["system"] == kn.loads(described)
    assert kn.loads(kn.dumps(kn.loads(described))) == space["system"]

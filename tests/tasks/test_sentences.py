"""What tasks say of arguments that cannot be meant: in one line, in the user's words, with one traceback."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import KinetaError, KinetaWarning
from kineta.model.dimensions import series_dimensions
from kineta.results.csv_table import table

PENDULUM = kn.load("examples/double_pendulum.kin")
POINT = "coordinates x; P | Sx(x) = 1; "


@pytest.mark.parametrize("force", ["sqrt(-1 - x^2)", "log(x - 1)", "asin(x + 2)", "(x - 1)^0.5", "1/x"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda s: kn.statics(s),
        lambda s: kn.inverse(s, {"x": "0*t"}, t=[0.0, 1.0]),
        lambda s: kn.kinetostatics(s, {"x": "0*t"}, t=[0.0, 1.0]),
        lambda s: kn.reactions(s, {"x": "0*t"}, t=[0.0, 1.0]),
        lambda s: kn.equilibrium(s),
        lambda s: kn.equilibria(s, starts=1),
        lambda s: kn.simulate(s, 1.0),
    ],
    ids=["statics", "inverse", "kinetostatics", "reactions", "equilibrium", "equilibria", "simulate"],
)
def test_a_force_without_a_value_names_its_expression(force: str, ask: Callable[[kn.System], Any]) -> None:
    system = kn.loads(f"{POINT}force f on P = ({force}, 0, 0);")
    with pytest.raises(
        kn.SimulationError, match=r"'.*' of .f. \(<text>:1:37\) needs .*(>=|>|<=|!=) .*, and .* = .* at t = 0 s\.$"
    ):
        ask(system)


def test_a_motion_that_leaves_the_domain_says_when() -> None:
    system = kn.loads(f"{POINT}force f on P = (log(1 - x), 0, 0);")
    with pytest.raises(
        kn.SimulationError, match=r"'log\(1 - x\)' of 'f' \(<text>:1:37\) needs 1 - x > 0, and 1 - x = 0 at t = 1 s\.$"
    ):
        kn.inverse(system, {"x": "t"}, t=[0.0, 0.5, 1.0, 2.0])


def test_a_mistake_in_a_control_has_one_traceback_with_its_line() -> None:
    def control(t: float, q: Any, v: Any) -> Any:
        return q[7]

    with pytest.raises(kn.SimulationError, match="at t = 0 s the control raised IndexError") as caught:
        kn.simulate(PENDULUM, 1.0, tau=kn.sampled(control, 100))
    written = "".join(traceback.format_exception(caught.value))
    assert written.count("Traceback (most recent call last)") == 1
    assert "return q[7]" in written


@pytest.mark.parametrize("sample", [np.full((9, 9), 1.0), np.full((2, 9), np.nan), object(), "a\nb", [[1, 2], [3]]])
def test_what_a_control_gives_is_shown_in_one_line(sample: Any) -> None:
    with pytest.raises(kn.SimulationError, match="the control gives") as caught:
        kn.simulate(PENDULUM, 1.0, tau=kn.sampled(lambda t, q, v: sample, 100))
    assert "\n" not in str(caught.value)
    assert "0x" not in str(caught.value)


def test_errors_are_one_line_without_addresses() -> None:
    text = str(KinetaError(f"found {np.eye(3)!r} and {object()!r}"))
    assert "\n" not in text
    assert "0x" not in text
    assert "<object object>" in text


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("1e300*1e300*x", "1e+300*1e+300 is not a finite number."),
        ("x*10^400", "10^400 is not a finite number."),
    ],
)
def test_numbers_that_are_none_are_written_as_the_user_writes(expression: str, sentence: str) -> None:
    with pytest.raises(KinetaError, match=rf"^<text>:2:\d+: .*{re.escape(sentence)}$"):
        kn.loads(f"{POINT}\nforce f on P = ({expression}, 0, 0);")


def test_statics_without_unknown_forces_says_what_is_needed() -> None:
    with pytest.raises(
        kn.SimulationError, match=r"this motion needs forces, and none are unknown: at t = 0 s a force of"
    ):
        kn.statics(PENDULUM, unknown=[])


@pytest.mark.parametrize(
    ("rows", "samples", "why"),
    [
        (np.zeros((50, 2)), None, "are all the same"),
        (np.sin(np.linspace(0, 6, 50))[:, None] * [1.0, 0.5], None, "follow each other like samples"),
        (np.sin(np.linspace(0, 1, 200))[:, None] * [1.0, 2.0], None, "follow each other like samples"),
        (np.random.default_rng(0).normal(size=(11, 2)), 11, "are as many as the times"),
    ],
)
def test_rows_of_forces_that_look_like_samples_are_noted(rows: Any, samples: int | None, why: str) -> None:
    with pytest.warns(
        KinetaWarning, match=rf"the {len(rows)} rows of tau are {len(rows)} cases.* {why}\..*kineta.sampled"
    ):
        kn.simulate(PENDULUM, 0.01, tau=rows, samples=samples)


@pytest.mark.parametrize(
    "rows",
    [
        np.linspace(0, 5, 20)[:, None] * [1.0, 0.0],
        np.geomspace(0.1, 5, 20)[:, None] * [1.0, -2.0],
        np.random.default_rng(0).normal(size=(20, 2)),
    ],
)
def test_rows_of_forces_that_are_cases_are_not(rows: Any) -> None:
    assert len(kn.simulate(PENDULUM, 0.01, tau=rows).cases or ()) == 20


@pytest.mark.parametrize(
    "text",
    [
        "time;angle\n0;0,5\n1;1,5\n",
        "time,angle\n0,0.5\n1,1.5\n",
        "time\tangle\n0\t0,5\n1\t1.5\n",
        "time  angle\n0 0.5\n1   1.5 \n",
    ],
)
def test_separators_of_tables_are_found(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    t, columns = table(path, "time", {"q": "angle"})
    assert t.tolist() == [0.0, 1.0]
    assert columns["q"].tolist() == [0.5, 1.5]
    with pytest.raises(
        kn.ArgumentError, match=r"expected a column 't' with the times, found time, angle\. .* --time time takes"
    ):
        table(path)
    with pytest.raises(kn.ArgumentError, match=r"there is no column 'angel' for q\. Did you mean 'angle'\?"):
        table(path, "time", {"q": "angel"})
    path.write_text(text.replace("time", "t"))
    with pytest.raises(
        kn.ArgumentError, match=r"expected columns of its coordinates, q1, q2, found angle\. .* --column q1="
    ):
        kn.kinematics(PENDULUM, path)


def test_units_in_headings_are_those_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t [ms];angle [deg];q2';tau[q1'];state [raw];q1'' [rev/s^2]\n0;180;1;2;3;1\n500;90;3;4;5;0\n")
    known = series_dimensions(PENDULUM)
    t, columns = table(path, names={"q1": "angle"}, known=known)
    assert t.tolist() == [0.0, 0.5]
    assert columns.pop("q1''").tolist() == [2 * np.pi, 0.0]
    assert {n: x.tolist() for n, x in columns.items()} == {
        "q1": [np.pi, np.pi / 2],
        "q2'": [1, 3],
        "tau[q1']": [2, 4],
        "state [raw]": [3, 5],
    }
    for text, said in (
        ("t,q1 [m]", r"in the heading 'q1 \[m\]': expected the unit of an angle or a number without dimension\."),
        ("t,q1 [foo]", r"in the heading 'q1 \[foo\]': Expected a unit, found 'foo'"),
        ("t,q1 [deg],q1", r"expected one column of q1, found 'q1 \[deg\]' and 'q1'\."),
        ("t [m],q1", r"in the heading 't \[m\]': expected the unit of a time"),
    ):
        path.write_text(f"{text}\n0,0,0\n1,0,0\n" if text.count(",") == 2 else f"{text}\n0,0\n1,0\n")
        with pytest.raises(kn.ArgumentError, match=said):
            table(path, known=known)


def test_the_text_of_a_motion_is_a_path() -> None:
    with pytest.raises(
        kn.ArgumentError, match=r"The text 'x=t' is the path of a table, .* by name: \{'\w+': 'sin\(t\)'\}"
    ):
        kn.inverse(PENDULUM, "x=t", t=[0.0, 1.0])


def test_a_question_ends_with_one_mark() -> None:
    control = kn.sampled(lambda t, q, v: {PENDULUM.v_names[0][:-1]: 1.0}, 10)
    with pytest.raises(kn.SimulationError, match=r"Did you mean '\w+''\?$"):
        kn.simulate(PENDULUM, 0.1, tau=control)


def test_times_that_do_not_rise_are_named() -> None:
    with pytest.raises(kn.ArgumentError, match=r"Expected times t in rising order, found 0 after 0 \(number 2 of 3\)"):
        kn.fit(PENDULUM, {PENDULUM.q_names[0]: [0, 1, 2]}, t=[0, 0.0, 1], by=[PENDULUM.q_names[0]])

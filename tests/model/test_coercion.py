"""What is given from Python and is of another kind than meant: a sentence with the advice, never an error of Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.mechanics.formalisms.table import FORMALISMS

q1 = kn.symbol("q1")
B = kn.body("B", [kn.Rz(q1)], kn.inertia(1))
SPRING = kn.spring("s", 1, q1)


def system(**more: Any) -> kn.System:
    return kn.System("S", [B], **more)


LISTS: list[tuple[Callable[[], object], str]] = [
    (lambda: kn.System("S", B), "Expected a list of bodies, found a Body; put it in brackets: [...]."),
    (
        lambda: kn.System("S", None),
        "Expected a list of bodies, as in [kn.body(name, motions, inertia)], found None.",
    ),
    (
        lambda: kn.System("S", [3]),
        "Expected a list of bodies, as in [kn.body(name, motions, inertia)], found 3 in it.",
    ),
    (
        lambda: kn.body("B", kn.Ball("b")),
        "Expected a list of motions of body 'B', found Ball(name='b'); put it in brackets: [...].",
    ),
    (lambda: kn.body("B", [q1]), "Expected a list of motions of body 'B', as in [kn.Rz(q1)], found q1 in it."),
    (lambda: kn.Body("B", "ground", "Rz"), "Expected a list of motions of body 'B', as in [kn.Rz(q1)], found 'Rz'."),
    (lambda: system(elements=SPRING), "Expected a list of elements, found a Spring; put it in brackets: [...]."),
    (
        lambda: system(elements=[B]),
        "Expected a list of elements, as in [kn.spring(name, k, q1)], found a Body in it.",
    ),
    (
        lambda: system(points=["P"]),
        "Expected a list of points, as in [kn.point(name, body, (0, 0, 1))], found 'P' in it.",
    ),
    (
        lambda: system(outputs=["q1"]),
        "Expected a list of outputs, as in [kn.Output(name, value)], found 'q1' in it.",
    ),
    (
        lambda: system(parameters=["m"]),
        "Expected a list of parameters, as in [kn.Parameter(name, value)], found 'm' in it.",
    ),
    (
        lambda: system(coordinates="q1"),
        "Expected a list of names of coordinates, found 'q1'; put it in brackets: [...].",
    ),
    (lambda: system(initial=["q1"]), "Expected initial values by name, as in {'q1': 0.5}, found 'q1'."),
    (lambda: system(initial=3), "Expected initial values by name, as in {'q1': 0.5}, found 3."),
    (lambda: system(initial=[("q1",)]), "Expected initial values by name, as in {'q1': 0.5}, found ('q1',)."),
    (lambda: system().replace(nam="T"), "A System has no 'nam' to replace. Did you mean 'name'?"),
]

NUMBERS: list[tuple[Callable[[], object], str]] = [
    (lambda: kn.body("B", [], 2), "Body 'B': expected an Inertia, found 2; write kn.inertia(2)."),
    (lambda: kn.body("B", [], q1), "Body 'B': expected an Inertia, found q1; write kn.inertia(q1)."),
    (
        lambda: kn.body("B", [], (1, 2)),
        "Body 'B': expected an Inertia, found (1, 2); write kn.inertia(m, (Jx, Jy, Jz)).",
    ),
    *(
        (call, "Expected a mass and three moments, as in kn.inertia(m, (Jx, Jy, Jz)), found single numbers.")
        for call in (lambda: kn.inertia(1, 1, 1, 1), lambda: kn.inertia(1, 1), lambda: kn.inertia(1, q1, q1))
    ),
    (lambda: kn.inertia(1, (1, 1)), "Expected three components, found 2: (1, 1)."),
    (
        lambda: kn.inertia(1, [(1, 0, 0), (0, 1, 0)]),
        "Expected a tensor of inertia as three rows of three, found 2 rows.",
    ),
    (
        lambda: kn.inertia(1, np.eye(3)[:, :2]),
        "Expected three components, found 2: (np.float64(1.0), np.float64(0.0)).",
    ),
    (
        lambda: kn.inertia(1, [(1, 0.1, 0), (0.2, 1, 0), (0, 0, 1)]),
        "Expected a symmetric tensor of inertia, found Jxy = 0.1 and Jyx = 0.2.",
    ),
    (
        lambda: kn.inertia(1, [(1, 0, 0), (0, 1, 0), (q1, 0, 1)]),
        "Expected a symmetric tensor of inertia, found Jxz = 0 and Jzx = q1.",
    ),
    (
        lambda: kn.inertia(1, np.eye(3), (0.1, 0, 0)),
        "Expected a tensor of inertia without products beside it: it holds them.",
    ),
    (lambda: kn.inertia("m"), "Expected a number or an expression, found 'm'; write kn.symbol('m')."),
    (lambda: kn.Rz("q1"), "Expected a number or an expression, found 'q1'; write kn.symbol('q1')."),
    (lambda: kn.S((1, 0, 0), "2*q1"), "Expected a number or an expression, found '2*q1'."),
    (lambda: kn.R("x", q1), "Expected an axis of three numbers, as in (0, 0, 1), found 'x'."),
    (lambda: kn.R(3, q1), "Expected an axis of three numbers, as in (0, 0, 1), found 3."),
    (lambda: kn.spring("s", 1, "q1"), "Expected a number or an expression, found 'q1'; write kn.symbol('q1')."),
    (lambda: kn.damper("s", "d", q1), "Expected a number or an expression, found 'd'; write kn.symbol('d')."),
    (lambda: kn.force("f", B, 5), "Expected three components, as in (0, 0, 1), found 5."),
    (lambda: system(gravity=9.81), "Expected three components, as in (0, 0, 1), found 9.81."),
    (
        lambda: system(outputs={"a": "q1"}),
        "Expected a number or an expression, found 'q1'; write kn.symbol('q1').",
    ),
]

NAMES: list[tuple[Callable[[], object], str]] = [
    (lambda: kn.System(3, [B]), "Expected the name of a model, found 3."),
    (lambda: kn.System("S", [kn.body(3, [])]), "Expected the name of a Body, found 3."),
    (lambda: kn.Ball(q1), "Expected the name of a Ball, found q1."),
    (lambda: kn.Free(None), "Expected the name of a Free, found None."),
    (lambda: kn.Parameter(3, 1), "Expected the name of a Parameter, found 3."),
    (lambda: kn.body("B", [], base=3), "Expected a body or its name, found 3."),
    (lambda: kn.point("P", None), "Expected a body or its name, found None."),
    (lambda: kn.force("f", None, (1, 1, 1)), "Expected a point, a body or the name of one, found None."),
    (lambda: kn.couple("c", q1, (1, 1, 1)), "Expected a point, a body or the name of one, found q1."),
    (
        lambda: system(elements=[kn.force("f", B, (1, 1, 1), axes="world")]),
        "Force 'f': expected axes 'ground', 'body' or the name of a body, found 'world'.",
    ),
    (
        lambda: system(elements=[kn.couple("c", B, (1, 1, 1), axes="Body")]),
        "Couple 'c': expected axes 'ground', 'body' or the name of a body, found 'Body'. Did you mean 'body'?",
    ),
    (
        lambda: kn.force("f", B, (1, 1, 1), axes=None),
        "Expected axes ('ground', 'body' or the name of a body), found None.",
    ),
    (
        lambda: kn.derive(system(), "newton"),
        f"Expected a formalism ({', '.join(FORMALISMS)}), found 'newton'. Did you mean 'newton_euler'?",
    ),
    (lambda: kn.derive(system(), None), f"Expected a formalism ({', '.join(FORMALISMS)}), found None."),
    (
        lambda: kn.derive(system()).function("inverse", "lvm"),
        "Expected a backend (llvm, numpy, cuda), found 'lvm'. Did you mean 'llvm'?",
    ),
    (lambda: kn.load(None), "Expected the path of a model file, found None."),
    (lambda: kn.loads(None), "Expected a text in the language .kin, found None; kineta.load reads a file."),
    (
        lambda: kn.loads(Path("a.kin")),
        f"Expected a text in the language .kin, found {Path('a.kin')!r}; kineta.load reads a file.",
    ),
    (lambda: kn.dumps("S"), "Expected a System, found 'S'; kineta.load reads a file."),
]


@pytest.mark.parametrize(
    ("call", "message"), [*LISTS, *NUMBERS, *NAMES], ids=lambda x: x[-40:] if isinstance(x, str) else ""
)
def test_what_is_of_another_kind_is_refused_with_a_sentence(call: Callable[[], object], message: str) -> None:
    with pytest.raises((kn.ArgumentError, kn.ModelError)) as raised:
        call()
    assert str(raised.value) == message


def test_records_take_plain_numbers() -> None:
    assert kn.Inertia(mass=2, moments=(1, 1, 1)) == kn.inertia(2, (1, 1, 1))
    assert kn.Output("a", 3).value.value == 3
    assert kn.spring("s", 1, 0).coordinate.value == 0


def test_an_inertia_may_be_given_as_a_tensor() -> None:
    J = np.array([[2.0, 0.1, -0.2], [0.1, 3.0, 0.3], [-0.2, 0.3, 4.0]])
    expected = kn.inertia(1.5, (2, 3, 4), (0.1, -0.2, 0.3), com=(0, 0, 1))
    assert kn.inertia(1.5, J, com=(0, 0, 1)) == kn.inertia(1.5, J.tolist(), com=(0, 0, 1)) == expected
    assert kn.Inertia(mass=1.5, moments=J, com=(0, 0, 1)) == expected
    assert kn.inertia(1, [(q1, 0, 0), (0, 1, 0), (0, 0, 1)]).moments[0] == q1


def test_a_tensor_may_be_symmetric_up_to_rounding() -> None:
    J = np.diag([1.0, 1.0, 1.0])
    J[0, 1], J[1, 0] = 0.1, 0.1 + 1e-12
    assert kn.inertia(1, J).products[0].value == pytest.approx(0.1, abs=1e-12)

"""Repetition and indices: what a text with them stands for, and the sentences on what makes no sense in them."""

from __future__ import annotations

import pytest

import kineta as kn
from kineta.model.io.kin_loops import MOST
from tests.support import reads_back

CHAIN = """
gravity 9.81;
constants N = 3, m = 0.2;
frame Link[0] | ;
for i in 1..N : Link[i] ~ Link[i-1] | Ry(q[i]), Sz(-0.3) = m*i;
for i in 1..N : {
    damper d[i] = 0.1 on q[i]';
    for j in 1..i : spring s[i][j] = 10*i + j on q[ i - j + 1 ];
    initial q[i] = 0.1*i;
}
output end = |r(Link[N])|, Link[2*N - N].x;
"""
WRITTEN = """
gravity 9.81;
constants N = 3, m = 0.2;
frame Link[0] | ;
Link[1] ~ Link[0] | Ry(q[1]), Sz(-0.3) = m*1; Link[2] ~ Link[1] | Ry(q[2]), Sz(-0.3) = m*2;
Link[3] ~ Link[2] | Ry(q[3]), Sz(-0.3) = m*3;
damper d[1] = 0.1 on q[1]'; spring s[1][1] = 11 on q[1]; initial q[1] = 0.1*1;
damper d[2] = 0.1 on q[2]'; spring s[2][1] = 21 on q[2]; spring s[2][2] = 22 on q[1]; initial q[2] = 0.1*2;
damper d[3] = 0.1 on q[3]'; spring s[3][1] = 31 on q[3]; spring s[3][2] = 32 on q[2]; spring s[3][3] = 33 on q[1];
initial q[3] = 0.1*3;
output end = |r(Link[3])|, Link[3].x;
"""


def test_a_repetition_is_the_statements_that_it_stands_for() -> None:
    system = kn.loads(CHAIN)
    assert system == kn.loads(WRITTEN)
    reads_back(system)
    assert system.coordinates == ("q[1]", "q[2]", "q[3]")
    assert "s[3][2]" in [e.name for e in system.elements]


def test_another_value_of_a_constant_reads_the_text_anew() -> None:
    system = kn.loads(CHAIN, constants={"N": 5})
    assert system.coordinates == tuple(f"q[{i}]" for i in range(1, 6))
    assert system.parameters["N"] == 5
    with pytest.raises(kn.ArgumentError, match=r"has no constant 'n'\. Did you mean 'N'\?"):
        kn.loads(CHAIN, constants={"n": 5})


@pytest.mark.slow
def test_names_with_indices_have_equations_runs_and_code(tmp_path: object) -> None:
    system = kn.loads(CHAIN)
    equations = kn.derive(system)
    assert "q[2]''" in equations.text()
    assert r"\ddot{q}_{2}" in equations.latex()
    run = kn.simulate(system, 0.1)
    assert {"q[1]", "q[3]'", "end", "Link[3].x"} <= {*run.series}


def test_elements_with_other_indices_are_those_of_a_hand_written_chain() -> None:
    plain = WRITTEN
    for k in range(4):
        plain = plain.replace(f"Link[{k}]", f"L{k}").replace(f"q[{k}]", f"q{k}").replace(f"d[{k}]", f"d{k}")
    for i in range(1, 4):
        for j in range(1, 4):
            plain = plain.replace(f"s[{i}][{j}]", f"s{i}{j}")
    q, v = [0.1, -0.2, 0.3], [0.4, 0.1, -0.5]
    found, expected = (kn.derive(kn.loads(t)).function("forward")(0.0, q, v, tau=[0, 0, 0]) for t in (CHAIN, plain))
    assert found.tolist() == expected.tolist()


BAD = [
    (
        "for i in 1..3 : Link[i] ~ Link[i-1] | Ry(q[i]) = 1;",
        "Body 'Link[1]' (m.kin:1:17): base 'Link[0]' does not exist. There are Link[1] to Link[3].",
    ),
    (
        "for i in 1..3 : A[i] | Ry(q[i]) = 1; force f = 1 on q[7];",
        "Force 'f' (m.kin:1:53): unknown symbol 'q[7]'. There are q[1] to q[3].",
    ),
    (
        "for i in 1..3 :\n  A[i] | Ry(q[i]), Sz(3 kg) = 1;",
        "m.kin:2:23: the shift of Sz must be a length [m], found a mass [kg].",
    ),
    (
        "for i in 1..3 : A[j] | Ry(q[i]) = 1;",
        "m.kin:1:19: expected an index of 'A[j]' of whole numbers, indices and constants with a number, found 'j'.",
    ),
    (
        "parameters N = 3; for i in 1..N : A[i] | Ry(q[i]) = 1;",
        "m.kin:1:31: expected a bound of a repetition of whole numbers, indices and constants with a number, found 'N'.",
    ),
    (
        "for i in 1..2.5 : A[i] | Ry(q[i]) = 1;",
        "m.kin:1:13: expected a whole number for a bound of a repetition, found 2.5.",
    ),
    (
        "for i in 1..1000000 : A[i] | Ry(q[i]) = 1;",
        f"m.kin:1:1: the repetition stands for 1000000 statements; expected {MOST} at most.",
    ),
    (
        "for i in 5..3 : A[i] | Ry(q[i]) = 1;",
        "m.kin:1:10: expected bounds of a repetition that rise, as in 1..6, found 5..3.",
    ),
    (
        "for i in 1..0 : A[i] | Ry(q[i]) = 1;",
        "m.kin:1:10: expected bounds of a repetition that rise, as in 1..6, found 1..0.",
    ),
    (
        "for i in 1..3 m : A[i] | Ry(q[i]) = 1;",
        "m.kin:1:13: expected a whole number for a bound of a repetition, found a length [m].",
    ),
    (
        "constants L = 3 m; for i in 1..L : A[i] | Ry(q[i]) = 1;",
        "m.kin:1:32: expected a whole number for a bound of a repetition, found a length [m].",
    ),
    (
        "for i in 1..3 : A [i] | Ry(q[i]) = 1;",
        "m.kin:1:19: expected '|' or '~', found '[': an index stands directly behind its name, as in A[i].",
    ),
    (
        "for i in 1..3 : A[i,i] | Ry(q[i]) = 1;",
        "m.kin:1:18: expected '|' or '~', found '[': each index has its own brackets, as in A[i][i].",
    ),
    (
        "A[1, 2] | Ry(q) = 1;",
        "m.kin:1:2: expected '|' or '~', found '[': each index has its own brackets, as in A[1][2].",
    ),
    (
        "parameters k[1,2] = 3;",
        "m.kin:1:13: expected ',', ';' or '=', found '[': each index has its own brackets, as in k[1][2].",
    ),
    (
        "for i in 1..3 : A[i - 5] | Ry(q[i]) = 1;",
        "m.kin:1:19: expected an index from 0 to 1000000 in 'A[i - 5]', found -4.",
    ),
    (
        "for i in 1..3 : for i in 1..3 : A[i] | Ry(q[i]) = 1;",
        "m.kin:1:21: 'i' is the index of another repetition around it; choose another name.",
    ),
    (
        "constants n = 3; for n in 1..3 : A[n] | Ry(q[n]) = 1;",
        "m.kin:1:22: 'n' is a constant; choose another name.",
    ),
    (
        "for i in 1..3 : gravity i;",
        "m.kin:1:17: 'gravity' stands once in a model, found it in a repetition.",
    ),
    (
        "for i in 1..3 : A[] | Ry(q[i]) = 1;",
        "m.kin:1:19: expected an index in the brackets of 'A[]', found nothing.",
    ),
    (
        "for i in 1..3 : A[i/2] | Ry(q[i]) = 1;",
        "m.kin:1:19: expected a whole number for an index of 'A[i/2]', found 0.5.",
    ),
    (
        "for i in 1..3 : A[i+] | Ry(q[i]) = 1;",
        "m.kin:1:19: the text ends within the expression; expected '(', '+' or '-', a name or a number.",
    ),
    ("for i in 1 3 : A[i] | Ry(q[i]) = 1;", "m.kin:1:12: expected '..' or an operator, found '3'."),
    (
        "for i in 1..3 : { A[i] | Ry(q[i]) = 1;",
        "m.kin:1:39: the text ends within a statement; expected ';', '}' or a statement.",
    ),
    (
        "for i in 1..3 : A[i] | Ry(q[i]) = 1; A[2] | Rz(p) = 1;",
        "Body 'A[2]' (m.kin:1:38): the name is taken by a body described before (m.kin:1:17). Choose another.",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=lambda x: x[-40:])
def test_a_wrong_repetition_is_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(text, "m.kin")
    assert str(raised.value) == message


@pytest.mark.parametrize("last", ["N", "N - 1", "N - 4"])
def test_a_repetition_up_to_a_constant_may_stand_for_nothing(last: str) -> None:
    system = kn.loads(f"constants N = 0; A | Sx(x) = 1; coordinates x; for i in 1..{last} : output o[i] = x;")
    assert not system.outputs


def test_bounds_are_numbers_without_units() -> None:
    system = kn.loads("constants L = 3 m, l = 50 cm; for i in 1..L/l : A[i] | Ry(q[i]) = 1;")
    assert len(system.bodies) == 6


def test_repetitions_within_repetitions_are_counted_together() -> None:
    with pytest.raises(kn.ModelError, match=f"stands for 1000000 statements; expected {MOST} at most"):
        kn.loads("for i in 1..1000 : for j in 1..1000 : A[i][j] | Ry(q[i][j]) = 1;")


def test_a_constant_that_counts_is_given_where_the_text_is_read() -> None:
    from kineta.model.transformations.equivalents import with_values

    with pytest.raises(kn.ModelError, match="repetitions of the text name it; give its value where the file is read"):
        with_values(kn.loads(CHAIN), {"N": 5})


def test_repetitions_stand_twenty_deep() -> None:
    for depth in (20, 21, 5000):
        text = "A | Ry(q) = 1; " + "".join(f"for i{k} in 1..1 : " for k in range(depth)) + "let a[i0] = 1;"
        if depth == 20:
            assert [let.name for let in kn.loads(text).lets] == ["a[1]"]
            continue
        with pytest.raises(
            kn.ModelError, match=r"^<text>:1:16: repetitions stand more than 20 deep within each other\.$"
        ):
            kn.loads(text)

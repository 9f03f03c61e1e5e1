"""What editors are told of texts: all errors at once, names across files, meanings, completions, renaming, places in UTF-16."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import kineta as kn
from kineta.editors.diagnostics import diagnose
from kineta.editors.documents import Documents
from kineta.editors.positions import Lines
from kineta.errors import Location
from kineta.model.io.text_file import read_text
from kineta.model.transformations.isomorphism import isomorphisms
from tests.support import EXAMPLES, ROOT, examples, quick_but, seconds

#: Examples all of whose names are changed in a quick test.
FEW = [EXAMPLES / f"{name}.kin" for name in "hopping_robot thrown_box spinning_top rocking_block snakeboard".split()]
LEG = """parameters a = 0.2 m, m = 0.4 kg;
Thigh | Ry(hip), Sz(-a) = m, 0.002, 0.002, 0.002;
coordinates hip;
point Foot on Thigh = (0, 0, -2 cm);
"""
WALKER = """parameters M = 3 kg, side = 0.25 m;
Trunk | Free(b) = M, 0.05, 0.05, 0.08;
for i in 1..2 : use "leg.kin" as leg[i] on Trunk at Rz(i*60 deg), Sx(side) with m = M/6;
let reach(u) = |r(leg[1].Foot) - u|*side/side;
force pull on leg[2].Foot = (0, 0, side*1 N/m);
spring s = 3 N*m on leg[1].hip;
output far = reach(r(Trunk)), leg[1].Foot.z, b.z;
initial leg[2].hip = 0.1;
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "leg.kin").write_text(LEG)
    (tmp_path / "walker.kin").write_text(WALKER)
    return tmp_path


def problems(text: str, file: str = "m.kin") -> list[tuple[str, str]]:
    return [(text[p.start : p.end], p.sentence) for p in diagnose(text, file, read_text).problems]


def test_all_errors_of_a_text_are_told_with_their_ranges() -> None:
    text = """parameters m = 2 kg, l = 50 cm;
        Bob | Ry(q1), Sz(-lenght) = m;
        force f on Bub = (1, 0, 0);
        dampr d = 2 on q1';
        spring s = 3 N + 1 N on q1;
        initial q1 = -3 m;
        output l, (m;
    """
    told = problems(text)
    assert [word for word, _ in told] == ["lenght", "Bub", "dampr", "3 N + 1 N", "-3 m", "("]
    assert told[0][1].startswith("Body 'Bob': unknown symbol 'lenght'.")
    assert told[1][1] == "expected a point or a body, found 'Bub'. Did you mean 'Bob'?"
    assert told[4][1].startswith("initial 'q1' must be an angle")


def test_what_follows_from_an_error_is_not_told() -> None:
    text = "parameters p = 1;\nUpper | Ry(q1 = 1;\nLower ~ Upper | Ry(q2) = 1;\nforce f on Lower = (1, 0, 0);\n"
    text += "output Upper.x; output nothing; Other | Rz(q3) = Jz(1);"
    assert [word for word, _ in problems(text)] == ["=", "nothing"]
    text = "Upper | Ry(q1) = 1   # no semicolon\nLower ~ Upper | Ry(q2) = 1;\nforce f on Lower = (1, 0, 0);\n"
    assert problems(text) == [("Lower", "expected ',', ';' or an operator, found 'Lower'.")]


def test_errors_in_repetitions_leave_the_other_statements() -> None:
    text = "for i in 1..3 : {\n A[i] | Ry(q[i]) = 1;\n B[i] ~ C[i] | Ry(p[i]) = 1; }\nforce f on A[7] = (1, 0, 0);"
    assert [word for word, _ in problems(text)] == ["B[i]", "A[7]"]


def test_warnings_and_unused_names_are_told() -> None:
    text = "B | Sx(x) = 1;"
    found = diagnose(text, "m.kin", read_text).problems
    assert [(text[p.start : p.end], p.severity) for p in found] == [("x", "warning")]
    text = "parameters m = 1, idle = 2;\nB | Sx(q1) = m;"
    (found_one,) = diagnose(text, "m.kin", read_text).problems
    assert (text[found_one.start : found_one.end], found_one.severity) == ("idle", "hint")
    assert found_one.sentence == "Parameter 'idle': nothing uses it; leave it out, or name it in an expression."


@pytest.mark.parametrize("name", examples())
def test_examples_have_no_errors(name: str) -> None:
    path = EXAMPLES / f"{name}.kin"
    found = diagnose(path.read_text(encoding="utf-8"), str(path), read_text)
    assert found.system == kn.load(path)
    assert not [p for p in found.problems if p.severity == "error"]


def test_errors_of_used_files_stand_at_their_use_and_in_the_file(files: Path) -> None:
    (files / "leg.kin").write_text(LEG.replace("Sz(-a)", "Sz(-aa)"))
    (problem,) = diagnose(WALKER, str(files / "walker.kin"), read_text).problems
    assert WALKER[problem.start : problem.end] == '"leg.kin"'
    assert problem.sentence.startswith("Body 'Thigh' (leg.kin:2:22): unknown symbol 'aa'.")
    assert problem.location is not None
    assert problem.location.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "#",
        "(",
        "}{",
        "for i in 1..3 : {",
        "\x00",
        "a | b",
        "é = 😀;",
        "model",
        "use",
        'use "x',
        "|" * 50,
        "x;" * 40,
    ],
)
def test_broken_texts_are_told_and_nothing_breaks(text: str, files: Path) -> None:
    documents, path = Documents(), files / "m.kin"
    documents.put(path, text)
    assert documents.diagnosis(path).problems
    for offset in range(len(text) + 1):
        documents.hover(path, offset)
        documents.completions(path, offset)
        documents.definition(path, offset)


@pytest.mark.parametrize("step", [37, pytest.param(3, marks=pytest.mark.slow)])
def test_a_text_that_is_typed_breaks_nothing(step: int, files: Path) -> None:
    documents, path = Documents(), files / "walker.kin"
    for end in range(0, len(WALKER), step):
        documents.put(path, WALKER[:end])
        documents.diagnosis(path)
        documents.completions(path, end)
        documents.hover(path, end)


# -- names ----------------------------------------------------------------------------------------------------------------


def spot(text: str, mark: str) -> int:
    """The place of ``^`` in *mark*, which stands in *text* without it."""
    return text.index(mark.replace("^", "")) + mark.index("^")


def described(documents: Documents, path: Path, offset: int) -> tuple[str, str]:
    found = documents.definition(path, offset)
    assert found is not None
    own, where = found
    return own.name, " ".join(documents.text(own)[where.start : where.end].split())


@pytest.mark.parametrize(
    ("mark", "file", "statement"),
    [
        ("on ^Trunk at", "walker.kin", "Trunk | Free(b) = M, 0.05, 0.05, 0.08;"),
        ("leg[1].^Foot.z", "leg.kin", "point Foot on Thigh = (0, 0, -2 cm);"),
        ("on leg[1].h^ip", "leg.kin", "coordinates hip;"),
        ("r(^leg[1].Foot)", "walker.kin", 'use "leg.kin" as leg[i] on Trunk at Rz(i*60 deg), Sx(side) with m = M/6;'),
        ("with ^m = M/6", "leg.kin", "m = 0.4 kg"),
        ("m = ^M/6", "walker.kin", "M = 3 kg"),
        ("= r^each(r", "walker.kin", "reach(u) = |r(leg[1].Foot) - u|*side/side"),
        ("Foot.z, ^b.z", "walker.kin", "Trunk | Free(b) = M, 0.05, 0.05, 0.08;"),
    ],
)
def test_names_lead_to_what_describes_them(files: Path, mark: str, file: str, statement: str) -> None:
    documents = Documents()
    assert described(documents, files / "walker.kin", spot(WALKER, mark)) == (file, statement)


def test_a_name_is_changed_in_all_files_of_its_model(files: Path) -> None:
    documents, path = Documents(), files / "walker.kin"
    edits = documents.renamed(path, spot(WALKER, "leg[2].^Foot"), "Hoof")
    assert {own.name: len(changes) for own, changes in edits.items()} == {"walker.kin": 3, "leg.kin": 1}
    for own, changes in edits.items():
        text = own.read_text()
        for edit in sorted(changes, key=lambda e: -e.start):
            assert text[edit.start : edit.end] == "Foot"
            text = text[: edit.start] + edit.text + text[edit.end :]
        own.write_text(text)
    assert kn.load(path).outputs.keys()[1] == "leg[1].Hoof.z"


def test_a_name_may_be_one_that_another_file_has(files: Path) -> None:
    documents, path = Documents(), files / "walker.kin"
    assert len(documents.renamed(path, spot(WALKER, "(b) = ^M,"), "hip")[path]) == 3


def test_an_element_is_changed_where_its_force_is_named() -> None:
    text = "A | Rz(q1) = Jz(1); for i in 1..2 : spring s[i] = 3 on q1; output lambda.s[2];"
    documents, path = Documents(), Path("m.kin")
    documents.put(path, text)
    (edits,) = documents.renamed(path, spot(text, "lambda.^s"), "coil").values()
    assert [text[e.start : e.end] for e in edits] == ["s", "s"]


def test_a_name_is_changed_where_it_means_the_same() -> None:
    text = """parameters k = 2, m = 1;
        k2 | Sx(x) = m(m), Jz(m); A ~ k2 | Sx(y) = k*m; coordinates x, y;
        let f(k, u) = k*u + m, g(s) = s*k;
        for m2 in 1..2 : point P[m2] on A = (m2*k, 0, 0);
        spring k = k on x; limit lim : A.x <= k; output k = k + f(k, 1) + x' + lambda.lim.upper + g(2);"""
    path, documents = Path("m.kin"), Documents()
    documents.put(path, text)
    (edits,) = documents.renamed(path, spot(text, "parameters ^k"), "stiff").values()
    for edit in sorted(edits, key=lambda e: -e.start):
        text = text[: edit.start] + edit.text + text[edit.end :]
    assert (
        text
        == """parameters stiff = 2, m = 1;
        k2 | Sx(x) = m(m), Jz(m); A ~ k2 | Sx(y) = stiff*m; coordinates x, y;
        let f(k, u) = k*u + m, g(s) = s*stiff;
        for m2 in 1..2 : point P[m2] on A = (m2*stiff, 0, 0);
        spring k = stiff on x; limit lim : A.x <= stiff; output k = stiff + f(stiff, 1) + x' + lambda.lim.upper + g(2);"""
    )


def other(k: int) -> str:
    """A name that differs from others of its like by two letters and more."""
    return "name_" + "".join(2 * "bcdfghjklm"[int(digit)] for digit in f"{k:03}")


@pytest.fixture(scope="module")
def beside() -> Documents:
    """The examples, each of which is read once: a name is looked for in all files of a folder."""
    return Documents()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("path", quick_but(FEW, sorted({*EXAMPLES.glob("*.kin")} - {*FEW})), ids=lambda p: p.stem)
def test_every_name_of_an_example_may_be_another(beside: Documents, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    names, system = beside.names(path), kn.load(path)
    assert names is not None
    entities = list(dict.fromkeys(o.entity for o in names.occurrences))
    changes = []
    for k, entity in enumerate(entities):
        first = names.of(entity)[0].start
        if k % 20 == 3:  # by itself, as an editor asks; all together below
            beside.renamed(path, first, other(k))
        changes += [(o.start, o.end, other(k)) for o in names.of(entity)]
    for start, end, name in sorted(changes, reverse=True):
        text = text[:start] + name + text[end:]
    after = kn.loads(text, str(path))
    assert [len(x) for x in (after.q_names, after.v_names, after.parameters, after.outputs, after.elements)] == [
        len(x) for x in (system.q_names, system.v_names, system.parameters, system.outputs, system.elements)
    ]
    # but for a contact that has the name of the ground, and switches that set parameters, whose names have a meaning
    if path.stem not in ("hopper", "trotting_quadruped"):
        assert isomorphisms([system.expanded, after.expanded])[1].first == 0


def test_names_of_piles_are_changed() -> None:
    text = """parameters r = 1; constants N = 3; for i in 1..N : Ball[i] | Free(b[i]) = 1, 1, 1, 1; ball | Free(c) = 1, 1, 1, 1;
        contact pile : ball = r among Ball[1..N] and ball = 2*r among ball, friction = 0.3;"""
    path, documents = Path("m.kin"), Documents()
    documents.put(path, text)
    assert not documents.diagnosis(path).problems
    for name, places in (("Ball[1", 2), ("ball, f", 2), ("N : B", 3)):
        assert [len(own) for own in documents.renamed(path, text.index(name), "other").values()] == [places]


def test_indices_and_arguments_are_changed_where_they_reach(files: Path) -> None:
    documents, path = Documents(), files / "walker.kin"
    (edits,) = documents.renamed(path, spot(WALKER, "Rz(^i*60"), "n").values()
    assert [WALKER[e.start : e.end] for e in edits] == ["i", "i", "i"]
    (edits,) = documents.renamed(path, spot(WALKER, "reach(^u)"), "place").values()
    assert len(edits) == 2


@pytest.mark.parametrize(
    ("mark", "name", "sentence"),
    [
        ("on ^Trunk at", "M", "the name 'M' is taken by a parameter in 'walker.kin'; choose another name."),
        ("on ^Trunk at", "force", "'force' is a word of the language; choose another name."),
        ("on ^Trunk at", "2x", "expected a name of letters, digits and '_', not starting with a digit, found '2x'."),
        ("on ^Trunk at", "", "expected a name of letters, digits and '_', not starting with a digit, found ''."),
        ("= 3 k^g, side", "x", "there is no name of the model here"),
        ("leg[2].^Foot", "Thigh", "the name 'Thigh' is taken by a body in "),
    ],
)
def test_names_that_cannot_be_are_refused(files: Path, mark: str, name: str, sentence: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        Documents().renamed(files / "walker.kin", spot(WALKER, mark), name)
    assert sentence in str(raised.value)


def test_a_name_that_makes_another_model_is_refused() -> None:
    documents, path, text = Documents(), Path("m.kin"), "B | Sx(q1) = 2; spring s = 3 on q1; output B.x;"
    documents.put(path, text)
    with pytest.raises(kn.ModelError, match="infers coordinates by their names; list them first"):
        documents.renamed(path, spot(text, "on ^q1"), "u")


@pytest.mark.parametrize(
    ("mark", "start"),
    [
        ("(b) = ^M,", "**parameter** `M` = 3 kg"),
        ("on ^Trunk at", "**body** `Trunk` on `ground`\n\n```kin\nTrunk | Free(b) = M, 0.05, 0.05, 0.08;\n```"),
        ("leg[1].^Foot.z", "**point** `leg[1].Foot`\n\n```kin\npoint Foot on Thigh"),
        ("on leg[1].h^ip", "**coordinate** `leg[1].hip` [rad]"),
        ("with ^m = M/6", "**parameter** `m` = 0.4 kg"),
        ("Foot.z, b.^z", "**coordinate** `b.z` [m]"),
        ("leg[1].Foot.^z", "**position** `leg[1].Foot.z` [m] of `leg[1].Foot`"),
        ("at R^z(i", "Turns the frame about the current z axis by an angle."),
        ("1 N^/m)", "N/m: a stiffness [kg/s^2]"),
        ("^force pull", "A force on a body, at a place, along a line or on a coordinate"),
        ("^spring s", "A spring, along a line or on a coordinate"),
    ],
)
def test_names_and_words_have_meanings(files: Path, mark: str, start: str) -> None:
    found = Documents().hover(files / "walker.kin", spot(WALKER, mark))
    assert found is not None
    assert found[2].startswith(start)


@pytest.mark.parametrize(
    ("mark", "start"),
    [
        ("= (U - ^i", "**state** `i` [A]\n\n```kin\nstate i in A : i' ="),
        (": ^i' =", "**rate** `i'` [A/s]\n\n```kin\nstate i in A : i' ="),
        ("output ^q1'", "**speed** `q1'` [rad/s]"),
        ("output q1^'", "**speed** `q1'` [rad/s]"),
        ("a = ^q1''", "**acceleration** `q1''` [rad/s^2]"),
        ("on ^q1;", "**coordinate** `q1` [rad]"),
    ],
)
def test_variables_of_the_motion_have_meanings(mark: str, start: str) -> None:
    text = """parameters m = 2 kg, R = 2 V/A, L = 0.01 V*s/A, k = 0.8 N*m/A, U = 10 V;
        Boom | Ry(-q1) = Jy(m*1 m^2); state i in A : i' = (U - i*R - k*q1')/L;
        force motor = k*i on q1; output q1', a = q1'';"""
    path, documents = Path("m.kin"), Documents()
    documents.put(path, text)
    found = documents.hover(path, spot(text, mark))
    assert found is not None
    assert found[2].startswith(start)


@pytest.mark.parametrize(
    ("line", "some", "not_some"),
    [
        ("", {"force", "Trunk", "M", "sin", "leg", "reach", "t"}, {"kg"}),
        ("output leg[1].", {"Foot", "Thigh", "hip", "m", "ground"}, {"Trunk", "force"}),
        ("output leg[1].Foot.", {"x", "vz", "position"}, {"qw", "Foot"}),
        ("output b.", {"x", "qw", "wz"}, {"position"}),
        ("output Trunk.", {"x", "vx"}, {"qw"}),
        ("output h = v(leg[2].Foot in Trunk).", {"x", "y", "z"}, {"force"}),
        ("let u = v(Trunk); output w = u.", {"x", "y", "z"}, {"qw"}),
        ("output lambda.", {"s", "pull"}, {"force"}),
        ("output lambda.pull.", {"x", "y", "z"}, {"n"}),
        ("parameters u = 3 k", {"kg", "kN", "deg"}, {"force"}),
        ("# no", set(), {"force"}),
        ('use "l', set(), {"force"}),
    ],
)
def test_what_may_stand_at_a_place(files: Path, line: str, some: set[str], not_some: set[str]) -> None:
    documents, path = Documents(), files / "walker.kin"
    documents.put(path, f"{WALKER}\n{line}")
    found = {c.label for c in documents.completions(path, len(WALKER) + 1 + len(line))}
    assert found >= some
    assert not found & not_some


def test_files_that_disappear_or_change_are_read_anew(files: Path) -> None:
    documents, path = Documents(), files / "walker.kin"
    documents.put(path, WALKER)
    assert not documents.diagnosis(path).problems
    (files / "leg.kin").unlink()
    documents.forget()
    (problem,) = documents.diagnosis(path).problems
    assert "leg.kin: there is no such file." in problem.sentence
    documents.put(files / "leg.kin", LEG)  # open in the editor, not saved yet
    assert not documents.diagnosis(path).problems
    path.unlink()
    documents.put(path, WALKER)
    assert documents.symbols(path)


# -- places ---------------------------------------------------------------------------------------------------------------

#: Characters of one to four bytes, and all that some standard takes for the end of a line.
CHARACTERS = ["\n", "\r\n", "\r", "a", "ё", "😀", "\u2028", "\x0b", "é", " "]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_places_of_the_protocol_are_those_of_characters(encoding: str) -> None:
    random = Random(encoding)
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    for length in range(41):
        text = "".join(random.choices(CHARACTERS, k=length))
        lines = Lines(text, encoding)
        for offset in range(len(text) + 1):
            if text[max(offset - 1, 0) : offset + 1] == "\r\n":
                continue  # within an end of a line, which is its beginning
            line, column = lines.place(offset)
            before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
            assert line == before.count("\n")
            own = before.rpartition("\n")[2].encode(f"{encoding}-le" if size > 1 else encoding)
            assert column == len(own) // size
            assert lines.offset(line, column) == offset
        assert lines.offset(10**6, 0) == len(text)


def test_places_of_the_reader_count_line_feeds() -> None:
    text = "a\u2028b\r\n😀 c;\n"
    assert text[Lines(text).of(Location("", 2, 3))] == "c"
    assert Lines(text).place(text.index("c")) == (1, 3)


@pytest.mark.slow
def test_a_huge_text_is_told_in_a_time_that_grows_with_it() -> None:
    def text(n: int) -> str:
        return "".join(f"B{i} | Sx(x{i}) = 1; spring s{i} = 2 on x{i};\n" for i in range(n)) + "output nothing;"

    def told(text: str) -> None:
        assert diagnose(text, "m.kin", read_text).problems

    few, many = text(250), text(1000)
    # Four times for what is linear, sixteen times for what is quadratic; more than eight times in each of five attempts is.
    assert any(seconds(told, many) < 8 * min(seconds(told, few) for _ in range(3)) for _ in range(5))


def test_without_pygls_there_is_a_sentence() -> None:
    code = "import sys; sys.modules['pygls'] = None; sys.argv = ['kineta', 'lsp']; from kineta.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (1, "kineta: This needs the package 'pygls': pip install 'kineta[lsp]'.\n")

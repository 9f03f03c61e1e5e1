"""Bad input: one sentence on standard error, exit code 1, nothing on standard output and nothing on disk."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import CART, Command
from tests.support import EXAMPLES

#: What lies in the folder in which the commands run.
FILES: dict[str, str | bytes] = {
    "robot.kin": "model robot;\nparameters m, J, k = 2;\nA | Rz(q1), Sx(q2) = m, J, J, J;\n",
    "typo.kin": "Leg | Rz(q1) = 1, 1, 1, 1;\nShin~Log | Rz(q2) = 1, 1, 1, 1;\n",
    "driven.kin": "A | Sx(x) = 2; coordinates x; program p : x'' = 2; control transversal x = x'';\n",
    "empty.kin": "",
    "bytes.kin": b"\x00\xff\xfe\x93kin",
    "bytes.urdf": b"\x00\xff\xfe\x93kin",
    "robot.txt": "",
    "broken.urdf": "<robot name='r'><link name='a'></robot>",
    "bytes.json": b"\xff\xfe\x00",
    "entry.json": b'{"q": {"q1": "a", "q2": 0}}',
    "list.json": b"[0, [1]]",
    "text.json": b'"a"',
    "broken.json": '{"q": [1,',
    "deep.json": "[" * 100_000,
    "file": "",
}


@pytest.fixture
def folder(here: Path) -> Path:
    for name, content in FILES.items():
        (here / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for name in ("dir.kin", "dir.urdf", "dir.nc", "dir.png"):
        (here / name).mkdir()
    (here / "leads-nowhere.kin").symlink_to("nothing.kin")
    return here


MODEL = [
    ("none.kin", r"none\.kin: there is no such file\."),
    ("robott.kin", r"robott\.kin: there is no such file\. Did you mean 'robot\.kin'\?"),
    ("none.urdf", r"none\.urdf: there is no such file\."),
    ("dir.kin", r"dir\.kin: expected a model file, found a folder\."),
    ("dir.urdf", r"dir\.urdf: expected a model file, found a folder\."),
    ("robot.txt", r"robot\.txt: expected a model file \(\.kin, \.urdf\), found the suffix '\.txt'\."),
    (".", r"\.: expected a model file \(\.kin, \.urdf\), found a folder\."),
    ("leads-nowhere.kin", r"leads-nowhere\.kin: the link leads to 'nothing\.kin', where there is no file\."),
    ("bytes.kin", r"bytes\.kin: expected text in UTF-8, found other bytes at position 1\."),
    ("bytes.urdf", r"bytes\.urdf:1:2: the XML is broken: "),
    ("broken.urdf", r"broken\.urdf:1:34: the XML is broken: "),
    ("empty.kin", r"Model 'empty' \(empty\.kin:1:1\): expected at least one body, found none\."),
    ("typo.kin", r"Body 'Shin' \(typo\.kin:2:\d+\): base 'Log' does not exist\. Did you mean 'Leg'\?"),
]

NUMBER = "Expected a number, perhaps with a unit, found"
STATE = [
    ("--q 1", r"--q: expected 2 numbers for \(q1, q2\), found 1\."),
    ("--q [1]", r"--q: expected 2 numbers for \(q1, q2\), found 1\."),
    ("--q 1,2,3", r"--q: expected 2 numbers for \(q1, q2\), found 3\."),
    ("--v ,", r"--v: expected 2 numbers for \(q1', q2'\), found 0\."),
    ("--q nan,1", rf"--q q1: {NUMBER} 'nan'\."),
    ("--q 1,two", rf"--q q2: {NUMBER} 'two'\."),
    ("--q 1,2q", r"--q q2: Expected a unit, found 'q'\."),
    ("--q q1=1,q2=1kg", r"--q q2: Expected an angle or a number without dimension, found '1kg'\."),
    ("--q 1kg,2", r"--q q1: Expected a length \[m\], found '1kg'\."),
    ("--v 1,2m/s", r"--v q2': Expected a rate or an angular velocity \[1/s\], found '2m/s'\."),
    ("--tau q2'=2N", r"--tau q2': Expected a couple or an energy \[kg\*m\^2/s\^2\], found '2N'\."),
    ("--quantity inverse --vdot 1m,2", r"--vdot q1': Expected an acceleration \[m/s\^2\], found '1m'\."),
    ("--set m1=2m", r"--set m1: Expected a mass \[kg\], found '2m'\."),
    ("--q [NaN,1]", r"--q: expected a finite number as number 1 of 2 in '\[NaN,1\]', found nan\."),
    ("--q [1e999,1]", r"--q: expected a finite number as number 1 of 2 in '\[1e999,1\]', found inf\."),
    (f"--q [{'9' * 400},1]", r"--q: expected a finite number as number 1 of 2"),
    ("--q [[1],2]", r"--q: expected a finite number as number 1 of 2 in '\[\[1\],2\]', found \[1\.0\]\."),
    ('--q {"q1":null}', r"--q: expected a finite number under 'q1' in '{\"q1\":null}', found None\."),
    ("--q [1,true]", r"--q: expected a finite number as number 2 of 2 in '\[1,true\]', found True\."),
    ("--q [1,", r"--q: expected JSON, found '\[1,' \(Expecting value"),
    ("--q q1=1,q9=2", r"Model 'cart_pendulum' has no coordinate 'q9'\."),
    ("--v q1=1", r"Model 'cart_pendulum' has no speed 'q1'\. Did you mean 'q1''\?"),
    ("--tau 1", r"--tau: expected 2 numbers for \(q1', q2'\), found 1\."),
    ("--tau w=1", r"--tau: model 'cart_pendulum' has no speed 'w'\."),
    ("--q @none.json", r"--q: the file 'none\.json' cannot be read \(No such file or directory\)\."),
    ("--q @dir.kin", r"--q: the file 'dir\.kin' cannot be read \(Is a directory\)\."),
    ("--q @", r"--q: the file '' cannot be read"),
    ("--q @broken.json", r"--q: expected JSON, found 'broken\.json' \(Expecting value"),
    ("--q @deep.json", r"--q: expected JSON, found 'deep\.json' \(maximum recursion"),
    ("--q @entry.json", r"--q: expected a finite number under 'q1' in 'entry\.json', found 'a'\."),
    ("--q @list.json", r"--q: expected a finite number as number 2 of 2 in 'list\.json', found \[1\.0\]\."),
    (
        "--q @text.json",
        r"--q: expected a list of finite numbers or a mapping of names to them, found 'a' in 'text\.json'\.",
    ),
    ("--q @bytes.json", r"--q: expected JSON in UTF-8, found other bytes at position 0 of bytes\.json\."),
    ("--t nan", rf"Invalid value for '--t': {NUMBER} 'nan'\. See kineta eval --help\."),
    ("--vdot 1,2", r"--vdot: forward depends on t, q, v, tau and the parameters only\."),
    ("--quantity inverse --vdot 1", r"--vdot: expected 2 numbers for \(q1', q2'\), found 1\."),
    ("--quantity bias --tau 1,2", r"--tau: bias depends on t, q, v and the parameters only\."),
    ("--levels q1'''=1", r"--levels: forward has no 'q1''''; it takes no such derivatives, kineta\(3\) does\."),
    ("--quantity kineta(3) --levels q3'''=1", r"--levels: kineta\(3\) has no 'q3''''; it takes q1''', q2'''\. Did you"),
    ("--quantity kineta(3) --levels 1,2", r"--levels: expected values by name, as in \"q1'''=2\", found a list\."),
    (
        "--quantity kineta(0)",
        r"Expected kineta with its order in brackets, from 1 to 12, as in kineta\(3\), found 'kineta\(0\)'\.",
    ),
    ("--quantity forwrd", r"Expected a quantity, found 'forwrd'\. Did you mean 'forward'\?"),
    ("--formalism newton-euler", r"found 'newton-euler'\. Did you mean 'newton_euler'\?"),
    ("--backend llwm", r"Expected a backend \(llvm, numpy, cuda\), found 'llwm'\. Did you mean 'llvm'\?"),
    ("--set m1", r"--set: expected NAME=VALUE, found 'm1'\."),
    ("--set m1=", rf"--set m1: {NUMBER} ''\."),
    ("--set m1=nan", rf"--set m1: {NUMBER} 'nan'\."),
    ("--set m1=1e400", r"--set m1: Expected a finite number, found '1e400'\."),
    ("--set m1=2kgg", r"--set m1: Expected a unit, found 'kgg'\. Did you mean 'kg'\?"),
    ("--set mass1=2", r"--set: model 'cart_pendulum' has no parameter 'mass1'\."),
    ("--set j2x=2", r"has no parameter 'j2x'\. Did you mean 'J2x'\?"),
    ("--nope", r"No such option '--nope'\."),
]

RUN = [
    ("--to 0", r"Expected a time before or after 0, at which the motion starts, found 0\."),
    ("--to soon", rf"Invalid value for '--to': {NUMBER} 'soon'\. See kineta simulate --help\."),
    ("--to inf", rf"Invalid value for '--to': {NUMBER} 'inf'"),
    ("--to 2kg", r"Invalid value for '--to': Expected a time \[s\], found '2kg'"),
    ("--method dop", r"Expected a method \(dop853, dopri5, .*\), found 'dop'\."),
    ("--rtol 0", r"Expected tolerances with 0 < rtol < 1 and 0 < atol, found rtol = 0, "),
    ("--rtol nan", rf"Invalid value for '--rtol': {NUMBER} 'nan'"),
    ("--samples 1", r"'--samples': Expected a whole number from 2 to 10000000, found '1'"),
    ("--samples 99999999999", r"'--samples': Expected a whole number from 2 to 10000000, found '99999999999'"),
    ("--tau 1", r"--tau: expected 2 numbers for \(q1', q2'\), found 1\."),
    ("--tau q1=1", r"Model 'cart_pendulum' has no speed 'q1'\. Did you mean 'q1''\?"),
    ("--save run.txt", r"--save: expected a file \.nc or \.csv, found 'run\.txt'\."),
    ("--save no/run.nc", r"--save: there is no folder 'no'\."),
    ("--save dir.nc", r"--save: expected a file, found the folder 'dir\.nc'\."),
    ("--plot run.jpg", r"--plot: expected a file \.png, \.svg or \.pdf, found 'run\.jpg'\."),
    ("--plot no/run.png", r"--plot: there is no folder 'no'\."),
    ("--plot dir.png", r"--plot: expected a file, found the folder 'dir\.png'\."),
    ("--plot file/run.png", r"--plot: there is no folder 'file'\."),
]

OTHER = [
    ("derive robot.kin --quantity tau", r"Expected a quantity, found 'tau'\. Did you mean 'inverse'\?"),
    (
        "derive robot.kin --explain --save a.pdf",
        r"a\.pdf: expected a file name that ends in \.md, \.tex, \.html, found '\.pdf'\.",
    ),
    ("derive robot.kin --save a.html", r"--save writes what --explain tells; add --explain\."),
    ("derive robot.kin --explain --matrix", r"Expected --explain or --matrix, found both; leave one out\."),
    (
        "derive robot.kin --explain --quantity bias",
        r"Expected a quantity whose derivation is told \(inverse, canonical, maggi, .*\), found 'bias'\.",
    ),
    (
        "derive robot.kin --formalism hamilton",
        r"Expected a formalism \(newton_euler.*\), found 'hamilton'\. Hamilton's equations are shown by --quantity canonical, in "
        r"Python by text\('canonical'\), and told step by step with --explain, by account\('canonical'\)\.",
    ),
    (
        "derive robot.kin --formalism routh",
        r"found 'routh'\. Routh's function is shown by --quantity routhian, .* the effective potential by --quantity effective_p",
    ),
    (
        "derive robot.kin --formalism Chaplygin",
        r"found 'Chaplygin'\. 'chaplygin' is a form of the equations in independent speeds, told step by step by --explain "
        r"--quantity chaplygin, in Python by account\('chaplygin'\)\.",
    ),
    ("derive robot.kin --formalism boltzmann-hamel", r"told step by step by --explain --quantity boltzmann_hamel,"),
    ("derive robot.kin --formalism maggi", r"told step by step by --explain --quantity maggi,"),
    (
        "derive robot.kin --quantity voronets",
        r"Expected a quantity of all systems, found 'voronets'\. .* told step by step by --explain --quantity voronets,",
    ),
    (
        "derive robot.kin --matrix --quantity energy",
        r"Expected a vector or a matrix, or the equations of motion, to be shown as matrices; energy is one expression\.",
    ),
    ("derive robot.kin --formalism lagrang", r"Expected a formalism \(newton_euler.*\), found 'lagrang'\."),
    (
        "eval robot.kin",
        r"Model 'robot': the parameters m, J need a value: give --set m=\.\.\. or a value in the model\.",
    ),
    ("eval robot.kin --set m=1", r"Model 'robot': the parameter J needs a value: give --set J=\.\.\."),
    ("simulate robot.kin", r"Model 'robot': the parameters m, J need a value: give --set m=\.\.\."),
    ("export robot.kin --quantity forward,nope", r"Expected a quantity \(.*\), found 'nope'\."),
    ("export robot.kin --quantity forward,", r"Expected a quantity \(.*\), found ''\."),
    ("export robot.kin --name /", r"--name: expected a name with a letter, found '/'\."),
    ("export robot.kin --rtol 1e-6", r"--rtol, --atol, --max-step: steps are those of a run; add --run or --wasm\."),
    ("export robot.kin --run --max-step 0 --set m=1 --set J=1", r"Expected max_step > 0, found 0\."),
    ("export robot.kin --to file", r"Expected a folder, found the file 'file'\."),
    ("export robot.kin --to file/folder", r"file/folder: the file cannot be written \(Not a directory\)\."),
    ("import robot.kin", r"robot\.kin: expected a URDF file, found a model file, which needs no import\."),
    ("import none.urdf", r"none\.urdf: there is no such file\."),
    ("import broken.urdf -o new.kin", r"broken\.urdf:1:34: the XML is broken: "),
    ("import broken.urdf -o new.txt", r"--output: expected a file \.kin, found 'new\.txt'\."),
    ("examples copy puma", r"There is no example 'puma' \(known: .*branched, .*\)\. Did you mean 'puma560'\?"),
    ("examples copy puma560 nope --to new", r"There is no example 'nope' "),
    ("examples copy puma560 --to file", r"Expected a folder, found the file 'file'\."),
    ("simulat robot.kin", r"No such command 'simulat'\. Did you mean 'simulate'\? See kineta --help\."),
    ("sumulate robot.kin", r"No such command 'sumulate'\. Did you mean 'simulate'\? See kineta --help\.\n"),
    ("check", r"Missing argument 'MODEL'\. See kineta check --help\."),
    ("check driven.kin", r"driven\.kin:1:.*: control: the transversal part of x' has derivatives of the order 2"),
    ("check robot.kin typo.kin", r"unexpected extra argument.*typo\.kin"),
    ("check robot.kin --set", r"Option '--set' requires an argument\. See kineta check --help\."),
    ("simulate robot.kin --to 1 --to 2", r"Option '--to': expected once, found 2 times\. See kineta simulate --help\."),
    (
        "assemble robot.kin --pin q1 --pin q2",
        r"'--pin': expected once, found 2 times; names stand behind it, separated by",
    ),
    ("completion", r"Missing argument 'SHELL'\. Choose from: bash, zsh, fish\. See kineta completion --help\."),
    ("completion tcsh", r"Invalid value for 'SHELL': 'tcsh' is not one of 'bash', 'zsh', 'fish'\."),
]


def refused(kineta: Command, folder: Path, arguments: list[str], message: str) -> None:
    before = sorted(folder.rglob("*"))
    done = kineta(*arguments)
    assert (done.code, done.out) == (1, "")
    assert re.match(r"kineta: .+\.\n|kineta: .+\?\n", done.err)
    assert done.err.count("\n") == 1
    assert re.search(message, done.err)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(("model", "message"), MODEL)
@pytest.mark.parametrize("verb", ["check", "derive", "eval", "simulate", "export"])
def test_a_model_that_cannot_be_read(kineta: Command, folder: Path, verb: str, model: str, message: str) -> None:
    refused(kineta, folder, [verb, model, "--json"], message)


@pytest.mark.parametrize(("options", "message"), STATE)
def test_a_state_that_makes_no_sense(kineta: Command, folder: Path, options: str, message: str) -> None:
    refused(kineta, folder, ["eval", str(CART), *options.split()], message)


@pytest.mark.parametrize(("options", "message"), RUN)
def test_a_run_that_makes_no_sense(kineta: Command, folder: Path, options: str, message: str) -> None:
    refused(kineta, folder, ["simulate", str(CART), *options.split(), "--json"], message)


@pytest.mark.parametrize(("command", "message"), OTHER)
def test_a_command_that_makes_no_sense(kineta: Command, folder: Path, command: str, message: str) -> None:
    refused(kineta, folder, command.split(), message)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (f"export {CART}", "cart_pendulum.h"),
        (f"export {CART}", "cart_pendulum.c"),
        (f"export {CART} --name cart", "cart.c"),
        ("examples copy branched puma560", "puma560.kin"),
        ("import arm.urdf -o arm.kin", "arm.kin"),
    ],
)
def test_files_are_overwritten_only_by_force(kineta: Command, here: Path, command: str, file: str) -> None:
    (here / "arm.urdf").write_text("<robot name='arm'><link name='a'/></robot>".replace("/></", "><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link></"))  # fmt: skip
    (here / file).write_text("mine")
    options = ["--floating"] if command.startswith("import") else []
    refused(kineta, here, [*command.split(), *options], rf"{file} exists already; give --force to overwrite it\.")
    assert (here / file).read_text() == "mine"
    assert kineta(*command.split(), *options, "--force").code == 0
    assert (here / file).read_text() != "mine"
    (here / file).unlink()
    (here / file).mkdir()
    refused(kineta, here, [*command.split(), *options, "--force"], rf"Expected a file, found the folder '{file}'\.")


def test_a_folder_that_is_closed_stays_as_it_is(kineta: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere: the refusal of the system is simulated."""

    def closed(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "replace", closed)
    refused(kineta, folder, ["export", str(CART)], r"the file cannot be written \(Permission denied\)\.")
    refused(kineta, folder, ["examples", "copy"], r"the file cannot be written \(Permission denied\)\.")
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    message = r"--save: nothing can be written to the folder '\.'\."
    refused(kineta, folder, ["simulate", str(CART), "--save", "run.nc"], message)


def test_a_state_without_finite_accelerations(kineta: Command, folder: Path) -> None:
    (folder / "pole.kin").write_text("parameters k = 0;\nA | Sx(q) = 1;\nforce f = 1/k on q;\n")
    refused(kineta, folder, ["derive", "pole.kin", "--fix"], r"Force 'f' \(pole\.kin:3:7\): Division by zero\.")
    refused(kineta, folder, ["eval", "pole.kin"], r"Model 'pole': forward is not finite in this state")
    refused(kineta, folder, ["simulate", "pole.kin"], r"Model 'pole': q'' is not finite in the initial state")
    (folder / "ball.kin").write_text("A | Ball(b) = m(1), com = (0.3, 0.4, -0.7);\n")
    message = r"the mass matrix is singular: the combination b\.wx \+ 1\.33 b\.wy - 2\.33 b\.wz of its speeds moves no inertia\."
    refused(kineta, folder, ["eval", "ball.kin"], r"forward is not finite in this state: " + message)
    ship = "Ship | Sx(q) = 200000;\nGyro ~ Ship | Rz(q2) = Jz(1e-8);\nforce f = 1/k on q;\n"
    (folder / "ship.kin").write_text(f"parameters k = 0;\n{ship}")
    refused(kineta, folder, ["simulate", "ship.kin"], r"Model 'ship': q'' is not finite in the initial state")
    (folder / "top.kin").write_text(
        "Top | Rz(a), Rx(b), Rz(c) = 1, 2, 2.5, 1; coordinates a, b, c;\n"
        "quasi wx = a'*sin(b)*sin(c) + b'*cos(c), wy = a'*sin(b)*cos(c) - b'*sin(c), wz = c' + a'*cos(b);\n"
    )
    refused(kineta, folder, ["simulate", "top.kin"], r"Model 'top': rate of a is not finite in the initial state")
    assert "it is not finite: check the state and" in kineta("check", "top.kin").out


def test_a_missing_package_is_named_before_the_run(
    kineta: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    run = ["simulate", str(CART), "--to", "1e9"]
    refused(kineta, folder, [*run, "--plot", "a.png"], r"needs the package 'matplotlib': pip install 'kineta\[plot\]'")
    refused(kineta, folder, [*run, "--save", "a.nc"], r"needs the package 'xarray': pip install 'kineta\[xarray\]'")


def test_examples_cannot_be_lost(kineta: Command) -> None:
    """Copying an example onto itself is an overwriting like any other."""
    done = kineta("examples", "copy", "puma560", "--to", EXAMPLES)
    assert (done.code, "exists already" in done.err) == (1, True)
    assert stat.S_ISREG((EXAMPLES / "puma560.kin").stat().st_mode)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("simulate robot.kin --dt 0.1", r"No such option '--dt'\. Did you mean '--samples' \(of the record"),
        ("simulate robot.kin --q0 0.1", r"No such option '--q0'\. Did you mean '--q'\?"),
        ("simulate robot.kin --forces 0.1", r"No such option '--forces'\. Did you mean '--tau'\?"),
        ("run robot.kin", r"No such command 'run'\. Did you mean 'simulate'\?"),
        ("ik robot.kin", r"No such command 'ik'\. Did you mean 'place'\?"),
        (
            "inverse robot.kin --set m=1 --set J=1 --motion q=t --to 0",
            r"--to: expected a time after 0, found 0; --samples 1",
        ),
        ("kinematics robot.kin --set m=1 --set J=1 --motion q=t --to -2", r"--to: expected a time after 0, found -2"),
    ],
)
def test_options_and_verbs_of_other_tools(kineta: Command, folder: Path, arguments: str, message: str) -> None:
    done = kineta(*arguments.split())
    assert (done.code, done.out) == (1, "")
    assert re.search(message, done.err)

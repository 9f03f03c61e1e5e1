"""A kind more in a copy of each table: the row, and the file that it points to, are all that the rest of the house needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import click
import numpy as np
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

import kineta as kn
from kineta.algebra.expression import Expr, expr
from kineta.cli.task_verbs import verbs
from kineta.equations import function
from kineta.errors import Location
from kineta.expr.graph import Graph, Ref
from kineta.mechanics.contact import unilateral_rows
from kineta.mechanics.elements import element_actions
from kineta.mechanics.formalisms import table
from kineta.mechanics.kinematics import description_route
from kineta.mechanics.programs import dynamics
from kineta.model import constraints, contacts, elements, joints, motion_program
from kineta.model.compound import CompoundConstraint, CompoundContact, compound_kind
from kineta.model.constraints.equation import Constraint
from kineta.model.contacts.joint_friction import Friction
from kineta.model.contacts.limit import Limit
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.io import kin_grammar, kin_reader
from kineta.model.joints.joint import Joint
from kineta.model.kind import Element, Kind, Production, Unilateral
from kineta.spatial.rotation import about
from kineta.spatial.vector import Matrix, Vector
from kineta.tasks import options, task
from kineta.tasks import table as tasks
from kineta.tasks.verification import program_forms
from kineta.tasks.verification.laws import contacts as law
from tests.support import EXAMPLES, reference


@dataclass(frozen=True, slots=True)
class Thrust(Element):
    """A force of *value* along a *coordinate*."""

    name: str
    value: Expr
    coordinate: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stop(Unilateral):
    """A stop of a *coordinate*, which stays above zero."""

    plural: ClassVar[str] = "stops"

    name: str
    coordinate: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    def rows(self, scope: Any) -> tuple[str, ...]:
        return (f"{self.name}.lower",)

    @property
    def along(self) -> Expr:
        return self.coordinate


@dataclass(frozen=True, slots=True)
class Cage(CompoundContact):
    """A coordinate that stays within *room* on both sides of zero, and rubs with a *force*."""

    name: str
    coordinate: Expr
    room: Expr
    force: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    def parts(self) -> tuple[Limit | Friction, ...]:
        walls = Limit(self.name, self.coordinate, -self.room, self.room, location=self.location)
        return walls, Friction(f"{self.name}_rub", self.force, self.coordinate, None, self.location)


@dataclass(frozen=True, slots=True)
class Gear(CompoundConstraint):
    """A coordinate that follows another at a *ratio*."""

    name: str
    driven: Expr
    ratio: Expr
    driver: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    def parts(self) -> tuple[Constraint, ...]:
        return (Constraint(self.name, self.driven - self.ratio * self.driver, self.location),)


def read_thrust(source: Any, name: Any, value: Any, coordinate: Any) -> Thrust:
    return Thrust(str(name), source.expression(value), source.expression(coordinate), source.location(name))


def read_stop(source: Any, name: Any, value: Any) -> Stop:
    return Stop(str(name), source.expression(value), source.location(name))


def read_gear(source: Any, name: Any, driven: Any, ratio: Any, driver: Any) -> Gear:
    return Gear(str(name), *map(source.expression, (driven, ratio, driver)), source.location(name))


def read_cage(source: Any, name: Any, coordinate: Any, room: Any, force: Any) -> Cage:
    return Cage(str(name), *map(source.expression, (coordinate, room, force)), source.location(name))


THRUST = Thrust.kind = Kind(
    Thrust,
    "thrust",
    {"thrust": Production('"=" sum "on" sum', read_thrust)},
    lambda x: f"= {x.value} on {x.coordinate}",
)
STOP = Stop.kind = Kind(Stop, "stop", {"stop": Production('":" sum', read_stop)}, lambda x: f": {x.coordinate}")
CAGE = Cage.kind = compound_kind(
    Cage,
    "cage",
    {"cage": Production('":" sum "within" sum "," "rub" sum', read_cage)},
    lambda x: f": {x.coordinate} within {x.room}, rub {x.force}",
)
GEAR = Gear.kind = compound_kind(
    Gear,
    "gear",
    {"gear": Production('":" sum "=" sum "on" sum', read_gear)},
    lambda x: f": {x.driven} = {x.ratio} on {x.driver}",
)


def with_kind(monkeypatch: pytest.MonkeyPatch, argument: str, kind: Kind[Any]) -> None:
    """Add a *kind* to copies of the tables of the description."""
    room: Any = {"elements": elements, "constraints": constraints, "contacts": contacts}[argument]
    monkeypatch.setattr(room, "KINDS", (*room.KINDS, kind))
    kinds = {**kin_grammar.GRAMMAR.kinds, argument: room.KINDS}
    monkeypatch.setattr(kin_reader, "GRAMMAR", kin_grammar.Grammar(kinds))


@pytest.mark.slow
def test_an_element(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(thrust: Thrust) -> GeneralizedForce:
        return GeneralizedForce(thrust.name, thrust.value, thrust.coordinate)

    def action(on: Any, thrust: Thrust) -> None:
        element_actions.ACTIONS[GeneralizedForce](on, plain(thrust))

    def pairs(on: Any, thrust: Thrust) -> Iterator[Any]:
        return description_route.PAIRS[GeneralizedForce](on, plain(thrust))

    with_kind(monkeypatch, "elements", THRUST)
    monkeypatch.setattr(element_actions, "ACTIONS", {**element_actions.ACTIONS, Thrust: action})
    monkeypatch.setattr(description_route, "PAIRS", {**description_route.PAIRS, Thrust: pairs})
    text = "A | Sx(x), Rz(q) = 2, 1, 1, 1; thrust T = 3 on x; coordinates x, q;"
    model = kn.loads(text)
    assert kn.loads(kn.dumps(model)) == model
    assert kn.derive(model).function("forward")(0.0, [0.0, 0.0], [0.0, 0.0], 0.0).tolist() == [1.5, 0.0]
    assert kn.verify(model, states=2, digits=0).holds
    with pytest.raises(kn.ModelError, match=r"Thrust 'T' .*: unknown symbol 'P\.x'"):
        kn.loads(text.replace("on x", "on P.x"))


@pytest.mark.slow
def test_a_constraint(monkeypatch: pytest.MonkeyPatch) -> None:
    with_kind(monkeypatch, "constraints", GEAR)
    model = kn.loads("A | Rz(a) = 1, 1, 1, 1; B | Rz(b) = 1, 1, 1, 1; gear G : b = 2 on a; coordinates a, b;")
    assert kn.loads(kn.dumps(model)) == model
    vdot = kn.derive(model).function("forward")(0.0, [0.0, 0.0], [0.0, 0.0], [1.0, 0.0])
    assert vdot == pytest.approx([0.2, 0.4])
    assert kn.verify(model, states=2, digits=0).holds


@pytest.mark.slow
def test_a_contact_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    def gaps(on: Any, stop: Stop) -> Iterator[Any]:
        yield from unilateral_rows.CONTACT_ROWS[Limit](on, Limit(stop.name, stop.coordinate, expr(0)))

    def meaning(kin: Any, stop: Stop, touches: Any) -> Iterator[Any]:
        yield from law.MEANINGS[Limit](kin, Limit(stop.name, stop.coordinate, expr(0)), touches)

    with_kind(monkeypatch, "contacts", STOP)
    monkeypatch.setattr(unilateral_rows, "CONTACT_ROWS", {**unilateral_rows.CONTACT_ROWS, Stop: gaps})
    monkeypatch.setattr(law, "MEANINGS", {**law.MEANINGS, Stop: meaning})
    model = kn.loads("gravity 10; A | Sz(z) = 1; stop S : z - 1; initial z = 2; output lambda.S.lower;")
    assert kn.loads(kn.dumps(model)) == model
    run = kn.simulate(model, 1.0)
    assert run.q[-1] == pytest.approx([1.0], abs=1e-9)
    assert run.outputs["lambda.S.lower"][-1] == pytest.approx(10.0)
    assert run.units["lambda.S.lower"] == "N"
    with pytest.warns(kn.KinetaWarning, match=r"without S: only runs know stops\."):
        assert kn.verify(model, states=2, digits=0).holds


@pytest.mark.slow
def test_a_contact_kind_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    with_kind(monkeypatch, "contacts", CAGE)
    text = "A | Sx(x) = 1; cage C : x within 1, rub 0.5; initial x' = 2; output lambda.C.upper, lambda.C_rub;"
    model = kn.loads(text)
    assert kn.loads(kn.dumps(model)) == model
    same = kn.loads(text.replace("cage C : x within 1, rub 0.5;", "limit C : -1 <= x <= 1; friction C_rub = 0.5 on x;"))
    own, other = (kn.simulate(m, 4.0) for m in (model, same))
    assert own.q.tolist() == other.q.tolist()
    assert own.outputs["lambda.C_rub"].tolist() == other.outputs["lambda.C_rub"].tolist()
    with pytest.warns(kn.KinetaWarning, match=r"without C: only runs know contacts\."):
        assert kn.verify(model, states=2, digits=0).holds
    with pytest.raises(kn.ModelError, match=r"Cage 'C' .*: 'force' says|Cage 'C' .*: expected a force"):
        kn.loads(text.replace("rub 0.5", "rub -0.5"))


@dataclass(frozen=True, slots=True)
class Cylinder(Joint):
    """A shift along x and a turn about it."""

    coordinate_units: ClassVar[Mapping[str, str]] = {"x": "m", "angle": "rad"}
    twist: ClassVar[tuple[str, ...]] = ("vx", "wx")

    name: str

    def frame(self, graph: Graph, q: Sequence[Ref]) -> tuple[Matrix, Vector]:
        return about(graph, 0, graph.cos(q[1]), graph.sin(q[1])), Vector(graph, q[0])

    def rates(self, graph: Graph, q: Sequence[Ref], u: Vector, w: Vector) -> Sequence[Ref]:
        return u.x, w.x


@pytest.mark.slow
def test_a_joint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joints, "JOINTS", (*joints.JOINTS, Cylinder))
    model = kn.loads("A | Cylinder(c) = 2, 4, 3, 3; force F = 3 on c.x; B ~ A | Sy(1), Ball(b) = 1, 1, 2, 3;")
    assert kn.loads(kn.dumps(model)) == model
    assert kn.verify(model, states=2, digits=0).holds
    alone = kn.derive(kn.loads("A | Cylinder(c) = 2, 4, 3, 3; force F = 3 on c.x; force M = 2 on c.angle;"))
    assert alone.function("forward")(0.0, [0.0, 0.0], [0.0, 0.0], 0.0).tolist() == [1.5, 0.5]
    with pytest.raises(kn.ModelError, match=r"expected .*S\[x, y, z\], Ball or Free or Cylinder\."):
        kn.loads("A | Screwed(c) = 1;")


def test_a_formalism(monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(table.FORMALISMS["gauss"], name="own")
    monkeypatch.setattr(table, "FORMALISMS", {**table.FORMALISMS, "own": own})
    model = kn.loads("A | Rz(q) = 1, 1, 1, 1;")
    assert kn.derive(model, "own").method is own
    assert [row.formalism for row in kn.verify(model, states=2, digits=0).rows][-1] == "own"


def test_a_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(function, "BACKENDS", {**function.BACKENDS, "own": "kineta.codegen.numpy"})
    equations = kn.derive(kn.loads("A | Rz(q) = 1, 1, 1, 2;"))
    assert equations.function("forward", "own")(0.0, [0.0], [0.0], np.ones((3, 1))).tolist() == [[0.5]] * 3
    with pytest.raises(kn.ArgumentError, match=r"a backend \(llvm, numpy, cuda, own\)"):
        equations.function("forward", "other")


PROGRAMMED = (
    "A | Sx(x) = 1; B | Sx(y) = 1; program P : x + 2*y = sin(t); control own; initial x = 1, y = -0.5, y' = 0.5;"
)


def test_a_law_of_control(monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(dynamics.LAWS["kineta"], name="own")
    monkeypatch.setattr(dynamics, "LAWS", {**dynamics.LAWS, "own": own})
    monkeypatch.setattr(motion_program, "LAWS", (*motion_program.LAWS, "own"))
    model, same = kn.loads(PROGRAMMED), kn.loads(PROGRAMMED.replace("control own", "control kineta"))
    assert "control own;" in kn.dumps(model)
    assert kn.simulate(model, 0.5).q.tolist() == kn.simulate(same, 0.5).q.tolist()


def test_a_form_of_the_equations_under_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(program_forms.FORMS["RnA"], name="own")
    monkeypatch.setattr(program_forms, "FORMS", {**program_forms.FORMS, "own": own})
    certificate = kn.verify(kn.loads(PROGRAMMED.replace("control own; ", "")), states=2, digits=0)
    assert [row.agrees for row in certificate.forms if row.form == "own"] == [True]


#: The task of ``CONTRIBUTING.md``, whose file stands in the plug-in.
POINCARE = task.Task(
    "kineta_plug_in.poincare_section",
    "PoincareSection poincare_section",
    "Runs",
    "Guckenheimer and Holmes (1.5)",
    verb="poincare",
    function="poincare_section",
    help="""Find the states in which a motion crosses a surface.

    Where an expression of coordinates and speeds rises through zero.

    kineta poincare double_pendulum.kin --section q1 --to 20
    """,
    options=(
        options.end("End of the motion.", 10.0),
        options.expression("section", "The expression that rises through zero."),
        options.state("q", "Initial coordinates"),
        options.state("v", "Initial speeds"),
        *options.SERIES,
    ),
)


@pytest.fixture
def poincare(monkeypatch: pytest.MonkeyPatch) -> Iterator[click.Group]:
    """The command with the verb of one row more."""
    monkeypatch.syspath_prepend(Path(__file__).parent / "plug_in")
    monkeypatch.setattr(tasks, "TASKS", (*tasks.TASKS, POINCARE))
    yield click.Group("kineta", commands=list(verbs(tasks.TASKS)))
    for name in POINCARE.public.split():
        vars(kn).pop(name, None)


def test_a_task_has_a_public_name(poincare: click.Group) -> None:
    found = kn.poincare_section(kn.load(EXAMPLES / "double_pendulum.kin"), 20.0, kn.symbol("q1"))  # type: ignore[attr-defined]
    assert np.abs(found["q1"]).max() < 1e-9
    assert {*POINCARE.public.split()} <= {*kn.__all__}


def test_a_task_has_a_verb_with_help_and_completion(poincare: click.Group, tmp_path: Path) -> None:
    model, run = str(EXAMPLES / "double_pendulum.kin"), CliRunner().invoke
    told = run(poincare, ["poincare", "--help"]).output
    assert "Find the states in which a motion crosses a surface." in told
    assert "  kineta poincare double_pendulum.kin --section q1 --to 20" in told
    assert "--section EXPRESSION  The expression that rises through zero.  [required]" in told
    complete = ShellComplete(poincare, {}, "kineta", "_KINETA_COMPLETE").get_completions
    assert [x.value for x in complete([], "poin")] == ["poincare"]
    assert [x.value for x in complete(["poincare", model], "--sec")] == ["--section"]
    found = run(
        poincare, ["poincare", model, "--section", "q1", "--to", "20", "--save", str(tmp_path / "a.csv")]
    ).output
    assert found.startswith("PoincareSection of 'double_pendulum': ")
    assert found.endswith(f"written: {tmp_path / 'a.csv'}\n")
    asked = run(poincare, ["poincare", model, "--section", "q1 - 9", "--to", "1"])
    assert asked.exit_code == 1
    assert "Model 'double_pendulum': 'q1 - 9' does not rise through zero to t = 1 s." in asked.output


def test_a_task_has_json(poincare: click.Group) -> None:
    model = str(EXAMPLES / "double_pendulum.kin")
    found = json.loads(CliRunner().invoke(poincare, ["poincare", model, "--section", "q1", "--json"]).output)
    assert [*found] == ["model", "t", "series", "units", "section", "files"]
    assert max(map(abs, found["series"]["q1"])) < 1e-9


def test_a_task_stands_in_the_reference(poincare: click.Group) -> None:
    made = reference()
    page = made.page()
    section = page.partition("## Runs\n")[2].partition("\n## ")[0]
    assert (
        "### poincare_section\n\n```text\nkn.poincare_section(system, t, section, *, q=None, v=None, p=None)" in section
    )
    assert "Source: Guckenheimer and Holmes (1.5)." in section
    assert "from kineta_plug_in.poincare_section import poincare_section as poincare_section\n" in made.stub()

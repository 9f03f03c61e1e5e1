"""Models within models: names, places, values, and the sentences on what makes no sense in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from tests.support import reads_back

LEG = """
model leg;
gravity 9.81;
parameters a = 0.2 m, b = 0.3 m, m = 0.4 kg, k = 30 N*m, on = 1;
constants J = 0.002 kg*m^2;
Thigh | Ry(hip), Sz(-a) = m, J, J, J;
Shank ~ Thigh | Ry(knee), Sz(-b), Ball(ankle), Sz(-b) = m/2, J, J, J;
coordinates hip, knee, ankle;
point Foot on Shank = (0, 0.1, -2 cm);
let reach = Foot.x + 0.5;
spring s = k on knee - 0.4;
spring hang = 20, 0.1 between Foot and ground at (0.1, 0, 0);
damper d = 0.3 on Foot.vx;
damper e = 0.2 on v(Foot in Shank).y + w(Shank in Thigh).x;
force wind on Shank = (0.1*|v(Foot)|, reach, w(Shank).y + |w(Shank)|);
friction f = 0.2, smooth = 0.1 on Foot.z;
limit stop : knee <= 2 rad;
when end : knee >= 1 and on == 1 : on = 0, knee' = 0;
initial knee = 0.5;
output Foot.position, energy, push = lambda.stop.upper, tip = reach;
shape Thigh = capsule(1 cm) from (0, 0, 0) to (0, 0, a);
view from (1, 0, 0);
show path of Foot;
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "leg.kin").write_text(LEG)
    (tmp_path / "first.kin").write_text('A | Rz(q) = 1; use "second.kin" as b;')
    (tmp_path / "second.kin").write_text('A | Rz(q) = 1; use "first.kin" as b;')
    (tmp_path / "bad.kin").write_text("A | Rz(q) = 1;\nB ~ C | Rz(p) = 1;")
    (tmp_path / "swing.kin").write_text("A | Rz(q), Sx(1) = 1;\noutput x = 2*a(A).x;")
    (tmp_path / "chain.kin").write_text(
        "constants N = 2; for i in 1..N : { B[i] | Rz(q[i]) = Jz(1); coordinates q[i]; }"
    )
    return tmp_path


HEAD = "gravity 9.81;\nparameters M = 3, m = 0.3 kg;\nTrunk | Free(b) = M, 0.1, 0.1, 0.15;\n"


def read(folder: Path, text: str) -> kn.System:
    return kn.loads(HEAD + text, str(folder / "m.kin"))


def test_text_and_python_give_equal_systems(folder: Path) -> None:
    system = read(folder, 'use "leg.kin" as left on Trunk at Rz(1), Sx(0.3) with m = m, k = 40;')
    leg, m = kn.load(folder / "leg.kin"), kn.symbol("m")
    placed = leg.placed("left", on="Trunk", at=[kn.Rz(1), kn.Sx(0.3)], p={"m": m, "k": 40})
    trunk = kn.body("Trunk", [kn.Free("b")], kn.inertia(kn.symbol("M"), (0.1, 0.1, 0.15)))
    made = kn.System("m", [trunk], gravity=(0, 0, -9.81), parameters={"M": 3, "m": 0.3}, use=[placed])
    assert system == made
    reads_back(system)
    assert system.coordinates == ("b", "left.hip", "left.knee", "left.ankle")
    assert system.outputs.keys() == ["left.Foot.x", "left.Foot.y", "left.Foot.z", "left.push", "left.tip"]
    assert system.parameters["left.k"] == 40
    assert system.lets["left.m"] == m
    assert [r.kind.word for r in system.appearance] == ["shape", "show"]


QUANTITIES = ("forward", "kinetic_energy", "potential_energy", "power")


def test_on_the_ground_a_placed_model_moves_as_by_itself(folder: Path) -> None:
    leg = kn.load(folder / "leg.kin")
    placed = kn.System("m", [], gravity=(0, 0, -9.81), use=[leg.placed("x", at=[kn.Sz(0.7), kn.Rz(0.4)])])
    alone = kn.System("m", [], gravity=(0, 0, -9.81), use=[leg.placed("x")])
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1, 1, leg.nq), rng.uniform(-1, 1, leg.nv)
    q[-4:] /= np.linalg.norm(q[-4:])
    expected = kn.derive(leg).function("forward")(0.0, q, v, tau=np.zeros(leg.nv))
    for system in (alone, placed):
        found = kn.derive(system).function("forward")(0.0, q, v, tau=np.zeros(leg.nv))
        assert found == pytest.approx(expected, rel=1e-10)


MEASURES = (
    *(
        "Foot.x",
        "Foot.vy",
        "v(Foot in Shank).y",
        "v(Foot in Thigh).z",
        "w(Shank in Thigh).x",
        "w(Thigh).y",
        "|v(Foot)|",
    ),
    *("|w(Shank)|", "|r(Foot)|", "|r(Foot)|'", "r(Foot in Shank).z", "dot(v(Foot), r(Shank))", "|v(Foot) - v(Shank)|"),
)


def test_on_a_body_it_measures_against_that_body(folder: Path) -> None:
    shown = "".join(f"output o{i} = {text};" for i, text in enumerate(MEASURES))
    (folder / "measured.kin").write_text(LEG.replace("output Foot.position, energy,", f"{shown} output"))
    leg = kn.load(folder / "measured.kin")
    disk = "parameters w = 2; Disk | Sx(3 + t^2), Rz(w*t), Rx(0.3*t), Sy(0.5) = 1, 1, 1, 1;"
    used = kn.loads(f'gravity 9.81; {disk} use "measured.kin" as x on Disk at Ry(0.3);', str(folder / "m.kin"))
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-1, 1, leg.nq), rng.uniform(-1, 1, leg.nv)
    q[-4:] /= np.linalg.norm(q[-4:])
    found, expected = (
        kn.derive(
            s.replace(outputs=[o for o in s.outputs if "o" in o.name and "push" not in o.name and "tip" not in o.name])
        ).function("outputs")(0.7, q, v)
        for s in (used, leg)
    )
    assert len(found) == len(MEASURES)
    assert found == pytest.approx(expected, rel=1e-11)


@pytest.mark.slow
def test_the_formalisms_agree_on_models_within_models(folder: Path) -> None:
    system = read(folder, 'use "leg.kin" as left on Trunk at Sx(0.3);').replace(contacts=[], switches=[], outputs=[])
    assert kn.verify(system, states=2, digits=0).holds


def test_models_are_used_in_repetitions_and_count_by_their_constants(folder: Path) -> None:
    system = read(folder, 'for i in 1..3 : use "chain.kin" as c[i] on Trunk at Sx(i) with N = i;')
    assert [b.name for b in system.bodies if "B" in b.name] == [
        f"c[{i}].B[{k}]" for i in (1, 2, 3) for k in range(1, i + 1)
    ]
    reads_back(system)


def test_initial_values_and_outputs_of_the_user_go_before(folder: Path) -> None:
    system = read(folder, 'use "leg.kin" as left; initial left.knee = 0.7; output left.tip = left.hip;')
    assert system.initial["left.knee"].value == 0.7
    assert system.outputs["left.tip"] == kn.symbol("left.hip")


HOPPER = """
parameters k = 100 N/m;
B | Sx(x), Sz(z) = 1;
coordinates x, z;
contact c : point between B and ground axis (0, 0, 1), friction = 0.4;
spring s = k, 0.1 m on z;
"""


def test_outputs_that_are_names_of_forces_show_those_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "hopper.kin").write_text(HOPPER + "output lambda.c.n, lambda.s, tau[x'], t, z'', B.vx;")
    for place in ("", " on Arm at Rz(1)"):
        arm = "parameters l = 1 m; Arm | Rz(a), Sx(l) = 1, 1, 1, 1; coordinates a;"
        system = kn.loads(f'{arm} use "hopper.kin" as u{place};', str(tmp_path / "m.kin"))
        names = ["lambda.u.c.n", "lambda.u.s", "tau[u.x']", "u.t", "u.z''", "u.B.vx"]
        assert system.outputs.keys() == names
        assert [str(x) for x in system.outputs.values()] == [*names[:3], "t", *names[4:]]
        reads_back(system)


def test_the_ground_of_a_model_on_a_body_bears_its_contacts_there(tmp_path: Path) -> None:
    (tmp_path / "hopper.kin").write_text(HOPPER)
    car = "parameters w = 3; Car | Sx(X), Ry(0.2*sin(w*t)) = 5, 1, 1, 1; coordinates X;"
    used = kn.loads(f'{car} use "hopper.kin" as u on Car at Sz(0.3 m), Ry(0.1 rad);', str(tmp_path / "m.kin"))
    by_hand = kn.loads(
        f"{car} parameters u.k = 100 N/m; frame u.ground ~ Car | Sz(0.3), Ry(0.1); u.B ~ u.ground | Sx(u.x), Sz(u.z) = 1;"
        "coordinates u.x, u.z; contact u.c : point between u.B and u.ground axis (0, 0, 1), friction = 0.4;"
        "spring u.s = u.k, 0.1 m on u.z;",
        str(tmp_path / "m.kin"),
    )
    assert used == by_hand


PILE = """
parameters r = 0.1 m;
A | Sx(x), Sz(z) = 1; B | Sx(u), Sz(w) = 1;
coordinates x, z, u, w;
contact pile : ball = r among A, B and plane among ground axis (0, 0, 1), friction = 0.3;
"""


def test_forces_of_pairs_have_the_names_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "pile.kin").write_text(PILE + "output lambda.pile.A.B.n, load = lambda.pile.B.ground.n;")
    tray = "parameters l = 1 m; Tray | Sx(s) = 1; coordinates s;"
    for place in ("", " on Tray at Sz(l)"):
        system = kn.loads(f'{tray} use "pile.kin" as u{place};', str(tmp_path / "m.kin"))
        assert system.contacts[0].rows(system)[::3] == ("u.pile.A.B.n", "u.pile.A.ground.n", "u.pile.B.ground.n")
        assert list(map(str, system.outputs.values())) == ["lambda.u.pile.A.B.n", "lambda.u.pile.B.ground.n"]


def test_names_of_contacts_within_are_those_of_the_model(folder: Path) -> None:
    (folder / "hopper.kin").write_text(
        "B | Sz(z), Ry(p) = 1, 1, 1, 1; coordinates z, p; point L on B = (-1, 0, 0); point R on B = (1, 0, 0);"
        "contact feet : point between L, R and ground axis (0, 0, 1); output n = lambda.feet.L.n; initial z = 1;"
    )
    system = read(folder, 'use "hopper.kin" as a on Trunk;')
    (contact,) = system.contacts
    assert contact.rows(system)[::3] == ("a.feet.L.n", "a.feet.R.n")
    assert system.outputs["a.n"] == kn.symbol("lambda.a.feet.L.n")


def test_without_gravity_of_its_own_a_model_says_that_it_has_none(folder: Path) -> None:
    with pytest.warns(kn.KinetaWarning, match="the gravity of 'leg' is left out, and there is none here"):
        kn.loads('parameters a = 1; use "leg.kin" as left;', str(folder / "m.kin"))


EXAMPLE = '; for example, use "leg.kin" as left at Sx(a) with m = 2.'
BAD = [
    ('use "leg2.kin" as left;', "m.kin:4:5: {}leg2.kin: there is no such file. Did you mean 'leg.kin'?"),
    (
        'use "leg.kim" as left;',
        'm.kin:4:5: {}leg.kim: expected the file of a model, as in "leg.kin" or "robot.urdf".',
    ),
    (
        'use "leg.kin" as left on Trnk;',
        "Body 'left.ground' (m.kin:4:18): base 'Trnk' does not exist. Did you mean 'Trunk'?",
    ),
    (
        'point P on Trunk = (1, 0, 0); use "leg.kin" as left on P;',
        "Body 'left.ground' (m.kin:4:48): expected a body for its base, found the point 'P' of 'Trunk'. Write Trunk, and motions "
        "to the point.",
    ),
    (
        'use "leg.kin" as left on left.Foot;',
        "Body 'left.ground' (m.kin:4:18): expected a body for its base, found the point 'left.Foot' of 'left.Shank'. Write "
        "left.Shank, and motions to the point.",
    ),
    (
        'use "leg.kin" as left on left.Shank;',
        "Body 'left.ground' (m.kin:4:18): the bases form a cycle: left.ground ~ left.Shank ~ left.Thigh ~ left.ground. One must "
        "stand on the ground.",
    ),
    (
        'use "leg.kin" as left on Trunk at Sx(3 kg);',
        "m.kin:4:38: the shift of Sx must be a length [m], found a mass [kg].",
    ),
    (
        'use "leg.kin" as left with q = 3;',
        "m.kin:4:18: model 'leg' has no parameter 'q'. There are a, b, m, k, on, J.",
    ),
    ('use "leg.kin" as left with m = 3 s;', "m.kin:4:32: the value of 'm' must be a mass [kg], found a time [s]."),
    (
        'use "leg.kin" as left with m = 1, k = 2, m = 3;',
        "m.kin:4:42: 'm' is given twice for model 'left', first at m.kin:4:28.",
    ),
    (
        'use "leg.kin" as left with J = M;',
        "m.kin:4:18: 'J' of model 'leg' is a constant; expected a number for it, found 'M'.",
    ),
    (
        'use "leg.kin" as left with on = M;',
        "m.kin:4:18: 'on' of model 'leg' is a parameter that a switch sets; expected a number for it, found 'M'.",
    ),
    (
        'use "leg.kin" as left with m = b.x;',
        "Body 'left.Thigh' (leg.kin:6:1): 'left.m' holds the coordinate 'b.x', which has no place here; expected "
        "parameters only.",
    ),
    ('use "leg.kin" as Trunk;', "m.kin:4:18: Model 'm': the name 'Trunk' of a model in it is taken. Choose another."),
    ('use "leg.kin" left;', f"m.kin:4:15: expected 'as', found 'left'{EXAMPLE}"),
    ("use leg as left;", f"m.kin:4:5: expected the name of a file in quotes, found 'leg'{EXAMPLE}"),
    (
        'use "first.kin" as left;',
        "second.kin:1:20: a model cannot be part of itself: 'first.kin' uses 'second.kin' uses 'first.kin'. "
        "It is used at first.kin:1:20. It is used at m.kin:4:5.",
    ),
    ('use "bad.kin" as left;', "Body 'B' (bad.kin:2:1): base 'C' does not exist. It is used at m.kin:4:5."),
    (
        'use "leg.kin" as left; force f = 1 on left.hep;',
        "Force 'f' (m.kin:4:39): unknown symbol 'left.hep'. Did you mean 'left.hip'?",
    ),
    (
        'use "leg.kin" as left; initial left.hip = 3 m;',
        "m.kin:4:43: initial 'left.hip' must be an angle or a number without dimension, found a length [m].",
    ),
    (
        'use "swing.kin" as left on Trunk;',
        "m.kin:4:20: 'a(A).x' of model 'swing' is an acceleration against its ground, which moves with 'Trunk'; write it where "
        "the model is used, as in the acceleration of 'left.A' there.",
    ),
    (
        'for i in 1..6 : use "leg.kin" as leg[i] on Trunk; force f on leg[7].Thigh = (1, 0, 0);',
        "m.kin:4:62: expected a point or a body, found 'leg[7].Thigh'. There are leg[1].Thigh to leg[6].Thigh.",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=lambda x: x[-40:])
def test_a_wrong_use_is_refused_with_a_sentence(folder: Path, text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        read(folder, text)
    assert str(raised.value).replace(f"{folder}/", "") == message.format("")


def test_constants_of_a_used_model_are_given_where_the_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "row.kin").write_text("constants J = 2, N = 3; for i in 1..N : B[i] | Rz(q[i]) = Jz(J*i);")
    (tmp_path / "two.kin").write_text('use "row.kin" as a; use "row.kin" as b with J = 5; force f = 1 on a.q[1];')
    model = tmp_path / "two.kin"
    system = kn.load(model, constants={"a.J": 4, "b.N": 1, "b.J": 7})
    assert [b.name for b in system.bodies] == ["a.B[1]", "a.B[2]", "a.B[3]", "b.B[1]"]
    inertia = kn.derive(system).function("mass_matrix")(0.0, [0.0] * 4, [0.0] * 4)
    assert inertia.diagonal().tolist() == [4.0, 8.0, 12.0, 7.0]


def test_a_height_within_a_placed_model_says_where_it_may_stand(tmp_path: Path) -> None:
    ground = "contact c : point between T and ground axis (0, 0, 1) height 0.1*r(T).x;"
    (tmp_path / "wave.kin").write_text(f"T | Sx(x), Sz(z) = 1; coordinates x, z; {ground}")
    whole = kn.loads('parameters p; use "wave.kin" as w;', str(tmp_path / "m.kin"))
    assert (
        kn.dumps(whole).splitlines()[-1]
        == "contact w.c : point between w.T and ground axis (0, 0, 1) height 0.1*w.T.x;"
    )
    with pytest.raises(
        kn.ModelError, match=r"The ground of model 'w' is the frame 'w\.ground' here; write the contact beside"
    ):
        kn.loads('parameters p; use "wave.kin" as w at Sx(1);', str(tmp_path / "m.kin"))


def test_a_state_keeps_its_unit_beside_a_parameter_of_that_name() -> None:
    tank = kn.loads("parameters m = 2 kg; A | Sx(x) = m; coordinates x; state z in m : z' = (x - z)/1 s;")
    (state,) = kn.System("plant", [], parameters={}, use=[tank.placed("tank")]).states
    assert (state.name, state.unit) == ("tank.z", "m")

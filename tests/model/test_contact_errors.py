"""Every mistake in a contact, a limit, dry friction or a switch: what is said of it, and where it points."""

from __future__ import annotations

from typing import Any

import pytest

import kineta as kn
from tests.model.test_contacts import MODEL

BAD = [
    (
        "contact c : point between Fot and ground axis (0, 0, 1);",
        "touch:14:27: expected a point or a body, found 'Fot'. Did you mean 'Foot'?",
    ),
    (
        "contact c : point between Foot and ground;",
        "touch:14:36: the plane of contact 'c' needs its normal, as in ground axis (0, 0, 1).",
    ),
    (
        "contact c : point between Foot and Foot axis (0, 0, 1);",
        "Contact 'c' (touch:14:27): expected two bodies that move against each other, found 'Foot' twice.",
    ),
    (
        "contact c : point between Foot and Toe axis (0, 0, 1);",
        "Contact 'c' (touch:14:27): 'Foot' and 'Toe' are fixed to each other; expected two bodies that move "
        "against each other.",
    ),
    (
        "contact c : point between Hook and Wedge axis (0, 0, 1);",
        "Contact 'c' (touch:14:9): 'ground' and 'Wedge' are fixed to each other; expected two bodies that "
        "move against each other.",
    ),
    (
        "contact c : pont between Foot and ground axis (0, 0, 1);",
        "Contact 'c' (touch:14:13): expected a shape (point, wheel, disk, ball, torus, ellipsoid, capsule, "
        "box), found 'pont'. Did you mean 'point'?",
    ),
    (
        "contact c : wheel = a between Foot and ground axis (0, 0, 1);",
        "Contact 'c' (touch:14:13): a wheel needs its axis, as in 'Foot axis (0, 1, 0)'.",
    ),
    (
        "contact c : wheel = a on ball = a between Foot axis (0, 1, 0) and Ball;",
        "Contact 'c' (touch:14:13): expected a point, a ball, a capsule or a box on a ball, found 'wheel', which touches "
        "planes only.",
    ),
    (
        "contact c : ball = a on bal = a between Foot and Ball;",
        "Contact 'c' (touch:14:25): expected a surface (ball, capsule, box), or none for a plane, found 'bal'. Did you mean "
        "'ball'?",
    ),
    (
        "contact c : box = a, a, a on ball = a between Foot and Ball;",
        "Contact 'c' (touch:14:30): expected the box as the surface: ball = ... on box = ..., with the places exchanged.",
    ),
    (
        "contact c : ball = a on capsule = a, L between Foot and Ball;",
        "Contact 'c' (touch:14:25): a capsule needs its axis, as in 'Ball axis (0, 1, 0)'.",
    ),
    (
        "contact c : ball = a on box = a, L between Foot and Ball;",
        "Contact 'c' (touch:14:25): a box has 3 sizes, side along x, side along y, side along z, found a, L.",
    ),
    (
        "contact c : ball = a on ball = a between Foot and Ball axis (0, 0, 1);",
        "Contact 'c' (touch:14:13): a ball has no axis; leave it out.",
    ),
    (
        "contact c : ball = a on ball = -1 between Foot and Ball;",
        "Contact 'c' (touch:14:13): expected a radius above zero, found -1.",
    ),
    (
        "contact c : ball = a on ball = a between Foot and Toe;",
        "Contact 'c' (touch:14:42): 'Foot' and 'Toe' are fixed to each other; expected two bodies that move against each "
        "other.",
    ),
    (
        "contact c : box = a, a, a on box = a, a, a between Foot and Ball, stiffness = 100;",
        "Contact 'c' (touch:14:13): a box on a box has no stiffness; give balls or points on it.",
    ),
    (
        "contact c : point between Foot axis (0, 1, 0) and ground axis (0, 0, 1);",
        "Contact 'c' (touch:14:13): a point has no axis; leave it out.",
    ),
    (
        "contact c : point = 0.2 between Foot and ground axis (0, 0, 1);",
        "Contact 'c' (touch:14:13): a point has no size, found 0.2.",
    ),
    (
        "contact c : ball between Foot and ground axis (0, 0, 1);",
        "Contact 'c' (touch:14:13): a ball has 1 size, radius, found none.",
    ),
    (
        "contact c : ball = a, a between Foot and ground axis (0, 0, 1);",
        "Contact 'c' (touch:14:13): a ball has 1 size, radius, found a, a.",
    ),
    (
        "contact c : ball = -a between Foot and ground axis (0, 0, 1);",
        "Contact 'c' (touch:14:13): expected a radius above zero, found -0.3.",
    ),
    (
        "contact c : ball = 2 s between Foot and ground axis (0, 0, 1);",
        "touch:14:20: a size of the ball 'c' must be a length [m], found a time [s].",
    ),
    (
        "contact c : ball = x between Foot and ground axis (0, 0, 1);",
        "Contact 'c' (touch:14:20): the coordinate 'x' has no place here; expected parameters only.",
    ),
    (
        "contact c : wheel = a between Foot axis (0, 1, 0), Heel axis (1, 0, 0) and ground axis (0, 0, 1);",
        "touch:14:52: expected one axis for all places, in the axes of the body of each, found another one at 'Foot'.",
    ),
    (
        "contact c : point between Foot, Heel, Foot and ground axis (0, 0, 1);",
        "Contact 'c' (touch:14:27): the place 'Foot' is given twice.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), restitution = 1.5;",
        "Contact 'c' (touch:14:9): expected a restitution from 0 to 1, found 1.5.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), restitution = -e;",
        "Contact 'c' (touch:14:9): expected a restitution from 0 to 1, found -0.5.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), restitution = q1;",
        "Contact 'c' (touch:14:73): the coordinate 'q1' has no place here; expected parameters only.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), restitution = 0.5 m;",
        "touch:14:73: the restitution of contact 'c' must be a number without a unit, found a length [m].",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), restitution = 0.5 poison;",
        "touch:14:73: Expected a unit, found 'poison'.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), restitution = e poison;",
        "touch:14:75: expected '(', ',', ';', 'newton', 'poisson', 'kelvin_voigt' or 'hunt_crossley', 'while' or an operator, "
        "found 'poison'.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), friction = -0.2;",
        "Contact 'c' (touch:14:9): expected a coefficient of friction of zero or more, found -0.2.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), friction = 0.5 newton;",
        "touch:14:74: 'friction' has no law; leave out 'newton'.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), friction = 0.5, friction = 0.4;",
        "touch:14:75: 'friction' is given twice.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), friction = 0.5, static = 0.4;",
        "Contact 'c' (touch:14:9): expected static friction of at least the sliding one, 0.5, found 0.4.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), static = 0.4;",
        "Contact 'c' (touch:14:9): 'static' says nothing without friction; give a coefficient of friction, "
        "or leave 'static' out.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), friction = 0.5, smooth = 0;",
        "Contact 'c' (touch:14:9): expected 'smooth' above zero, found 0.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), friction = 0.5, smooth = 1 mm;",
        "touch:14:84: the speed smooth of contact 'c' must be a velocity [m/s], found a length [m].",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), friction = 0.5, static = 0.6, smooth = 0.1;",
        "Contact 'c' (touch:14:9): smooth friction never sticks; leave out 'static' or 'smooth'.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1), frction = 0.5;",
        "touch:14:59: expected an option (restitution, friction, static, smooth, stiffness, damping), found "
        "'frction'. Did you "
        "mean 'friction'?",
    ),
    (
        "contact c : point between Heel, Foot and ground axis (0, 0, 1) height 0.1*Heel.x;",
        "Contact 'c' (touch:14:9): only a single point or round shape, and a plane of the ground, may have a height "
        "between them.",
    ),
    (
        "contact c : box = a, a, a between Heel and ground axis (0, 0, 1) height 0.1*Heel.x;",
        "Contact 'c' (touch:14:9): only a single point or round shape, and a plane of the ground, may have a height "
        "between them.",
    ),
    (
        "contact c : point between Heel and Wedge axis (0, 0, 1) height 0.1*Heel.x;",
        "Contact 'c' (touch:14:9): only a single point or round shape, and a plane of the ground, may have a height "
        "between them.",
    ),
    (
        "contact c : point between Heel and ground axis (0, 0, 1) height 0.1*Foot.x;",
        "Contact 'c' (touch:14:69): expected a height over Heel.x, Heel.y, Heel.z, parameters and the time, "
        "found 'Foot.x' in it.",
    ),
    (
        "contact c : point between Heel and ground axis (0, 0, 1) height 0.1*r(Foot).x;",
        "Contact 'c' (touch:14:9): expected a height over Heel.x, Heel.y, Heel.z, parameters and the time, "
        "found 'Foot.x' in it.",
    ),
    (
        "contact c : point between Heel and ground axis (0, 0, 1) height 0.1*q1;",
        "Contact 'c' (touch:14:69): expected a height over Heel.x, Heel.y, Heel.z, parameters and the time, "
        "found 'q1' in it.",
    ),
    (
        "contact c : point between Foot at (1, 0, 0) and ground axis (0, 0, 1) height 0.1*Foot.x;",
        "Contact 'c' (touch:14:27): a height needs a name for its place; describe it, as in point P on Foot "
        "= (0, 0, 0).",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1) height 2 s;",
        "touch:14:65: the height of contact 'c' must be a length [m], found a time [s].",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1); limit c : q1 >= 0;",
        "Limit 'c' (touch:14:65): the name is taken by a contact described before (touch:14:9). Choose another.",
    ),
    (
        "constraint c : x = 0; limit c : q1 >= 0;",
        "Limit 'c' (touch:14:29): the name is taken by a constraint described before (touch:14:12). Choose another.",
    ),
    (
        "limit c : q1 >= 0; when c : q1 >= 2 : stop;",
        "Switch 'c' (touch:14:25): the name is taken by a limit described before (touch:14:7). Choose another.",
    ),
    ("limit c : q1 > 0;", "touch:14:14: expected '>=' or '<=', found '>'. Did you mean '>='?"),
    ("limit c : q1 = 0;", "touch:14:14: expected '<=' or '>=', found '='; for example, limit stop : -1 <= q <= 1."),
    ("limit c : 0 <= q1 >= 1;", "touch:14:19: expected '<=', so that both comparisons go one way, found '>='."),
    ("limit c : 2 <= q1 <= 1;", "Limit 'c' (touch:14:7): expected a lower bound below the upper one, found 2 and 1."),
    ("limit c : 2 <= q1 <= 2;", "Limit 'c' (touch:14:7): expected a lower bound below the upper one, found 2 and 2."),
    (
        "limit c : L <= 2;",
        "Limit 'c' (touch:14:7): no motion changes 'L'; expected an expression of coordinates, or of points that move.",
    ),
    (
        "limit c : Hook.x >= 2;",
        "Limit 'c' (touch:14:7): no motion changes 'Hook.x'; expected an expression of coordinates, or of "
        "points that move.",
    ),
    (
        "limit c : t >= 2;",
        "Limit 'c' (touch:14:7): no motion changes 't'; expected an expression of coordinates, or of points that move.",
    ),
    (
        "limit c : q1' >= 2;",
        "Limit 'c' (touch:14:11): the speed 'q1'' has no place here; expected coordinates, parameters, the "
        "time and positions of points only.",
    ),
    (
        "limit c : Heel.vx >= 2;",
        "Limit 'c' (touch:14:11): the velocity 'Heel.vx' has no place here; expected coordinates, "
        "parameters, the time and positions of points only.",
    ),
    ("limit c : q9 >= 2;", "Limit 'c' (touch:14:11): unknown symbol 'q9'."),
    ("limit c : x >= 2 s;", "touch:14:16: a bound of limit 'c' must be a length [m], found a time [s]."),
    ("limit c : q1 >= 0, restitution = 2;", "Limit 'c' (touch:14:7): expected a restitution from 0 to 1, found 2."),
    (
        "limit c : q1 >= 0, friction = 2;",
        "touch:14:20: expected an option (restitution), found 'friction'. Did you mean 'restitution'?",
    ),
    (
        "friction c = 1 on q1';",
        "Friction 'c' (touch:14:19): expected an expression of the position, found the speed 'q1''; friction "
        "acts against the rate of what it is on: write on q1.",
    ),
    (
        "friction c = 1 N on x';",
        "Friction 'c' (touch:14:21): expected an expression of the position, found the speed 'x''; friction "
        "acts against the rate of what it is on: write on x.",
    ),
    (
        "friction c = 1 on Heel.vx;",
        "Friction 'c' (touch:14:19): the velocity 'Heel.vx' has no place here; expected coordinates, "
        "parameters, the time and positions of points only.",
    ),
    (
        "friction c = 1 on b.wx;",
        "Friction 'c' (touch:14:19): expected an expression of the position, found the speed 'b.wx'.",
    ),
    (
        "friction c = 1 on L;",
        "Friction 'c' (touch:14:10): no motion changes 'L'; expected an expression of coordinates, or of "
        "points that move.",
    ),
    ("friction c = -1 on q1;", "Friction 'c' (touch:14:10): expected a force of zero or more, found -1."),
    (
        "friction c = 1, static = 0.5 on q1;",
        "Friction 'c' (touch:14:10): expected static friction of at least the sliding one, 1, found 0.5.",
    ),
    (
        "friction c = 1, static = 3, smooth = 1 on q1;",
        "touch:14:10: friction 'c': smooth friction never sticks; leave out 'static' or 'smooth'.",
    ),
    ("friction c = 1, smooth = -1 on q1;", "Friction 'c' (touch:14:10): expected 'smooth' above zero, found -1."),
    (
        "friction c = 1, smooth = q1 on q1;",
        "Friction 'c' (touch:14:26): the coordinate 'q1' has no place here; expected parameters only.",
    ),
    (
        "friction c = 1 N on q1;",
        "touch:14:14: the force of friction 'c' on an angle or a number without dimension must be a couple "
        "or an energy [kg*m^2/s^2], found a force [kg*m/s^2].",
    ),
    (
        "friction c = 1, static = 2 N on q1;",
        "touch:14:26: the static force of friction 'c' on an angle or a number without dimension must be a "
        "couple or an energy [kg*m^2/s^2], found a force [kg*m/s^2].",
    ),
    (
        "friction c = 1, smooth = 2 m/s on q1;",
        "touch:14:26: the rate of friction 'c' must be a rate or an angular velocity [1/s], found a velocity [m/s].",
    ),
    (
        "friction c = 1, stat = 2 on q1;",
        "touch:14:17: expected an option (static, smooth), found 'stat'. Did you mean 'static'?",
    ),
    ("friction c = 1 on q9;", "Friction 'c' (touch:14:19): unknown symbol 'q9'."),
    ("when c : q1 >= 1 : s;", "touch:14:20: expected a new value, as in s = 0, or stop, found 's'."),
    (
        "when c : q1 >= 1 : g = 2;",
        "Switch 'c' (touch:14:20): 'g' is a constant, folded into the equations; a parameter may be set.",
    ),
    (
        "when c : q1 >= 1 : k = 2;",
        "Switch 'c' (touch:14:20): expected a parameter, a coordinate, a speed or a state, found 'k'.",
    ),
    (
        "when c : q1 >= 1 : reach = 2;",
        "Switch 'c' (touch:14:20): expected a parameter, a coordinate, a speed or a state, found 'reach'.",
    ),
    (
        "when c : q1 >= 1 : b.qw = 1;",
        "Switch 'c' (touch:14:20): a quaternion is set as a whole: b.qw, b.qx, b.qy, b.qz.",
    ),
    ("when c : q1 >= 1 : s = 1, s = 2;", "Switch 'c' (touch:14:20): 's' is set twice."),
    (
        "when c : q1 >= 1 and m == 2 : s = 1;",
        "Switch 'c' (touch:14:22): expected a guard on a parameter that a switch sets, found 'm', which none sets.",
    ),
    (
        "when c : q1 >= 1 and q2 == 2 : s = 1;",
        "Switch 'c' (touch:14:22): expected a guard on a parameter that a switch sets, found 'q2', which none sets.",
    ),
    (
        "when c : q1 >= 1 and s == q1 : s = 1;",
        "touch:14:27: the guard 's': expected numbers and parameters, found 'q1', which changes in a run.",
    ),
    (
        "when c : q1 >= 1 and s = 1 : s = 1;",
        "touch:14:24: expected '==', found '=': behind 'and' and 'while' stand values of parameters, as in s == 1; two "
        "conditions are one in min(f, g) >= 0.",
    ),
    (
        "when c : q1 >= 1 : s = energy;",
        "Switch 'c' (touch:14:24): the energy 'energy' has no place here; expected coordinates, speeds, "
        "parameters, the time, positions and velocities of points, accelerations and forces only.",
    ),
    ("when c : k9 >= 1 : s = 1;", "Switch 'c' (touch:14:10): unknown symbol 'k9'."),
    (
        "when c : L >= 1 : s = 1;",
        "Switch 'c' (touch:14:6): nothing changes 'L - 1' in a run; expected coordinates, speeds or the time in it.",
    ),
    (
        "when c : q1 >= 1 s : s = 1;",
        "touch:14:16: the right side of switch 'c' must be an angle or a number without dimension, found a time [s].",
    ),
    (
        "when c : t >= 1 m : s = 1;",
        "touch:14:15: the right side of switch 'c' must be a time [s], found a length [m].",
    ),
    (
        "when c : q1 >= 1 : q1 = 2 m;",
        "touch:14:25: the new value of 'q1' must be an angle or a number without dimension, found a length [m].",
    ),
    ("when c : q1 >= 1 : m = 2 m;", "touch:14:24: the new value of 'm' must be a mass [kg], found a length [m]."),
    (
        "when c : q1 >= 1 : s = 1;  when c : q1 >= 2 : s = 1;",
        "Switch 'c' (touch:14:33): the name is taken by a switch described before (touch:14:6). Choose another.",
    ),
    (
        "when c : q1 == 1 : s = 1;",
        "touch:14:13: expected '<=' or '>=' or 'strikes', found '='; for example, when cold : T <= low and on == 0 : on = 1.",
    ),
    (
        "when c : q1 strikes : s = 1;",
        "Switch 'c' (touch:14:10): the model has no contact or limit 'q1'. It has none.",
    ),
    (
        "limit stop : q1 <= 1; when c : stp strikes : s = 1;",
        "Switch 'c' (touch:14:32): the model has no contact or limit 'stp'. Did you mean 'stop'?",
    ),
    (
        "limit stop : q1 <= 1; when c : stop.lower strikes : s = 1;",
        "Switch 'c' (touch:14:32): the model has no contact or limit 'stop.lower'. Did you mean 'stop.upper'?",
    ),
    (
        "limit stop : q1 <= 1; when c : 2*stop strikes : s = 1;",
        "touch:14:32: expected the name of a contact or a limit before 'strikes', found '2*stop'.",
    ),
    (
        "friction d = 1 N*m on q1; when c : d strikes : s = 1;",
        "Switch 'c' (touch:14:36): 'd' is dry friction, which never strikes; expected a contact or a limit.",
    ),
    (
        "limit c : q1 <= 1 while q2 == 1;",
        "Limit 'c' (touch:14:25): expected a condition on a parameter, found 'q2'.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1) while s == q1;",
        "touch:14:69: the condition 's': expected numbers and parameters, found 'q1', which changes in a run.",
    ),
    (
        "friction c = 1, smooth = 1 rad/s on q1 while s == 1;",
        "touch:14:10: friction 'c': smooth friction is a force and always there; leave out 'smooth', or give the force a factor "
        "in place of conditions.",
    ),
    (
        "limit c : q1 <= 1 while s >= 1;",
        "touch:14:27: expected '==', found '>=': behind 'and' and 'while' stand values of parameters, as in s == 1; two "
        "conditions are one in min(f, g) >= 0.",
    ),
    (
        "when c : q1 >= 1;",
        "touch:14:17: expected ':' or 'and', found ';'; for example, when cold : T <= low and on == 0 : on = 1.",
    ),
    (
        "output lambda.c.n;",
        "Output 'lambda.c.n' (touch:14:8): unknown symbol 'lambda.c.n'. Such names are of the forces of contacts, limits, "
        "friction, constraints and elements; the model has none.",
    ),
    (
        "contact c : point between Foot and ground axis (0, 0, 1); limit d : q1 >= 0; output lambda.k.n;",
        "Output 'lambda.k.n' (touch:14:85): unknown symbol 'lambda.k.n'. Did you mean 'lambda.c.n'? Forces with names: "
        "lambda.c.n, lambda.c.u, lambda.c.w, lambda.d.lower.",
    ),
    (
        "friction d = 1 N*m on q1; force c = lambda.d on q1;",
        "Force 'c' (touch:14:37): the force 'lambda.d' has no place here; expected coordinates, speeds, parameters, the "
        "time, positions and velocities of points only. It follows from the motion.",
    ),
    ("when c : q1 < 1 : stop;", "touch:14:13: expected '>=' or '<=', found '<'. Did you mean '<='?"),
    (
        "quasi u1 = x', u2 = z', u3 = q1', u4 = q2', u5 = b.vx, u6=b.vy, u7=b.vz, u8=b.wx, u9=b.wy, "
        "u10=b.wz; when c : q1 >= 1 : q1' = 2;",
        "Switch 'c' (touch:14:121): expected one of the speeds u1, u2, u3, u4, u5, u6, u7, u8, u9, u10, "
        "which are quasi-velocities, found 'q1''.",
    ),
]


@pytest.mark.parametrize(("statement", "message"), BAD, ids=[f"{b} {m}"[:90] for b, m in BAD])
def test_mistakes_are_named_with_their_place(statement: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(MODEL + statement, "touch")
    assert str(raised.value) == message


ABUSED = [
    (
        {"contacts": [kn.limit("c", kn.symbol("q1"))]},
        "Limit 'c': expected a lower bound, an upper one, or both, found none.",
    ),
    (
        {"contacts": [kn.contact("c", "point", [], "ground", normal=(0, 0, 1))]},
        "Contact 'c': expected a place that may touch, found none.",
    ),
    (
        {"contacts": [kn.contact("c", "point", "Foto", "ground", normal=(0, 0, 1))]},
        "Contact 'c': body 'Foto' does not exist. Did you mean 'Foot'?",
    ),
    (
        {"switches": [kn.switch("c", kn.symbol("q1"))]},
        "Switch 'c': expected something to do: new values, or stop, found nothing.",
    ),
    (
        {"switches": [kn.switch("c", stop=True)]},
        "Switch 'c': expected an expression that rises through zero, or a contact that strikes, found neither.",
    ),
    (
        {"switches": [kn.switch("c", kn.symbol("q1"), strikes="foot", stop=True)]},
        "Switch 'c': expected an expression that rises through zero, or a contact that strikes, found both.",
    ),
]


@pytest.mark.parametrize(("change", "message"), ABUSED, ids=[m for _, m in ABUSED])
def test_mistakes_from_python_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(MODEL).replace(**change)
    assert str(raised.value) == message


def test_a_law_of_restitution_is_one_of_two() -> None:
    with pytest.raises(kn.ArgumentError, match=r"poison.*Did you mean 'poisson'\?"):
        kn.limit("c", kn.symbol("q1"), 0, law="poison")


def test_names_that_were_taken_for_parameters_are_told() -> None:
    """Without a list of coordinates, names in shifts are parameters."""
    text = "A | Sx(x0) = 1; B | Sx(x1) = 1; limit s : x1 - x0 >= 0;"
    with pytest.raises(
        kn.ModelError, match=r"no motion changes 'x1 - x0', for 'x0', 'x1' are taken for parameters \(list the"
    ):
        kn.loads(text)
    with pytest.raises(kn.ModelError, match=r"no motion changes 'x1 - x0'; expected"):
        kn.loads(text + " parameters x0 = 1, x1 = 1; coordinates y; C | Sx(y) = 1;")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"friction": -1}, "Contact 'f': expected a coefficient of friction of zero or more, found -1."),
        ({"restitution": 1.5}, "Contact 'f': expected a restitution from 0 to 1, found 1.5."),
        ({"friction": 1, "smooth": 0}, "Contact 'f': expected 'smooth' above zero, found 0."),
    ],
)
def test_coefficients_are_checked_where_a_contact_is_made(given: dict[str, float], message: str) -> None:
    """In the words of the text, but for its place."""
    with pytest.raises(kn.ModelError) as raised:
        kn.contact("f", "point", "B", "ground", normal=(0, 0, 1), **given)  # type: ignore[arg-type]
    assert str(raised.value) == message
    options = ", ".join(f"{name} = {value}" for name, value in given.items())
    with pytest.raises(kn.ModelError) as told:
        kn.loads(f"B | Sz(z) = 1; coordinates z; contact f : point between B and ground axis (0, 0, 1), {options};")
    assert str(told.value).partition(": ")[2] == message.partition(": ")[2]


@pytest.mark.parametrize("option", ["friction", "static", "restitution"])
def test_a_coefficient_with_a_unit_is_refused_as_one(option: str) -> None:
    more = "friction = 0.1, " * (option == "static")
    text = (
        f"B | Sz(z) = 1; coordinates z; contact f : point between B and ground axis (0, 0, 1), {more}{option} = 0.3 m;"
    )
    with pytest.raises(kn.ModelError, match="must be a number without a unit, found a length"):
        kn.loads(text)

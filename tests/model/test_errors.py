"""Every error of a text but those of its quantities: what it says, and where it points."""

from __future__ import annotations

import pytest

import kineta as kn
from kineta.errors import KinetaError

#: Bodies, points, elements, parameters, coordinates.
NAMES = [
    ("# only a comment", "Model 'm' (m.kin:1:1): expected at least one body, found none."),
    (
        "Thigh | Rz(q1) = 1;\nShin ~ thihg | Rz(q2) = 1;",
        "Body 'Shin' (m.kin:2:1): base 'thihg' does not exist. Did you mean 'Thigh'?",
    ),
    (
        "A | Rz(q1) = 1;\nA | Rz(q2) = 1;",
        "Body 'A' (m.kin:2:1): the name is taken by a body described before (m.kin:1:1). Choose another.",
    ),
    (
        "A ~ B | Rz(q1) = 1;\nB ~ A | Rz(q2) = 1;",
        "Body 'A' (m.kin:1:1): the bases form a cycle: A ~ B ~ A. One must stand on the ground.",
    ),
    ("ground | Rz(q1) = 1;", "Body 'ground' (m.kin:1:1): the name is taken by the fixed frame. Choose another."),
    (
        "A | Rz(q1) = 1; point A on A = (0, 0, 0);",
        "Point 'A' (m.kin:1:23): the name is taken by a body described before (m.kin:1:1). Choose another.",
    ),
    (
        "A | Rz(q1) = 1; point P on A = (0, 0, 0); point P on A = (1, 0, 0);",
        "m.kin:1:49: point 'P' is described twice.",
    ),
    (
        "A | Rz(q1) = 1; spring s = 1 on q1; damper s = 1 on q1';",
        "Damper 's' (m.kin:1:44): the name is taken by a spring described before (m.kin:1:24). Choose another.",
    ),
    ("A | Rz(q1) = 1; parameters t = 1;", "Parameter 't' (m.kin:1:28): the name is taken by the time. Choose another."),
    (
        "A | Rz(q1) = 1; let a = 1, a = 2;",
        "Let 'a' (m.kin:1:28): it is given twice, first at m.kin:1:21. Give it once.",
    ),
    ("A | Rz(q1) = 1; let t = 1;", "Let 't' (m.kin:1:21): the name is taken by the time. Choose another."),
    (
        "A | Rz(q1) = 1; parameters a = 1; let a = 2;",
        "Let 'a' (m.kin:1:39): the name is taken by a parameter described before (m.kin:1:28). Choose another.",
    ),
    (
        "A | Rz(q1) = 1; let a = b; let b = c + 1, c = sin(a);",
        "Let 'a' (m.kin:1:21): the name stands for itself: a = b = c = a. One must do without the others.",
    ),
    (
        "A | Rz(q1) = 1; let a = a;",
        "Let 'a' (m.kin:1:21): the name stands for itself: a = a. One must do without the others.",
    ),
    (
        "parameters a = 1, b = 2*c; let c = 3; A | Rz(q1) = 1;",
        "m.kin:1:25: parameter 'b': expected numbers and parameters with a value given before, found 'c'.",
    ),
    (
        "A | Rz(q1) = 1; parameters a = 1, a = 2;",
        "Parameter 'a' (m.kin:1:35): it is given twice, first at m.kin:1:28. Give it once.",
    ),
    (
        "A | Rz(q1) = 1; parameters a' = 1;",
        "Parameter 'a'' (m.kin:1:28): expected a name of letters, digits and '_', not starting with a digit.",
    ),
    (
        "A | Rz(q1) = 1; output q1, q1;",
        "Output 'q1' (m.kin:1:28): it is given twice, first at m.kin:1:24. Give it once.",
    ),
    (
        "A | Ball(b) = 1; B | Ball(b) = 1;",
        "Motion 'b' (m.kin:1:27): 2 motions have this name; each Ball or Free needs its own.",
    ),
    (
        "A' | Rz(q1) = 1;",
        "Body 'A'' (m.kin:1:1): expected a name of letters, digits and '_', not starting with a digit.",
    ),
    ("A | Rz(q1) = 1; coordinates q1, q1;", "Model 'm' (m.kin:1:33): coordinate 'q1' is listed 2 times."),
    (
        "A | Rz(q1), Rz(q2) = 1; coordinates q1, q3;",
        "Model 'm' (m.kin:1:41): coordinate 'q3' is used by no motion of a body.",
    ),
    (
        "A | Rz(q1) = 1; coordinates q1';",
        "Coordinate 'q1'' (m.kin:1:29): expected a name of letters, digits and '_', not starting with a digit.",
    ),
    (
        "A | Rz(q1) = 1; coordinates t;",
        "Model 'm' (m.kin:1:29): coordinate 't' has the name of the time. Choose another.",
    ),
    (
        "A | Rz(q1), Ball(b) = 1; coordinates q1;",
        "Model 'm' (m.kin:1:18): the motion 'b' is missing from the list of coordinates; add 'b' where its "
        "block stands.",
    ),
    (
        "A | Rz(pi*q1) = 1; coordinates pi;",
        "Model 'm' (m.kin:1:32): coordinate 'pi' has the name of a number. Choose another.",
    ),
    ("A | Rz(q1) = 1; point P on B = (0, 0, 0);", "Point 'P' (m.kin:1:23): body 'B' does not exist."),
    ("A | Rz(q1) = 1; force f on B = (0, 0, 0);", "m.kin:1:28: expected a point or a body, found 'B'."),
    (
        "A | Rz(q1) = 1; force f on q1 = 3;",
        "m.kin:1:28: expected a point or a body, found 'q1'. 'q1' is a coordinate; what acts along it is written as in: "
        "force drive = 5 on q1;",
    ),
    (
        'A | Sx(x) = 1; force f = table(t; "f.csv", cubic) on x;',
        "m.kin:1:42: expected ')', ';' or an operator, found ',': words for the kind stand before the points, as in "
        'table(t; cubic; "f.csv").',
    ),
    (
        "A | Rz(q1) = 1; point P on A = (1, 0, 0); spring s = 3 between P at (0, 1, 0) and ground;",
        "m.kin:1:64: 'at' stands behind bodies, found it behind the point 'P', which has its own place; leave it out.",
    ),
    (
        "Arm | Rz(q1) = 1; spring s = 1 between Amr and ground;",
        "m.kin:1:40: expected a point or a body, found 'Amr'. Did you mean 'Arm'?",
    ),
    (
        "Arm | Rz(q1) = 1; couple c on Amr = (0, 0, 0);",
        "Couple 'c' (m.kin:1:26): body 'Amr' does not exist. Did you mean 'Arm'?",
    ),
    (
        "A | Rz(q1) = 1; couple c on A = (0, 0, 0) in grund;",
        "Couple 'c' (m.kin:1:46): expected axes 'ground', 'body' or the name of a body, found 'grund'. Did you mean 'ground'?",
    ),
    ("A | Rz(q1) = 1; constants a;", "m.kin:1:27: constant 'a': expected a value, found none."),
    (
        "A | Rz(q1) = 1; coordinates q1, energy;",
        "Model 'm' (m.kin:1:33): coordinate 'energy' has the name of an energy. Choose another.",
    ),
    (
        "A | Rz(q1) = 1; coordinates q1; state work : work' = 1;",
        "State 'work' (m.kin:1:39): the name is taken by the work of a run. Choose another.",
    ),
    (
        "A | Sx(x) = 1; coordinates x; state x : x' = -x;",
        "State 'x' (m.kin:1:37): the name is taken by a coordinate, which stands in a motion of body 'A'. Choose another; a "
        "state places no body.",
    ),
    (
        "A | Ry(q) = 1; state q : q' = 1;",
        "State 'q' (m.kin:1:22): the name is taken by a coordinate, which stands in a motion of body 'A'. Choose another; a "
        "state places no body.",
    ),
    (
        "A | Ball(b) = 1; state b : b' = 1;",
        "State 'b' (m.kin:1:24): the name is taken by a coordinate. Choose another; a state places no body.",
    ),
    (
        "A | Sx(x) = 1; C | Ball(x) = 1; coordinates x;",
        "Motion 'x' (m.kin:1:25): the name stands for a number elsewhere, too; each Ball or Free needs its own.",
    ),
    (
        "A | Rz(q1) = 1; parameters unchecked = 1;",
        "Parameter 'unchecked' (m.kin:1:28): the name is taken by a word of lists of inertia. Choose another.",
    ),
]

#: Symbols that are not known, or not meant there; values at the start.
SYMBOLS = [
    ("parameters mass = 1;\nA | Rz(q1) = mas;", "Body 'A' (m.kin:2:14): unknown symbol 'mas'. Did you mean 'mass'?"),
    (
        "parameters l = 1;\nA | Rz(q1),\n    Sx(l*cos(q1) + q5) = 1; coordinates q1;",
        "Body 'A' (m.kin:3:20): unknown symbol 'q5'. If it is a coordinate, list it: coordinates q1, q5;",
    ),
    (
        "A | Rz(q1), Sx(q1') = 1;",
        "Body 'A' (m.kin:1:16): the speed 'q1'' has no place here; expected coordinates, parameters and the time only.",
    ),
    ("A | Rz(q1) = q1;", "Body 'A' (m.kin:1:14): the coordinate 'q1' has no place here; expected parameters only."),
    (
        "parameters a; A | Rz(q1) = 1; point P on A = (0, q1, 0);",
        "Point 'P' (m.kin:1:50): the coordinate 'q1' has no place here; expected parameters only.",
    ),
    (
        "Bob | Ry(q1), Sz(-1) = 1;\noutput d = |Bob|;",
        "Output 'd' (m.kin:2:13): 'Bob' is a place and no number; |r(Bob)| is its distance from the origin, |v(Bob)| its speed.",
    ),
    ("parameters a; A | Rz(q1) = 1;\nforce f = a*q2 on q1;", "Force 'f' (m.kin:2:13): unknown symbol 'q2'."),
    (
        "parameters a; A | Rz(q1) = 1;\nforce f on A = (energy, 0, 0);",
        "Force 'f' (m.kin:2:17): the energy 'energy' has no place here; expected coordinates, speeds, "
        "parameters, the time, positions and velocities of points only.",
    ),
    ("parameters a; A | Rz(q1) = 1; initial q1 = b;", "Initial value 'q1' (m.kin:1:44): unknown symbol 'b'."),
    (
        "parameters a; A | Rz(q1) = 1; gravity q1;",
        "Model 'm' (m.kin:1:39): the coordinate 'q1' has no place here; expected parameters only.",
    ),
    (
        "parameters a; A | Rz(q1) = 1;\npoint Tip on A = (0, 0, 1);\noutput Tip.q, Tip.x;",
        "Output 'Tip.q' (m.kin:3:8): unknown symbol 'Tip.q'. Did you mean 'Tip.z'?",
    ),
    (
        "A | Rz(q1) = 1; output Tp.position; point Tip on A = (0, 0, 1);",
        "Output 'Tp.x' (m.kin:1:24): unknown symbol 'Tp.x'. Did you mean 'Tip.x'?",
    ),
    (
        "A | Rz(q1) = 1; initial q1 = 1, q2 = 2;",
        "Model 'm' (m.kin:1:33): initial 'q2' is neither a coordinate nor a speed. There are q1, q1'.",
    ),
    ("A | Rz(q1) = 1; initial q1 = 1, q1 = 2;", "Model 'm' (m.kin:1:33): initial 'q1' is given twice."),
    ("A | Rz(q1) = 1; initial q1 = (1, 2, 3);", "m.kin:1:30: initial 'q1': expected one value, found three."),
    (
        "A | Ball(b) = 1; initial b.qw = 2;",
        "Model 'm' (m.kin:1:26): the initial quaternion of 'b' has the length 2; expected 1. Give all of qw, "
        "qx, qy, qz of a turn (cos(a/2), e sin(a/2)).",
    ),
    (
        "A | Rz(q1) = 1; parameters alpha = 1, b = 2*alhpa;",
        "m.kin:1:45: parameter 'b': expected numbers and parameters with a value given before, found 'alhpa'. "
        "Did you mean 'alpha'?",
    ),
    (
        "parameters m = 1;\nB | Sx(x) = m;",
        "Body 'B' (m.kin:2:8): unknown symbol 'x'. If it is a coordinate, list it: coordinates x;",
    ),
    (
        "parameters alpha = 30 deg, m = 1, J = 0.1;\nSlider | Ry(alhpa), Sx(q1) = m, J, J, J;",
        "Body 'Slider' (m.kin:2:13): 'alhpa' is no declared parameter. Did you mean 'alpha'? If it is a coordinate, "
        "list it: coordinates alhpa, q1;",
    ),
    (
        "constants Tilt = 0.1;\nA | Rx(tilt), Rz(q1) = 1;",
        "Body 'A' (m.kin:2:8): 'tilt' is no declared parameter. Did you mean 'Tilt'? If it is a coordinate, list it: "
        "coordinates tilt, q1;",
    ),
    ("A | Rz(q'), Rz(q1) = 1;", "Body 'A' (m.kin:1:8): unknown symbol 'q''."),
]

#: Motions of bodies.
MOTIONS = [
    (
        "A | Qz(q1) = 1;",
        "m.kin:1:5: unknown motion 'Qz'; expected Rx, Ry, Rz, Sx, Sy, Sz, R[x, y, z], S[x, y, z], Ball or Free.",
    ),
    (
        "A | rz(q1) = 1;",
        "m.kin:1:5: unknown motion 'rz'; expected Rx, Ry, Rz, Sx, Sy, Sz, R[x, y, z], S[x, y, z], Ball or Free. "
        "Did you mean 'Rz'?",
    ),
    ("A | R(q1) = 1;", "m.kin:1:5: 'R' needs its axis: Rx(...), Ry(...), Rz(...) or R[x, y, z](...)."),
    (
        "A | Rz[1, 0, 0](q1) = 1;",
        "m.kin:1:5: 'Rz' takes no axis in brackets; only R[x, y, z](...) and S[x, y, z](...) do.",
    ),
    ("A | R[0, 0, 0](q1) = 1;", "m.kin:1:6: Expected an axis of non-zero, finite length, found (0, 0, 0)."),
    (
        "A | R[1, q1, 0](q1) = 1;",
        "Body 'A' (m.kin:1:10): the coordinate 'q1' has no place here; expected parameters and constants only. A direction is "
        "fixed in the axes of its body; a motion that turns, as R[0, 0, 1](q1), turns these.",
    ),
    (
        "parameters a = 0; A | R[a, 0, 2*a](q1) = 1;",
        "Body 'A' (m.kin:1:19): the direction (a, 0, 2*a) for a = 0 is (0, 0, 0); expected one of non-zero, finite length.",
    ),
    (
        "parameters a = 0; A | R[log(a), 0, 1](q1) = 1;",
        "Body 'A' (m.kin:1:19): the direction (log(a), 0, 1) for a = 0: log(0) is not a finite number.",
    ),
    (
        "let a = 0; A | S[a, 0, 0](q1) = 1;",
        "Body 'A' (m.kin:1:12): the direction (0, 0, 0) is (0, 0, 0); expected one of non-zero, finite length.",
    ),
    ("A | Ball(q1 + 1) = 1;", "m.kin:1:10: Ball takes a name, found an expression."),
]

#: Lists of inertia, and distributions of mass that no body has.
INERTIA = [
    (
        "A | Rz(q1) = 1, 2;",
        "m.kin:1:14: Body 'A': expected 1 entry (mass) or 4 (m, Jx, Jy, Jz), found 2; give other lists with "
        "keys, as in m(m1), Jz(J1), com(x, y, z).",
    ),
    (
        "A | Rz(q1) = unchecked;",
        "m.kin:1:14: Body 'A': expected 1 entry (mass) or 4 (m, Jx, Jy, Jz), found 0; give other lists with "
        "keys, as in m(m1), Jz(J1), com(x, y, z).",
    ),
    (
        "A | Rz(q1) = m(1), 2;",
        "m.kin:1:20: Body 'A': entries with and without keys are mixed; write keys on all, as in m(m1), Jz(J1).",
    ),
    ("A | Rz(q1) = Jz(1), J_z(2);", "m.kin:1:21: Body 'A': the entry Jz is given twice."),
    ("A | Rz(q1) = Jz(1, 2);", "m.kin:1:14: Body 'A': Jz takes one value, found 2."),
    ("A | Rz(q1) = 1, center = (0, 0, 0);", "m.kin:1:17: Body 'A': expected com = (x, y, z), found 'center = ...'."),
    ("A | Rz(q1) = 1, com = (0, 0, 0), com = (1, 0, 0);", "m.kin:1:34: Body 'A': the centre of mass is given twice."),
    ("A | Rz(q1) = -1;", "Body 'A' (m.kin:1:14): mass is -1 kg; expected zero or more."),
    (
        "parameters m = 1e-310; A | Rz(q1) = m, 1, 1, 1;",
        "Body 'A' (m.kin:1:37): mass is 1e-310 kg; expected zero, or 2.2e-308 and more: smaller numbers lose their digits. "
        "Choose other units.",
    ),
    (
        "A | Rz(q1) = 1, 1, 1, 1e-310;",
        "Body 'A' (m.kin:1:14): Jz is 1e-310 kg*m^2; expected zero, or 2.2e-308 and more: smaller numbers lose their digits. "
        "Choose other units.",
    ),
    ("A | Rz(q1) = 1, -1, 1, 1;", "Body 'A' (m.kin:1:14): Jx is -1 kg*m^2; expected zero or more."),
    ("parameters m = -2; A | Rz(q1) = m;", "Body 'A' (m.kin:1:33): mass is -2 kg; expected zero or more."),
    (
        "A | Rz(q1) = 1, 1, 1, 3;",
        "Body 'A' (m.kin:1:14): no body has the principal moments 1, 1, 3 kg*m^2: the largest exceeds the sum "
        "of the others. Correct them, give only the ones that matter with keys, as in Jz(J1), or add the word "
        "unchecked to the list.",
    ),
    (
        "A | Rz(q1) = m(1), Jx(1), Jy(1), Jz(1), Jxy(2);",
        "Body 'A' (m.kin:1:14): the inertia tensor has the principal moment -1 kg*m^2; expected zero or more.",
    ),
]

#: Named expressions and potentials.
LETS = [
    (
        "A | Rz(q1) = 1; parameters k; let a = kk*q1;",
        "Let 'a' (m.kin:1:39): unknown symbol 'kk'. Did you mean 'k'?",
    ),
    (
        "let a = 2*q1';\nA | Rz(q1), Sx(a) = 1;",
        "Body 'A' (m.kin:2:16): 'a' holds the speed 'q1'', which has no place here; expected coordinates, parameters and "
        "the time only.",
    ),
    (
        "A | Rz(q1) = m + length; let length = b*t; let b = 2;",
        "Body 'A' (m.kin:1:18): 'length' holds the time 't', which has no place here; expected parameters only.",
    ),
    (
        "A | Rz(q1) = 1; let a = A.vx; potential V = a^2;",
        "Potential 'V' (m.kin:1:45): 'a' holds the velocity 'A.vx', which has no place here; expected coordinates, "
        "parameters, the time and positions of points only. A force that depends on speeds is a damper, or a force on a "
        "coordinate.",
    ),
    (
        "A | Rz(q1) = 1; parameters k = 1; let stretch = q1; spring s = k on strech;",
        "Spring 's' (m.kin:1:69): unknown symbol 'strech'. Did you mean 'stretch'?",
    ),
    (
        "A | Sx(q1) = 1; let tension = 2 N; spring s = tension on q1 - 3 m;",
        "m.kin:1:47: the stiffness of spring 's' on a length [m] must be a stiffness [kg/s^2], found a force [kg*m/s^2].",
    ),
    (
        "A | Sx(q1) = 1; spring s = 2 N*m on stretch; let stretch = q1 - rest; let rest = 3 cm;",
        "m.kin:1:28: the stiffness of spring 's' on a length [m] must be a stiffness [kg/s^2], found a couple or "
        "an energy [kg*m^2/s^2].",
    ),
    (
        "A | Rz(q1) = 1; potential V = 3 N;",
        "m.kin:1:31: potential 'V' must be a couple or an energy [kg*m^2/s^2], found a force [kg*m/s^2].",
    ),
]

#: Statements.
SYNTAX = [
    ("A | Rz(q1) = 1; model a; model b;", "m.kin:1:26: 'model' is given twice, first at m.kin:1:17."),
    ("A | Rz(q1) = 1; gravity 1; gravity 2;", "m.kin:1:28: 'gravity' is given twice, first at m.kin:1:17."),
    ("A | Rz(sinus(q1)) = 1;", "m.kin:1:8: unknown function 'sinus'. Did you mean 'sin'?"),
    ("A | Rz(sin(q1, 2)) = 1;", "m.kin:1:8: sin takes 1 argument, found 2."),
    ("A | Rz(atan2(q1)) = 1;", "m.kin:1:8: atan2 takes 2 arguments, found 1."),
    (
        "A | Rz(q1) = 1;\nparametrs a = 1;",
        "m.kin:2:1: expected a body (Name ~ Base | motions = inertia;) or one of model, include, use, for, gravity, parameters, "
        "constants, let, coordinates, frame, point, force, couple, spring, damper, friction, potential, inertia, contact, "
        "constraint, loop, rolling, limit, when, program, control, quasi, state, initial, output, shape, show, view, "
        "found 'parametrs'. Did you mean 'parameters'?",
    ),
    ("A | Rz(q1) = 1;\nforce f on A = (1, 2);", "m.kin:2:21: expected ',', found ')': a vector has three components."),
    ("A | Rz(q1) 1;", "m.kin:1:12: expected ',' or '=', found '1'."),
    ("A | Rz(q1 = 1;", "m.kin:1:11: expected ')' or an operator, found '=': the '(' at 1:7 is not closed yet."),
    ("A | Rz(q1, 2) = 1;", "m.kin:1:10: expected ')' or an operator, found ','."),
    (
        "A | Rz(q1) = 1;\nconstraint c q1 = 0;",
        "m.kin:2:14: expected ':', found 'q1'; for example, constraint rod : x^2 + y^2 = l^2.",
    ),
    (
        "A | Rz(q1) = 1; coordinates q1; quasi q1;",
        "Quasi 'q1' (m.kin:1:39): 'q1' is a coordinate, no speed; its rate is q1'.",
    ),
    (
        "A | Rz(q1), Sx(x) = 1, 1, 1, 1; coordinates q1, x; quasi u = x', w = q1'; initial u = 1 rad/s;",
        "m.kin:1:87: initial 'u' must be a velocity [m/s], found a rate or an angular velocity [1/s].",
    ),
    (
        "A | Rz(q1) = 1; coordinates q1; constraint c : q1'' = 0;",
        "Constraint 'c' (m.kin:1:48): the acceleration 'q1''' has no place here; expected coordinates, speeds, parameters, "
        "the time, positions and velocities of points only.",
    ),
    ("A | Rz(q1) = 2 2;", "m.kin:1:16: expected ',', ';' or an operator, found '2'."),
    ("A | Rz(q1) = 1, ;", "m.kin:1:17: expected '(', '+' or '-', a name or a number, found ';'."),
    ("A | Rz(q1) = 1", "m.kin:1:15: the text ends within a statement; expected ',', ';' or an operator."),
    (
        "A | Rz(q1) = 1;\nspring s = 1 between A",
        "m.kin:2:23: the text ends within a statement; expected 'and' or 'at'.",
    ),
    ("A | Rz(q1) = 1 $;", "m.kin:1:16: found the character '$', which has no meaning here."),
    (
        "A | Sx(x) = 1; force f = x² on x;",
        "m.kin:1:27: found the character '²', which has no meaning here; a power is ^, as in x^2.",
    ),
    *(
        (
            f"A | Sx(x) = 1; force f = 3 {sign} 1 on x;",
            f"m.kin:1:28: found the character '{shown}', which has no meaning here{advice}.",
        )
        for sign, shown, advice in (
            ("−", "−", "; a minus is -"),
            ("×", "×", "; a product is *"),
            ("÷", "÷", "; a division is /"),
            ("\xa0", r"\xa0", "; it looks like a space, which is to stand in its place"),
            ("\0", r"\x00", ": the file is no text in UTF-8"),
        )
    ),
    (
        "use “leg.kin” as leg;",
        "m.kin:1:5: found the character '“', which has no meaning here; "
        'the name of a file stands in straight quotes, as in "leg.kin".',
    ),
    (
        "A | Rz(q) = 1; damper d = 0.1 on q’;",
        "m.kin:1:35: found the character '’', which has no meaning here; a prime is '.",
    ),
    (
        "for i in 1..3 : B | Ry(q[i]) = Jy(1);",
        "Body 'B' (m.kin:1:17): each turn of for describes it anew. Give it an index, as in B[i].",
    ),
    (
        "A | Sx(x) = 1; force f = table(x; spline; (0, 0), (1, 2)) on x;",
        "m.kin:1:26: unknown kind of table 'spline'; the kinds are linear, monotone, cubic, natural, quintic, hermite, with "
        "periodic, hold or extrapolate. Did you mean 'cubic'?",
    ),
    (
        'use "leg.kin as leg;',
        "m.kin:1:5: found the character '\"', which has no meaning here; "
        'the name of a file ends with " on its line, as in "leg.kin".',
    ),
    ("A | Sx(x) = 1; force f = k½ on x;", "m.kin:1:27: found the character '½', which has no meaning here."),
    (
        "A | Rz(q1) = m(1), Jxx(1);",
        "m.kin:1:20: Body 'A': 'Jxx' is no key of an inertia; the keys are m, Jx, Jy, Jz, Jxy, Jxz, Jyz. Did you mean 'Jx'?",
    ),
    (
        "A | Rz(q1) = 1; program l;",
        "m.kin:1:26: expected ':', found ';'; for example, program path : x = a*sin(t).",
    ),
    ("A | Rz(q1) = 1; model 5;", "m.kin:1:23: expected a name, found '5'."),
    ("spring | Rz(q1) = 1;", "m.kin:1:1: 'spring' is a word of the language and cannot name a body."),
    (
        'A | Rz(q1), Sx(eval("1")) = 1;',
        "m.kin:1:21: expected '(', '+' or '-', a name or a number, found '\"1\"'.",
    ),
    ("A | Rz(q1) = 1 # the end", "m.kin:1:15: the text ends within a statement; expected ',', ';' or an operator."),
    ("A | Rz(q1) = 1\nB | Rz(q2) = 1;", "m.kin:2:1: expected ',', ';' or an operator, found 'B'."),
    (
        "A | Sx(q1) = 1;\nspring s = k N/m on q1;",
        "m.kin:2:14: expected '(', ',', 'between', 'on' or an operator, found 'N': a unit may follow a number only; give 'k' its "
        "value with the unit, as in k = 1 N/m, or multiply, as in k * 1 N/m.",
    ),
    (
        "A | Rz(q1), Sx((a + b) cm) = 1;",
        "m.kin:1:24: expected ')' or an operator, found 'cm': a unit may follow a number only; multiply, as in (...) * 1 cm.",
    ),
    (
        "A | Rz(q1) = 1 kg*m m;",
        "m.kin:1:21: expected ',', ';' or an operator, found 'm': units are joined by *, as in 1 kg*m*m.",
    ),
    (
        "A | Rz(q1) = 1; force f = q1' N on q1;",
        "m.kin:1:31: expected '(', 'between', 'on' or an operator, found 'N': a unit may follow a number only; multiply, as in "
        "q1' * 1 N.",
    ),
    ("A | Rz(q1), Sx(a metre) = 1;", "m.kin:1:18: expected '(', ')' or an operator, found 'metre'."),
    (
        "A | Rz(q1) = 1; output v(A).x;",
        "m.kin:1:25: expected ',', ';' or '=', found '(': an output that is an expression has a name, as in shown = v(A).x.",
    ),
    (
        "A | Rz(q1) = 1; output A.x, A.y + 1, q1;",
        "m.kin:1:33: expected ',', ';' or '=', found '+': an output that is an expression has a name, as in shown = A.y + 1, q1.",
    ),
    (
        "A | Rz(q1) = 1; output |v(A)|;",
        "m.kin:1:24: expected a name, found '|v(A)|': an output that is an expression has a name, as in shown = |v(A)|.",
    ),
    (
        "A | Rz(q1) = 1; output a = norm(v(A))';",
        "m.kin:1:38: found the character ''', which has no meaning here; a prime stands behind a name, a component or bars, as "
        "in q', r(P).x' and |v(P)|'.",
    ),
    (
        "A | Rz(q1) = 1; output a = r(r(A)).x;",
        "m.kin:1:28: r takes the name of a point or body, as in r(Tip), found 'r(...)', which is none.",
    ),
    ("A | Rz(q1) = 1 ~;", "m.kin:1:16: expected ',', ';' or an operator, found '~'."),
]


@pytest.mark.parametrize(
    ("text", "message"), [*NAMES, *SYMBOLS, *MOTIONS, *INERTIA, *LETS, *SYNTAX], ids=lambda x: x[-40:]
)
def test_a_wrong_text_is_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(text, "m.kin")
    assert str(raised.value) == message
    assert raised.value.location is not None


@pytest.mark.parametrize("word", ["unchecked", "lumped"])
def test_the_triangle_rule_can_be_waived(word: str) -> None:
    entries = {"unchecked": "1, 1, 1, 3, unchecked", "lumped": "m(1), Jz(3)"}[word]
    (body,) = kn.loads(f"A | Rz(q1) = {entries};").bodies
    assert getattr(body.inertia, word)
    assert body.inertia.moments[2].value == 3


@pytest.mark.parametrize(
    ("name", "shown"),
    [("\x1b[31m", "\\x1b[31m"), ("\ud800", "\\ud800"), ("\u202e", "\\u202e"), ("\0", "\\x00"), ("é", "é")],
)
def test_what_cannot_be_read_is_written_out(name: str, shown: str) -> None:
    assert str(KinetaError(f"found '{name}'.")) == f"found '{shown}'."


def test_long_names_are_cut() -> None:
    name = "n" * 20_000
    for text in (f"A ~ {name} | Rz(q) = 1;", f"A | Rz(q) = 1; {name} q;"):
        with pytest.raises(kn.ModelError) as raised:
            kn.loads(text)
        assert "nnn...nnn" in str(raised.value)
        assert len(str(raised.value)) < 600


def test_brackets_without_end_are_refused() -> None:
    with pytest.raises(kn.ModelError, match=r"^m.kin:2:10001: brackets are nested deeper than 10000\.$"):
        kn.loads("A | Rz(q1) = 1;\n" + "(" * 20_000, "m.kin")


@pytest.mark.parametrize(
    ("force", "sentence"),
    [
        (
            "np.float64(0.98)*x",
            "unknown function 'np.float64'. A number of Python goes into a text as float(x) writes it",
        ),
        ("np.sin(x)", "unknown function 'np.sin'. Write sin."),
        ("math.sqrt(x)", "unknown function 'math.sqrt'. Write sqrt."),
        ("x**2", "found '*': a power is ^, as in x^2."),
        ("pow(x, 2)", "unknown function 'pow'. A power is x^y."),
        ("if(x, 1, 0)", "expected a comparison, as in a < b, found 'x'."),
        (
            "if(x > 0, 1)",
            "if takes 3 arguments, a condition, the value where it holds, and the value elsewhere, found 2.",
        ),
        ("if(x > 0 and 1, 1, 0)", "expected a comparison, as in a < b, found '1'."),
        ("2*(x > 0)", "a comparison is no number; if(a < b, x, y) is x where a < b, and else y."),
        ("sin(x > 0)", "a comparison is no number; if(a < b, x, y) is x where a < b, and else y."),
        ("-(x > 0)", "a comparison is no number"),
        ("if(1 kg < 1 m, 1, 0)", "a mass [kg] and a length [m] cannot be added or compared."),
        ("if(x > 0, 1 kg, 1 m)", "the values of an if must be of one kind, found a mass [kg] and a length [m]."),
        ("where(x > 0, 1, 0)", "unknown function 'where'. Did you mean 'if'"),
        ("floor(1 kg)", "floor takes an angle or a number, found a mass [kg]; divide by a unit, as in floor(x/1 kg)."),
        ("ceil(1 kg)", "ceil takes an angle or a number, found a mass [kg]; divide by a unit, as in ceil(x/1 kg)."),
        ("mod(1 kg, 1 m)", "a mass [kg] and a length [m] cannot be added or compared."),
        ("hypot(x)", "hypot takes 2 arguments, found 1."),
        (
            "(x == 0)*2",
            "found '=': conditions have <, <=, > and >=, since numbers are hardly ever equal; |x - a| < d says that",
        ),
        ("if(x == 0, 1, 2)", "found '=': conditions have <, <=, > and >=, since numbers are hardly ever equal"),
        ("if(x = 0, 1, 2)", "found '=': conditions have <, <=, > and >=, since numbers are hardly ever equal"),
        ("if(x != 0, 1, 2)", "which has no meaning here: conditions have <, <=, > and >="),
        ("if(0 < x > -1, 1, 2)", "comparisons in a row point one way, as in a < x < b, found < and >."),
        ("x > 0", "a comparison is no number; if(a < b, x, y) is x where a < b, and else y."),
        ("x ? 1 : 0", "found the character '?', which has no meaning here: a comparison is no number; if(x > 0, a, b)"),
        ("numpy.pi*x", "unknown symbol 'numpy.pi'. Write pi."),
        ("np.pi*x", "unknown symbol 'np.pi'. Write pi."),
        ("numpy.sin(x)", "unknown function 'numpy.sin'. Write sin."),
        ("clip(x, 0, 1)", "Did you mean 'min' (with max: min(b, max(a, x)) is x between a and b)?"),
        ("dot(x)", "dot takes 2 vectors, found 1. The rate of a coordinate q is q'."),
        ("diff(x, t)", "Did you mean 'q'' (the rate of the coordinate q)?"),
        ("ddt(x)", "Did you mean 'q'' (the rate of the coordinate q)?"),
        ("piecewise(x)", "unknown function 'piecewise'. Did you mean 'if'"),
        ("fmod(x, 2)", "Did you mean 'mod' (mod(x, y) has the sign of y)?"),
        ("round(x)", "Did you mean 'floor' (floor(x + 1/2) is the nearest whole number)?"),
        ("arctan2(x, 1)", "unknown function 'arctan2'. Did you mean 'atan2'?"),
        ("heaviside(x)", "unknown function 'heaviside'. Did you mean 'step'"),
        ("Abs(x)", "unknown function 'Abs'. Did you mean 'abs'?"),
        ("maximum(x, 1)", "unknown function 'maximum'. Did you mean 'max'?"),
    ],
)
def test_the_writing_of_other_languages(force: str, sentence: str) -> None:
    with pytest.raises(kn.ModelError) as caught:
        kn.loads(f"coordinates x; P | Sx(x) = 1; force f on P = ({force}, 0, 0);")
    assert sentence in str(caught.value)
    assert caught.value.location is not None


@pytest.mark.parametrize("value", ["1,5*q1", "(1,5*q1)"])
def test_a_number_with_a_comma_is_told_of_the_point(value: str) -> None:
    with pytest.raises(kn.ModelError, match=r"found '[,)]': numbers have a point, as in 1\.5[.,]"):
        kn.loads(f"A | Rz(q1) = 1, 1, 1, 1; force f = {value} on q1;")


def test_a_product_without_its_sign_is_told_of_it() -> None:
    with pytest.raises(kn.ModelError, match=r"found 'q1': a product is written with \*, as in 2\*q1\."):
        kn.loads("A | Rz(q1) = 1, 1, 1, 1; force f = 2q1 on q1;")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("parameters a = 3 in;", "found 'in': an inch is 25.4 mm."),
        ("parameters a = 3 mph;", "found 'mph'. A mile an hour is 0.44704 m/s."),
        ("parameters a = 3 N m;", "found 'm': units are joined by *, as in 3 N*m."),
        ("parameters a = 3 m/s2;", "found 's2'. A power of a unit is written s^2."),
        ("damper d = 3 on q_dot;", "unknown symbol 'q_dot'. The rate is written q'."),
        ("initial qdot = 2;", "'qdot' is neither a coordinate nor a speed. The rate is written q'."),
        ("initial q = Pi/3;", "unknown symbol 'Pi'. Write pi."),
        ("// a comment", "found '/': a comment begins with #."),
        ("% a comment", "found '%': a comment begins with #."),
        ("couple c on A = (1, 0);", "found ')': a vector has three components."),
        ("B ~ A | Rx(x), Free = 1;", "the motion has a name for its coordinates, as in Free(b)."),
        ("B ~ A | Ball() = 1;", "the motion has a name for its coordinates, as in Ball(b)."),
    ],
)
def test_other_habits_are_told_of_the_writing_here(text: str, sentence: str) -> None:
    with pytest.raises(kn.ModelError) as caught:
        kn.loads(f"A | Ry(q), Sx(1) = m; coordinates q; parameters m = 1;\n{text}")
    assert sentence in str(caught.value)


def test_micro_is_a_sign_or_a_greek_letter() -> None:
    micro, letter = (
        kn.loads(f"parameters a = 3 {prefix}g; A | Sx(x) = a; coordinates x;") for prefix in "\u00b5\u03bc"
    )
    assert micro.parameters[0].value == letter.parameters[0].value == pytest.approx(3e-9)

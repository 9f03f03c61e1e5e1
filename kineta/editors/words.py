"""The words of the text language by what they are, from the tables of the grammar, of functions, vectors, units, joints and
kinds; and what each means in a line.

A word that is added to one of these tables is known here by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from kineta.errors import ModelError
from kineta.expr.op import BINARY, FUNCTIONS
from kineta.model import joints, units, vectors
from kineta.model.axis import LETTERS
from kineta.model.checks.check import STATEMENTS as STATEMENTS
from kineta.model.io import kin_functions, kin_vectors
from kineta.model.io.kin_expressions import CONSTANTS
from kineta.model.io.kin_grammar import GRAMMAR
from kineta.model.reserved_symbols import ENERGIES, POINT_COMPONENTS, TIME

#: Statements without a kind of record, and words within statements.
_MEANINGS: Mapping[str, str] = {
    "model": "The name of the model: model pendulum;",
    "include": 'The bodies, coordinates and limits of a robot: include "robot.urdf";',
    "use": 'Another model within this one, with a prefix: use "leg.kin" as left on Trunk at Rz(60 deg);',
    "for": "Statements once for each whole number: for i in 1..6 : Link[i] ~ Link[i-1] | Ry(q[i]) = m;",
    "gravity": "The acceleration of gravity, along -z or as a vector: gravity 9.81 m/s^2;",
    "parameters": "Numbers that may change from run to run: parameters m = 2 kg, l = 50 cm;",
    "constants": "Numbers that are folded into the equations: constants N = 6;",
    "let": "A named expression, or a function: let spring(x) = k*x + k3*x^3;",
    "coordinates": "The coordinates in their order: coordinates x, phi;",
    "frame": "A body without inertia: frame Mount | Sz(1.2 m);",
    "point": "A point fixed in a body: point Tip on Rod = (0, 0, -l);",
    "force": "A force on a body, at a place, along a line or on a coordinate: force push on Slider = (0, 0, F);",
    "couple": "A couple on a body: couple motor on Wheel = (0, 0, M) in body;",
    "spring": "A spring, along a line or on a coordinate: spring coil = k, l0 between A and B;",
    "damper": "A damper, along a line or on a speed: damper oil = d on q1';",
    "friction": "Dry friction, or friction smoothed by a speed: friction hinge = 0.2 N*m on q1';",
    "potential": "An energy with its forces: potential gravity_of_the_moon = m*g*B.z;",
    "inertia": "An inertia on a speed: inertia rotor = J on q1';",
    "contact": "Places of bodies that may touch a surface: contact foot : point between Foot and ground axis (0, 0, 1);",
    "constraint": "An equation that all motions meet: constraint edge : v(Edge in Sledge).y = 0;",
    "loop": "A joint that closes a loop: loop pin : revolute between A and B axis (0, 0, 1);",
    "rolling": "A shape that rolls without slip: rolling wheel : disk = r between W axis (0, 1, 0) and ground axis (0, 0, 1);",
    "limit": "Bounds of an expression: limit rope : |r(Load)| <= 5 m;",
    "when": "A switch: when touch : A.z <= 0 : s = 1;",
    "program": "An equation that forces of control have to keep: program path : x = 2*t;",
    "shape": "What a body looks like: shape Arm = capsule(r);",
    "show": "Paths and forces in pictures: show path of Arm;",
    "view": "The direction from which a machine is looked at: view from (1, -2, 1);",
    "control": "How controls are distributed over actuators: control on x, y;",
    "quasi": "Quasi-velocities, linear in the speeds: quasi u = x'*cos(phi) + y'*sin(phi);",
    "state": "A variable with a rate and no inertia: state i in A : i' = (u - R*i)/L;",
    "initial": "Values of coordinates, speeds and states at the start: initial q1 = 30 deg;",
    "output": "What a run records: output Bob.position, height = Bob.z + 2;",
    "on": "The body, coordinate or speed on which something acts, or which something stands on.",
    "in": "The axes of vectors, or the range of a repetition.",
    "at": "A place in a body, or the motions that lead to it.",
    "as": "The prefix of a model within this one.",
    "with": "Values of the parameters of a model within this one.",
    "between": "The two places between which something acts.",
    "among": "Bodies of which each may touch each other: contact pile : ball = r among A, B, C;",
    "and": "The second of two places, or a further condition.",
    "or": "Another condition, of which one is enough.",
    "not": "The opposite of a condition.",
    "axis": "A direction (x, y, z), fixed in the axes of its body.",
    "height": "The height of the ground over the plane of a contact.",
    "while": "The values of parameters at which something acts: while s == 1.",
    "strikes": "The instant at which a contact or limit closes.",
    "stop": "Ends the run.",
    "transversal": "What programs of motion leave open.",
    "weight": "The weight of an actuator in the distribution of controls.",
    "floating": "Lets the root of a robot move freely.",
    "newton": "Newton's law of impact: restitution of the velocity.",
    "poisson": "Poisson's law of impact: restitution of the impulse.",
    "kelvin_voigt": "A compliant contact with a force k*d + c*d'.",
    "hunt_crossley": "A compliant contact with a force k*d^1.5*(1 + c*d').",
    "scale": "The size of a mesh against that of its file.",
    "from": "One end of a shape, or the direction from which a machine is looked at.",
    "to": "The other end of a shape.",
    "turned": "The turns of a shape in its body.",
    "colour": "The colour of a shape.",
    "of": "What is shown.",
    "unchecked": "Waives the check of moments of inertia that no body has.",
    "com": "The centre of mass in the frame of the body: com = (x, y, z).",
    "ground": "The fixed frame.",
    "body": "The axes of the body itself.",
    "t": "The time [s].",
    "pi": "The number pi.",
    "kinetic_energy": "The kinetic energy [J].",
    "potential_energy": "The potential energy [J].",
    "energy": "The sum of kinetic and potential energy [J].",
    "dot": "The scalar product of two vectors: dot(a, b).",
    "cross": "The vector product of two vectors: cross(a, b).",
    "norm": "The length of a vector: norm(a), or |a|.",
    "log": "The natural logarithm.",
    "step": "1 for positive values, else 0.",
    "sign": "1 for positive values, -1 for negative ones, 0 for zero.",
    "if": "One of two numbers: if(x < 1, a, b).",
    "table": "A function given by points, table(x; cubic; (0, 0), (1, F)), or of two quantities by a grid.",
    "floor": "The largest whole number that is not above x.",
    "ceil": "The smallest whole number that is not below x.",
    "mod": "The remainder of x by y, with the sign of y: mod(x, y).",
    "hypot": "The root of the sum of two squares: hypot(x, y).",
    "atan2": "The angle of the point (x, y): atan2(y, x).",
}


@cache
def keywords() -> tuple[str, ...]:
    """All words of the grammar: first words of statements, and words within them."""
    terminals = (terminal.pattern.value for terminal in GRAMMAR.parser.terminals)
    plain = (word for value in terminals for word in _parts(value))
    return tuple(dict.fromkeys((*STATEMENTS, *sorted({*plain}))))


def _parts(value: str) -> list[str]:
    """The words of a terminal that is one, or one of several: ``on``, ``(?:newton|poisson)``."""
    inner = value.removeprefix("(?:").removesuffix(")")
    return inner.split("|") if re.fullmatch(r"[a-z_]{2,}(\|[a-z_]+)*", inner) else []


@cache
def clauses() -> tuple[str, ...]:
    """Words within statements, those without a rule of the grammar included."""
    return (*(word for word in keywords() if word not in STATEMENTS), "body", "com", "ground", "stop", "unchecked")


@cache
def functions() -> tuple[str, ...]:
    """Functions of numbers and of vectors, and choices."""
    return (*FUNCTIONS, *kin_functions.OTHERS, *kin_vectors.FUNCTIONS)


@cache
def motions() -> tuple[str, ...]:
    """Turns, shifts and joints."""
    return (*(f"{letter}{axis}" for letter in "RS" for axis in LETTERS), *joints.known_words())


@cache
def symbols() -> tuple[str, ...]:
    """Names whose meaning is fixed: the time, numbers, energies."""
    return (TIME, *CONSTANTS, *ENERGIES)


def coordinates(joint: str) -> tuple[tuple[str, str], ...]:
    """The coordinates and speeds of a *joint* behind its name and a dot, with their units."""
    kind = joints.joint_of(joint)
    return () if kind is None else tuple((n.removeprefix("j."), unit) for n, unit in kind("j").units.items())


#: Components of points and bodies behind a dot, and their groups in outputs.
MEMBERS = (*POINT_COMPONENTS, "position", "velocity")
#: Parts of the forces of conditions and elements by their kinds, behind ``lambda.name.``; of loops those of all joints.
FORCE_PARTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("contact", "rolling"), ("n", "u", "w")),
    **dict.fromkeys(("force", "couple"), tuple(LETTERS)),
    "limit": ("lower", "upper"),
    "loop": (*LETTERS, "u", "w", "r", "rx", "ry", "rz", "ru", "rw"),
}


def member_meaning(member: str) -> str:
    """What a *member* of a point or body is."""
    return "velocity [m/s]" if member[0] == "v" else "position [m]"


#: Keys of lists of inertia.
KEYS = kin_functions.KEYS


@cache
def _of_kinds() -> dict[str, str]:
    """The first sentences on the records of statements by their words."""
    found: dict[str, str] = {}
    for kinds in GRAMMAR.kinds.values():
        for kind in kinds:
            found.setdefault(kind.word, _sentence(kind.record.__doc__ or ""))
    return found


def _sentence(doc: str) -> str:
    """The first sentence of a docstring, without marks."""
    first = re.split(r"(?<=\.)\s|\n\s*\n", " ".join(doc.split()), maxsplit=1)[0]
    return re.sub(r"[`*]+|:\w+:", "", first)


@cache
def meaning(word: str) -> str:
    """What a *word* of the language means, in a line; "" for one that is none."""
    if word in _MEANINGS:
        return _MEANINGS[word]
    if word in _of_kinds():
        return _of_kinds()[word]
    if word in FUNCTIONS:
        both = FUNCTIONS[word] in BINARY
        return f"A function of two numbers: {word}(x, y)." if both else f"A function of a number: {word}(x)."
    if word in vectors.KINDS:
        kind = vectors.KINDS[word]
        owner = "body" if kind.turns else "point or body"
        return f"{kind.words.capitalize()} of a {owner}: {word}(P).x, {word}(P in B).x, |{word}(P)|."
    if re.fullmatch(r"[RS]_?[xyz]?", word):
        turn, axis = word[0] == "R", word[-1] if word[-1] in "xyz" else ""
        about = f"the current {axis} axis" if axis else "an axis [x, y, z]"
        return (
            f"Turns the frame about {about} by an angle." if turn else f"Shifts the origin along {about} by a distance."
        )
    if word in motions():
        return f"{word}(name): a motion with coordinates of its own, {word}."
    if word in KEYS:
        return (
            "The mass [kg]."
            if word == "m"
            else f"The entry {word} of the tensor of inertia about the centre of mass [kg*m^2]."
        )
    users = dict.fromkeys(first for first, form in GRAMMAR.forms.values() if f'"{word}"' in form.rule)
    if users:
        return f"A word of {' and '.join(users)}."
    return "A word of the language." if word in keywords() else ""


def unit_meaning(word: str) -> str:
    """What a unit is, "" for a word that is none: ``N*m`` in SI units."""
    try:
        own = units.unit(word) if re.fullmatch(units.PATTERN, word) else None
    except ModelError:
        own = None
    if own is None:
        return ""
    return f"{word}: {units.name(own.dimension)}"

"""Random models of repetitions, models within models, tables, states, named expressions with arguments and choices, written in
two ways: with these constructs, and with all that they stand for written out by other code.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial

from kineta.records import dataclass

#: Two writings of one thing.
Both = tuple[str, str]


@dataclass(frozen=True)
class RandomModel:
    """The text with constructs, that of the part which it uses, and the text without."""

    text: str
    part: str
    plain: str


class _Writer:
    """Expressions of names, in both writings."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.functions: dict[str, tuple[tuple[str, ...], str]] = {}

    def number(self) -> str:
        return f"{self.rng.uniform(0.2, 2):.3g}"

    def function(self, name: str) -> str:
        """A named expression with arguments, which calls those before it."""
        arguments = ("u", "w")[: self.rng.randint(1, 2)]
        inner = self.expression([(a, a) for a in arguments], 2)
        self.functions[name] = arguments, inner[1]
        return f"let {name}({', '.join(arguments)}) = {inner[0]};"

    def called(self, name: str, values: Sequence[Both]) -> Both:
        """A call, and what it stands for; single letters are arguments."""
        arguments, body = self.functions[name]
        known = dict(zip(arguments, (f"({b})" for _, b in values), strict=True))
        words, k = [], 0
        while k < len(body):
            alone = body[k] in known and not (body[k - 1 : k].isalnum() or body[k + 1 : k + 2].isalnum())
            words.append(known[body[k]] if alone else body[k])
            k += 1
        return f"{name}({', '.join(a for a, _ in values)})", f"({''.join(words)})"

    def expression(self, names: Sequence[Both], depth: int) -> Both:
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            return (x := self.number(), x) if rng.random() < 0.2 else rng.choice(names)
        one, other = (self.expression(names, depth - 1) for _ in range(2))
        kinds: list[Callable[[], Both]] = [
            lambda: self._joined("({} + {})", one, other),
            lambda: self._joined("({} - {})", one, other),
            lambda: self._joined("{}*{}", one, other),
            lambda: self._joined("{}/(1 + {}^2)", one, other),
            lambda: self._joined("sin({})", one),
            lambda: self._joined("tanh({})", one),
            lambda: self._joined("if({} < {}, {}, {})", one, other, *self._smaller(names, depth)),
            lambda: self._joined(
                "table({}; cubic, extrapolate; (-1, 0.3), (0, {}), (1, {}), (2, 0.9))", one, *self._numbers()
            ),
            lambda: self._joined("table({}; natural; (-3, 0.1), (0, {}), (3, {}))", one, *self._numbers()),
        ]
        for name, (arguments, _) in self.functions.items():
            called = self.called(name, (one, other)[: len(arguments)])
            kinds += 3 * [partial(self._joined, "{}", called)]
        return rng.choice(kinds)()

    def _joined(self, text: str, *parts: Both) -> Both:
        return text.format(*(f"({a})" for a, _ in parts)), text.format(*(f"({b})" for _, b in parts))

    def _smaller(self, names: Sequence[Both], depth: int) -> tuple[Both, Both]:
        return self.expression(names, depth - 1), self.expression(names, depth - 1)

    def _numbers(self) -> tuple[Both, Both]:
        a, b = self.number(), self.number()
        return (a, a), (b, b)


def random_model(seed: int) -> RandomModel:
    """A chain of bodies with copies of a part on it, whose forces and states are random expressions."""
    rng = random.Random(seed)
    links, legs = rng.randint(1, 3), rng.randint(1, 2)
    head = f"gravity 9.81;\nconstants N = {links}, l = 0.3;\nparameters m = 0.7, k = 3, c = 0.4, J = 0.02;\n"
    own = _Writer(rng)
    lets = "\n".join(own.function(f"f{i}") for i in range(1, rng.randint(2, 4)))
    part, placed = _part(rng)
    text, plain = [head, lets], [head]
    text.append("frame Link[0] |;\nfor i in 1..N : Link[i] ~ Link[i-1] | Ry(q[i]), Sz(-l) = m, J, J, J;")
    plain.append("frame Link[0] |;")
    plain += [f"Link[{i}] ~ Link[{i - 1}] | Ry(q[{i}]), Sz(-l) = m, J, J, J;" for i in range(1, links + 1)]
    names = [
        ("q[i]", "q[{i}]"),
        ("q[i]'", "q[{i}]'"),
        ("k", "k"),
        ("0.3*i", "0.3*{i}"),
        ("z", "z"),
        ("t", "t"),
        ("Link[i].x", "Link[{i}].x"),
    ]
    force = own.expression(names, 3)
    text.append(
        f"for i in 1..N : {{ force e[i] = {force[0]} on q[i]; damper d[i] = c*i on q[i]'; initial q[i] = 0.1*i, q[i]' = 0.3/i; }}"
    )
    for i in range(1, links + 1):
        plain.append(f"force e[{i}] = {force[1].replace('{i}', str(i))} on q[{i}]; damper d[{i}] = c*{i} on q[{i}]';")
        plain.append(f"initial q[{i}] = 0.1*{i}, q[{i}]' = 0.3/{i};")
    rate = own.expression([("q[1]", "q[1]"), ("q[1]'", "q[1]'"), ("z", "z"), ("k", "k")], 3)
    text.append(f"state z : z' = {rate[0]} - z; initial z = 0.2;")
    plain.append(f"state z : z' = {rate[1]} - z; initial z = 0.2;")
    turn = rng.choice(["Rx(0.4), Sx(0.1)", "Sz(0.2)", "Ry(0.3*i), Sx(0.1*i)", "Rz(i)"])
    text.append(f'for i in 1..{legs} : use "part.kin" as leg[i] on Link[N] at {turn} with m = m/2, k = k + 0.1*i;')
    for i in range(1, legs + 1):
        plain.append(f"frame leg[{i}].ground ~ Link[{links}] | {turn.replace('*i', f'*{i}').replace('(i)', f'({i})')};")
        plain.append(placed(f"leg[{i}]", "(m/2)", f"(k + 0.1*{i})"))
    both = own.expression([("leg[1].hip", "leg[1].hip"), ("leg[1].i", "leg[1].i"), ("q[1]", "q[1]")], 3)
    text.append(f"let late = {both[0]}; output o = late; force last = late on q[1];")
    plain.append(f"let late = {both[1]}; output o = late; force last = late on q[1];")
    coordinates = [
        *(f"q[{i}]" for i in range(1, links + 1)),
        *(f"leg[{i}].{n}" for i in range(1, legs + 1) for n in ("hip", "knee")),
    ]
    text.append("for i in 1..N : coordinates q[i];")
    plain.append(f"coordinates {', '.join(coordinates)};")
    return RandomModel("\n".join(text), part, "\n".join(plain))


def _part(rng: random.Random) -> tuple[str, Callable[[str, str, str], str]]:
    """A leg of two links with a law of its own, and it written out with a prefix, for values of its parameters m and k."""
    writer = _Writer(rng)
    law = writer.function("law")
    names = [("hip", "{p}.hip"), ("knee", "{p}.knee"), ("hip'", "{p}.hip'"), ("k", "{k}"), ("i", "{p}.i")]
    force, rate = writer.expression(names, 3), writer.expression(names, 2)
    part = f"""
parameters m = 1, k = 2; constants b = 0.25;
{law}
Thigh | Ry(hip), Sz(-b) = m, 0.01, 0.01, 0.01;
Shank ~ Thigh | Rx(knee), Sz(-b) = m/2, 0.01, 0.01, 0.01;
coordinates hip, knee;
point Foot on Shank = (0, 0, -0.05);
state i : i' = {rate[0]} - i;
force motor = {force[0]} on hip;
for n in 1..2 : damper rub[n] = 0.1*n on knee';
spring cord = k, 0.1 between Foot and ground at (0.3, 0, 0);
initial knee = 0.2, i = 0.5;
"""
    plain = f"""
{{p}}.Thigh ~ {{p}}.ground | Ry({{p}}.hip), Sz(-0.25) = {{m}}, 0.01, 0.01, 0.01;
{{p}}.Shank ~ {{p}}.Thigh | Rx({{p}}.knee), Sz(-0.25) = {{m}}/2, 0.01, 0.01, 0.01;
point {{p}}.Foot on {{p}}.Shank = (0, 0, -0.05);
state {{p}}.i : {{p}}.i' = {rate[1]} - {{p}}.i;
force {{p}}.motor = {force[1]} on {{p}}.hip;
damper {{p}}.rub[1] = 0.1 on {{p}}.knee'; damper {{p}}.rub[2] = 0.2 on {{p}}.knee';
spring {{p}}.cord = {{k}}, 0.1 between {{p}}.Foot and {{p}}.ground at (0.3, 0, 0);
initial {{p}}.knee = 0.2, {{p}}.i = 0.5;
"""
    return part, lambda p, m, k: plain.format(p=p, m=m, k=k)

"""Seeded random trees whose forces have kinks, steps and tables, with first-order states, limits, dry friction and switches."""

from __future__ import annotations

import random

import kineta as kn

#: What stands for a letter: q, p coordinates, z a state, a a parameter; x, y numbers from 0 to 1.
ACTIONS = (
    "force f{j} = if({p} + 0.1*t > a/20, a, 0) on {q};",
    "force f{j} = if(mod(t, 0.2 + 0.3*{x}) < 0.02*a, 5, 0) on {q};",
    "force f{j} = if({p} > 0.2*{x} and t < 0.5 + 0.4*{y}, a, -0.2*{q}') on {q};",
    "force f{j} = if(z > 0.1*{x}, a*{p}, -a) on {q};",
    "force f{j} = if({p}*a > 0.2*{x}, a*{q}*{p} - {p}', if(t > a/5, {q}*{p}', min(a, 40*{p}))) on {q};",
    "force f{j} = a*step({p} - 0.3*{x}) - step(t - {y}) on {q};",
    "force f{j} = a*sign(sin((5 + 15*{x})*t + {p})) on {q};",
    "force f{j} = 0.3*a*floor(4*{p} + {x}) - a*max(z, {p}) on {q};",
    "force f{j} = table({p} + 0.2*t; linear; (-1, a), (-0.2, -1), (0.1, 2), (0.4, a), (1, -2)) on {q};",
    "force f{j} = a*table({p}'; monotone; (-1, a), (-0.2, -1), (0.1, 2), (0.4, {x}), (1, -2)) on {q};",
    "force f{j} = table(t; cubic; (0, a), (0.2, -1), (0.5, 2), (0.7, {x}), (1, -2)) on {q};",
    "spring u{j} = 20 + 60*{x} on max({p} - a/40, 0);",
    "limit l{j} : -0.2 - 0.2*{x} <= {q} <= 0.3, restitution = {y};",
    "friction r{j} = 0.3 + {x} on {q};",
    "when w{j} : {p} >= 0.3*{x} : n = n + 1, {q}' = (0.7 + 0.5*{y})*{q}';",
    "when w{j} : t >= {x} : k = (0.5 + {y})*k, {q}' = {q}' + 0.1;",
    "when w{j} : z <= 0.2*{x} : s = -s, z = z + 0.3; force f{j} = s*a on {q};",
)
MOTIONS = (
    "Sx({q})",
    "Sz({q})",
    "Rx({q})",
    "Ry({q})",
    "Ry({q}), Sx(0.3)",
    "R[1, {x}, {y}]({q})",
    "Rz({q}), Sz(0.1*{q})",
)
INERTIA = "Jx(0.3), Jy(0.3), Jz(0.2 + 0.2*{x}), com = ({x}/5, {y}/5, -0.1)"


def switching_system(seed: int) -> kn.System:
    """A random tree of one to four bodies on springs, with parameters m, a, k and a state z."""
    rng = random.Random(seed)
    names = [f"q{i}" for i in range(rng.randint(1, 4))]

    def filled(text: str, **given: str | int) -> str:
        x, y = (round(rng.random(), 3) for _ in range(2))
        return text.format(**({"q": rng.choice(names), "p": rng.choice(names), "x": x, "y": y} | given))

    lines = ["gravity 9.81; parameters m = 1.5, a = 2, k = 20, s = 1, n = 0; output n;"]
    for i, q in enumerate(names):
        base = "" if i == 0 else f" ~ B{rng.randrange(i)}"
        lines.append(f"B{i}{base} | {filled(rng.choice(MOTIONS), q=q)} = m({'m' if i == 0 else i}), {filled(INERTIA)};")
        lines.append(f"spring s{i} = k on {q}; damper d{i} = 0.3 on {q}';")
    lines.append(f"coordinates {', '.join(names)};")
    lines.append(filled("state z : z' = {p} + max(0, {q}) - 2*z; force z = 3*z on {p};"))
    lines += [filled(rng.choice(ACTIONS), j=j) for j in range(rng.randint(1, 4))]
    return kn.loads("\n".join(lines))

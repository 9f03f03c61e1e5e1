"""Sliding modes: motions along surfaces on which a force or a rate jumps, towards which it drives from both sides.

The state has a number for each switching function on which a motion may slide: FREE where the operations go by the sign of the
function, LOW or HIGH where they are held on one side of it, and SLIDING with the part of the way from the one to the other as
a motion slides (Filippov's convex combination), or with half of it where contacts keep the motion on the surface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import HIGH, LOW, SLIDING, Op
from kineta.mechanics.derivation import Derivation
from kineta.passes.differentiate import forward
from kineta.passes.nonsmooth_operations import hold_sides, sides_of
from kineta.passes.substitute import substitute
from kineta.records import constant_record


@constant_record
class Slide:
    """A switching function on which a motion may slide: its *number* among those, and that among the guards, ``guard``; the
    ``function`` and its ``rate``.
    """

    number: int
    guard: int
    function: Ref
    rate: Ref


def side_name(number: int) -> str:
    """The name of the state that tells on which side the switching function *number* is."""
    return f"side {number}"


def sliding(d: Derivation, given: Derivation, guards: Sequence[Ref], acting: Mapping[str, Ref]) -> list[Slide]:
    """Those of *guards* on which a motion of *d* may slide under *acting* forces: their rates jump where they vanish. With
    contacts these rates are those under *given* accelerations. Motions under programs do not slide.
    """
    g = d.graph
    if not guards or d.symbols.system.programs:
        return []
    motion = substitute(g, [*d["state_rate"].refs], acting)
    jumping = sides_of(g, motion)
    moving = motion if given is d else substitute(g, [*given["state_rate"].refs], acting)
    found = list[Slide]()
    for k, guard in enumerate(guards):
        if guard in jumping and guard in sides_of(g, [_rate(d, guard, motion)]):
            found.append(Slide(len(found), k, guard, _rate(d, guard, moving)))
    return found


def _rate(d: Derivation, function: Ref, motion: Sequence[Ref]) -> Ref:
    """The rate of a *function* of the time and the state along a *motion*."""
    s = d.symbols
    (rate,) = forward(d.graph, [function], {s.t: ONE} | dict(zip([*s.q, *s.v], motion, strict=False)))
    return rate


def held_functions(
    g: Graph, slides: Sequence[Slide], found: Mapping[str, Sequence[Ref]], place: int, changing: Sequence[str]
) -> dict[str, Sequence[Ref]]:
    """The functions that read the sides of *slides*: the rate, which has those of the switching functions at their *place* in
    the state; and, of values between both sides where the motion slides, what is observed, and the functions *changing*, by
    name, of motions that change their modes, whose rate is one of them.
    """
    own = [g.symbol(side_name(slide.number)) for slide in slides]

    def held(refs: Sequence[Ref], numbers: Sequence[Ref]) -> list[Ref]:
        sides = {slide.function: _side(g, x, slide.function) for slide, x in zip(slides, numbers, strict=True)}
        return hold_sides(g, refs, sides)

    rate = list(found["rate"])
    rate[place : place + len(slides)] = [slide.rate for slide in slides]
    above = [g.call(Op.STEP, g.sub(x, g.const(SLIDING - 0.5))) for x in own]
    low, high = ([g.choice(a, g.pair(g.const(k), x)) for a, x in zip(above, own, strict=True)] for k in (LOW, HIGH))

    def seen(refs: Sequence[Ref]) -> list[Ref]:
        first = held(refs, low)
        totals = first
        for k, x in enumerate(own):
            other = held(refs, [*low[:k], high[k], *low[k + 1 :]])
            part = g.call(Op.MAX, ZERO, g.call(Op.MIN, ONE, g.sub(x, g.const(SLIDING))))
            totals = [
                g.add(total, g.choice(above[k], g.pair(g.mul(part, g.sub(b, a)), ZERO))) if a != b else total
                for total, a, b in zip(totals, first, other, strict=True)
            ]
        return totals

    own_rate: dict[str, Sequence[Ref]] = {"rate": seen(rate)} if changing else {"held": held(rate, own)}
    return own_rate | {name: seen(found[name]) for name in ("observed", *changing) if name in found}


def _side(g: Graph, number: Ref, function: Ref) -> Ref:
    """1 above the switching *function* and 0 below, by the *number* of its side."""
    own, held = g.call(Op.STEP, function), g.call(Op.STEP, g.sub(number, g.const((LOW + HIGH) / 2)))
    return g.choice(g.call(Op.STEP, g.sub(number, g.const(LOW / 2))), g.pair(held, own))

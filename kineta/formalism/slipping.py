"""What the numbers of the block h say of a touch: whether it is closed, sticks or slips, and where to; and what tells that this
changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ONE, Graph, Ref
from kineta.formalism.derivation import Array, Derivation, vector
from kineta.formalism.touch import Touch

#: What is added to the slip in space in the direction that it had when it was looked at last, so that it has one always; more,
#: where it begins from rest, since friction turns with a slip the faster the smaller that is [m/s].
FIRST, BEGINS = 1e-9, 1e-5
#: The slip in space at which it no longer begins, and one that is nearly none: below it a contact is looked at, whether it
#: sticks [m/s].
BEGUN, NEARLY = 1e-3, 1e-7
#: Part of its bound that is allowed beyond it to what sticks, where a run does not tell them apart.
ALLOWED = 1e-7
#: A bound that is none, and more than what counts as none.
NONE = 1e-150
#: Square of a speed that is none.
NOTHING = 1e-60


def closed(g: Graph, touch: Touch) -> Ref:
    """1 where the normal row of *touch* holds, else 0."""
    return g.symbol(touch.flags[0])


def stuck(g: Graph, touch: Touch) -> Ref:
    """1 where the tangents of *touch* hold, else 0."""
    return g.symbol(touch.flags[1])


def direction(g: Graph, touch: Touch) -> list[Ref]:
    """The unit vector against which friction acts: that of the slip, or in a plane its sign, which a run knows. Where slip is
    smooth it has no size until there is some.
    """
    first = [g.symbol(name) for name in touch.flags[3 : 3 + len(touch.tangents)]]
    slip = [row.levels[0] for row in touch.tangents]
    if touch.smooth is not None:
        size = size_of(g, slip, g.mul(touch.smooth, touch.smooth))
        return [g.div(x, size) for x in slip]
    if len(slip) == 1:
        return first
    trace = g.add(g.const(FIRST), g.mul(g.const(BEGINS), g.symbol(touch.flags[6])))
    traced = [g.add(x, g.mul(trace, d)) for x, d in zip(slip, first, strict=True)]
    size = size_of(g, traced)
    return [g.div(x, size) for x in traced]


def events(d: Derivation) -> Array:
    """What changes its sign, from above, where a touch changes what it does: the gap of one that is open and the normal force of
    one that is closed; for tangents how much more force they can bear, or the slip along its direction. And a bound that varies.
    """
    g, found, place = d.graph, [], 0
    for touch in d.touches:
        presses = touch in d.pressing
        own = d["forces"].refs[place : place + len(touch.rows)] if presses else ()
        place += len(own)
        if touch.normal is not None:
            found.append(touch.normal.levels[0])
            if presses:
                shut = closed(g, touch)
                found[-1] = g.add(g.mul(shut, own[0]), g.mul(g.sub(ONE, shut), found[-1]))
        if touch.tangents and touch.smooth is None:
            found.append(_holds_on(g, touch, own) if presses else ONE)
        if touch.varies:
            found.append(touch.bound)
    return vector(found)


def _holds_on(g: Graph, touch: Touch, forces: Sequence[Ref]) -> Ref:
    """The event of the tangents of *touch* under the *forces* along its rows."""
    pushed = ONE if touch.normal is None else forces[0]
    tangential, slip = forces[-len(touch.tangents) :], [row.levels[0] for row in touch.tangents]
    held = stuck(g, touch)
    begins = g.symbol(touch.flags[6])
    allowed = g.add(ONE, g.mul(g.const(ALLOWED), begins))
    margin = g.sub(g.mul(allowed, g.mul(touch.static, pushed)), size_of(g, tangential))
    slips = g.symbol(touch.flags[2])
    forwards = g.sum(g.mul(g.symbol(name), x) for name, x in zip(touch.flags[3:], slip, strict=False))
    moving = forwards if len(slip) == 1 else _moves(g, touch, forwards, size_of(g, slip))
    other = g.add(g.mul(slips, moving), g.mul(g.sub(ONE, slips), _returns(g, touch)))
    return g.add(g.mul(held, margin), g.mul(g.sub(ONE, held), other))


def _returns(g: Graph, touch: Touch) -> Ref:
    """The event of tangents that neither stick nor slip: a bound that was none and is one again, where it may be; else nothing is
    looked for.
    """
    if not touch.varies:
        return ONE
    shut = ONE if touch.normal is None else closed(g, touch)
    return g.add(g.mul(shut, g.sub(g.const(NONE), touch.static)), g.sub(ONE, shut))


def _moves(g: Graph, touch: Touch, forwards: Ref, size: Ref) -> Ref:
    """The event of a slip of this *size* in space: where it nearly ends; of one that begins, where it has turned back, by more
    than errors of steps, or has begun.
    """
    begins = g.symbol(touch.flags[6])
    ahead = g.mul(g.add(forwards, g.const(NEARLY)), g.sub(g.const(BEGUN), size))
    return g.add(g.mul(begins, ahead), g.mul(g.sub(ONE, begins), g.sub(size, g.const(NEARLY))))


def size_of(g: Graph, x: Sequence[Ref], more: Ref | None = None) -> Ref:
    """The length of a vector, never zero; with *more* in its square."""
    return g.sqrt(g.sum([*(g.mul(c, c) for c in x), g.const(NOTHING) if more is None else more]))

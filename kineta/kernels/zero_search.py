"""The search for zeros of one event in a step, on the interpolant; :mod:`kineta.numerics.roots` is the same in Python."""

from __future__ import annotations

from typing import Protocol

from kineta import tolerances
from kineta.integration.loop_abi import RunData
from kineta.kernels.event_start import evaluate_events
from kineta.kernels.language import fabs, kernel
from kineta.kernels.runge_kutta import state_at
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.memory import Reals
from kineta.numerics.roots import ACCURACY, POLE, SPAN


class Sampled(Protocol):
    """A function of the fraction x of the step with the interpolant *dense*, and of a number."""

    def __call__(self, method: LoopMethod, run: RunData, dense: Reals, i: int, x: float, by: float, /) -> float:
        """Its value."""


@kernel
def event_value(method: LoopMethod, run: RunData, dense: Reals, i: int, x: float, shift: float) -> float:
    """The value of event i at the fraction x of the step, plus *shift*; leaves the state in ``between``."""
    state_at(method, run, dense, x, run.between)
    evaluate_events(run, run.events.t + x * run.events.h, run.between, run.events.tried)
    return run.events.tried[i] + shift


@kernel
def event_slope(method: LoopMethod, run: RunData, dense: Reals, i: int, x: float, span: float) -> float:
    """The change of event i from the fraction x of the step on, over a *span*."""
    ahead = event_value(method, run, dense, i, x + span, 0.0)
    here = event_value(method, run, dense, i, x, 0.0)
    return ahead - here


@kernel
def narrow(method: LoopMethod, function: Sampled, run: RunData, dense: Reals, i: int, by: float, tol: float) -> None:
    """Narrow the bracket to a zero of the *function* with the number *by*, to the width *tol*: inverse quadratic interpolation
    through the last three points where it is monotone, else bisection [Chandrupatla, Advances in Engineering Software 28
    (1997) 145].
    """
    e = run.events
    a, fa, b, fb = e.a, e.fa, e.b, e.fb
    c, fc, share = b, fb, 0.5
    searching = True
    while searching:
        x = a + share * (b - a)
        f = function(method, run, dense, i, x, by)
        stays = x == a
        if (f > 0.0) == (fa > 0.0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, f
        searching = not (f == 0.0 or stays or x == b)
        if searching:
            margin = tol / fabs(b - a)
            searching = margin < 1.0
            place, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
            share = 0.5
            if height * height < place and (1.0 - height) * (1.0 - height) < 1.0 - place:
                near = fa / (fb - fa) * (fc / (fb - fc))
                share = near + (c - a) / (b - a) * (fa / (fc - fa)) * (fb / (fc - fb))
            least = margin * 0.5
            share = min(1.0 - least, max(least, share))
    e.a, e.fa, e.b = a, fa, b


@kernel
def halve(method: LoopMethod, run: RunData, dense: Reals, i: int, shift: float, tol: float) -> None:
    """Bisect for the start of an interval of zeros, to the width *tol*, as :func:`~kineta.numerics.roots.sign_change`."""
    e = run.events
    searching = True
    while searching:
        left, right = e.a, e.b
        x = 0.5 * (left + right)
        f = event_value(method, run, dense, i, x, shift)
        if f * e.fa > 0.0:
            e.a = x
        else:
            e.b = x
        searching = right - left > tol and x != left and x != right


@kernel
def open_bracket(run: RunData, a: float, fa: float, b: float, fb: float) -> None:
    """The initial bracket of a search."""
    e = run.events
    e.a, e.fa, e.b, e.fb = a, fa, b, fb


@kernel
def zero(
    method: LoopMethod, run: RunData, dense: Reals, i: int, shift: float, a: float, fa: float, b: float, fb: float
) -> float:  # fmt: skip
    """The fraction of the step just behind a zero of event i, plus *shift*, between the fractions a and b; the state there
    is left in ``between``, and ``pole`` says whether it is a pole.
    """
    e = run.events
    e.searches += 1
    open_bracket(run, a, fa, b, fb)
    tol = max(tolerances.EPS, max(fabs(e.t), fabs(e.t + e.h)) * (4 * tolerances.EPS) / fabs(e.h))
    if fb == 0.0:
        halve(method, run, dense, i, shift, tol)
        x = e.b
    else:
        narrow(method, event_value, run, dense, i, shift, tol)
        x = e.a if e.fa == 0.0 or (e.fa > 0.0) == (fb > 0.0) else e.b
    there = event_value(method, run, dense, i, x, shift)
    e.pole = not fabs(there) <= max(fabs(fa), fabs(fb)) * POLE
    return x


@kernel
def put_point(run: RunData, x: float, f: float) -> None:
    """Append a sampling point: the fraction x of the step with the value f."""
    e = run.events
    e.x[e.points] = x
    e.f[e.points] = f
    e.points += 1


@kernel
def put_extremum(
    method: LoopMethod, run: RunData, dense: Reals, i: int, a: float, fa: float, b: float, fb: float
) -> None:
    """Append the extremum of event i, of one sign at the fractions a and b, if it reaches zero."""
    span = run.events.width * SPAN
    low = b - span
    ahead = event_value(method, run, dense, i, a + span, 0.0)
    behind = event_value(method, run, dense, i, low, 0.0)
    left, right = ahead - fa, fb - behind
    if fa * left < 0.0 and fb * right > 0.0:
        run.events.searches += 1
        open_bracket(run, a, left, low, right)
        narrow(method, event_slope, run, dense, i, span, ACCURACY)
        x = run.events.a + 0.5 * span
        least = event_value(method, run, dense, i, x, 0.0)
        if not fa * least > 0.0:
            put_point(run, x, least)

"""How a run ends: the values of ``Result.status``, and what is said of each."""

from __future__ import annotations

#: An error of the method; at the end; at a terminal event; interrupted; at the end or an event, with a balance of energy or a
#: residual of constraints that the tolerances do not explain; out of steps.
FAILED, DONE, EVENT, INTERRUPTED, UNBALANCED, OUT_OF_STEPS = range(-1, 5)


def done(t: float) -> str:
    """At the end."""
    return f"reached t = {t:g} s"


def stopped(t: float, event: str) -> str:
    """At a terminal event."""
    return f"stopped at t = {t:.6g} s by the event '{event}'"


def failed(t: float, why: str, edge: str) -> str:
    """Without a way on; *edge* is what has left its domain or has become singular there, if that is known."""
    edge = edge or (
        "the mass matrix may be singular there, an expression outside its domain, or the motion without bound"
    )
    return f"failed at t = {t:.9g} s: {why}; {edge}. What was computed before is kept"


def unguided(t: float, why: str) -> str:
    """Before a state in which no control can influence the programs; *why* says which, and when."""
    return (
        f"failed at t = {t:.9g} s: {why}, where no control can hold what is asked for; another law, other weights or actuators, "
        "or another start may pass. What was computed before is kept"
    )


def refused(t: float, why: str) -> str:
    """Where a control has failed."""
    return f"failed at t = {t:.9g} s: {why}. What was computed before is kept"


def interrupted(t: float) -> str:
    """By the user."""
    return f"interrupted at t = {t:.6g} s; what was computed before is kept"


def unbalanced(message: str, edge: str) -> str:
    """With a balance of energy that the tolerances do not explain, after what *message* says."""
    edge = edge or (
        "an expression may have left its domain, a force have jumped, or a drive be faster than the steps (max_step)"
    )
    return f"{message}, but tolerances do not explain the balance of energy: {edge}"


def missed(message: str, what: str, residual: float) -> str:
    """Off its constraints or programs, *what*, after what *message* says."""
    return (
        f"{message}, but {what} are missed by up to {residual:.1e}, more than tolerances explain: they may come to "
        "depend on each other on the way"
    )


def out_of_steps(t: float, steps: int, size: float, edge: str, left: float = 0.0) -> str:
    """After as many steps as were allowed, or where too many would be *left*."""
    edge = edge or (
        "where a force jumps (sign, step) or changes very fast, steps are short without end; max_steps allows more"
    )
    more = f", and the rest would take {left:.0e} more" if left else ""
    return (
        f"out of steps at t = {t:.9g} s: {steps} were made, the last of {size:.1e} s{more}; {edge}. "
        "What was computed before is kept"
    )

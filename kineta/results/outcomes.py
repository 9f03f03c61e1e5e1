"""Outcomes of runs: the values of ``Result.status``, and their messages."""

from __future__ import annotations

from kineta.errors import SimulationError

#: Failure of the method; end of the time span; terminal event; interruption; end or event with an energy balance or constraint
#: residual beyond the tolerances; exhausted steps.
FAILED, DONE, EVENT, INTERRUPTED, UNBALANCED, OUT_OF_STEPS = range(-1, 5)
#: Runs that end before their time.
EARLY = (FAILED, EVENT, INTERRUPTED, OUT_OF_STEPS)
#: The end of the messages of runs that end before their time for a fault.
KEPT = "What was computed before is kept"


def check_complete(model: str, status: int, message: str) -> None:
    """Raise :class:`SimulationError` with the *message* of an incomplete run where a complete one is needed; an interruption is
    raised as such.
    """
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    if status in (FAILED, OUT_OF_STEPS):
        raise SimulationError(f"Model '{model}': {message}.")


def done(t: float) -> str:
    """Return the message of a run to the end of its time span."""
    return f"reached t = {t:g} s"


def stopped(t: float, event: str) -> str:
    """Return the message of a run to a terminal event."""
    return f"stopped at t = {t:.6g} s by the event '{event}'"


def failed(t: float, why: str, edge: str) -> str:
    """Return the message of a failed run; *edge* names the expression beyond its domain, or the singularity, if known.

    Where *why* names what is at fault, no others are guessed.
    """
    if not edge and "'" not in why:
        edge = "the mass matrix may be singular there, an expression outside its domain, or the motion without bound"
    return refused(t, "; ".join(filter(None, (why, edge))))


def unguided(t: float, why: str) -> str:
    """Return the message of a run that ends before a loss of controllability; *why* names programs and time."""
    return (
        f"failed at t = {t:.9g} s: {why}, where no control can hold what is asked for; another law, other weights or actuators, "
        f"or another start may pass. {KEPT}"
    )


def refused(t: float, why: str) -> str:
    """Return the message of a failed run whose cause is known."""
    return f"failed at t = {t:.9g} s: {why}. {KEPT}"


def interrupted(t: float) -> str:
    """Return the message of an interrupted run."""
    return f"interrupted at t = {t:.6g} s; what was computed before is kept"


def unbalanced(message: str, edge: str) -> str:
    """Return *message* with the warning of an energy balance beyond the tolerances."""
    edge = edge or (
        "an expression may have left its domain, a force have jumped, or a drive be faster than the steps (max_step)"
    )
    return f"{message}, but tolerances do not explain the balance of energy: {edge}"


def missed(message: str, what: str, residual: float) -> str:
    """Return *message* with the warning of a residual of *what*, constraints or programs, beyond the tolerances."""
    return (
        f"{message}, but {what} are missed by up to {residual:.1e}, more than tolerances explain: they may come to "
        "depend on each other on the way"
    )


def out_of_steps(t: float, steps: int, size: float, edge: str, left: float = 0.0) -> str:
    """Return the message of a run out of steps, or with too many steps *left*."""
    edge = edge or (
        "where a force or a rate of a state jumps (sign, step) or changes very fast, steps are short without end; max_steps "
        "allows more"
    )
    more = f", and the rest would take {left:.0e} more" if left else ""
    return f"out of steps at t = {t:.9g} s: {steps} were made, the last of {size:.1e} s{more}; {edge}. {KEPT}"


def balanced(message: str, balance: float) -> str:
    """Return *message* with the energy *balance*."""
    return f"{message}; energy balance {balance:.1e}"

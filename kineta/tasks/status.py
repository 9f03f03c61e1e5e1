"""How a run ends: the values of ``Result.status``."""

from __future__ import annotations

#: An error of the method; at the end; at a terminal event; interrupted; at the end or an event, with a balance of energy that
#: the tolerances do not explain; out of steps.
FAILED, DONE, EVENT, INTERRUPTED, UNBALANCED, OUT_OF_STEPS = range(-1, 5)

"""What has to vanish for each kind of constraint: one function a kind, in the table ``RESIDUALS``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kineta.expr.graph import Ref
from kineta.formalism.closures.loop import loop
from kineta.formalism.closures.plain import plain
from kineta.formalism.closures.rolling import rolling
from kineta.formalism.elements import Elements
from kineta.model.constraints.loop import Loop
from kineta.model.constraints.plain import Constraint
from kineta.model.constraints.rolling import Rolling

#: The residuals of a constraint by the names of its components; a constraint of one component may leave its name empty.
Residuals = Mapping[str, Ref]

#: What the kinds of constraints make zero.
RESIDUALS: Mapping[type, Callable[[Elements, Any], Residuals]] = {
    Constraint: plain,
    Loop: loop,
    Rolling: rolling,
}

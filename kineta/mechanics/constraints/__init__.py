"""Constraints: residuals of each kind (table ``RESIDUALS``), their rows, redundancy, projection and multipliers.

Reading order: ``equation_residuals``, ``loop_residuals``, ``rolling_residuals``, ``relative_kinematics``, ``structural_rank``,
``rows``, ``quasi_velocities``; on a derivation ``kkt``, ``solution_strategies``, ``projection``, ``joint_reactions``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kineta.expr.graph import Ref
from kineta.mechanics.constraints.equation_residuals import plain
from kineta.mechanics.constraints.loop_residuals import loop
from kineta.mechanics.constraints.rolling_residuals import rolling
from kineta.mechanics.elements.applied_forces import Elements
from kineta.model.constraints.equation import Constraint
from kineta.model.constraints.loop import Loop
from kineta.model.constraints.rolling import Rolling

#: The residuals of a constraint by the names of its components; a constraint of one component may leave its name empty.
Residuals = Mapping[str, Ref]

#: Residuals of each kind of constraint.
RESIDUALS: Mapping[type, Callable[[Elements, Any], Residuals]] = {Constraint: plain, Loop: loop, Rolling: rolling}

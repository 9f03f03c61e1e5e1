"""Laws of control by name. Reading order: ``law``, ``covariant``, ``kineta``, ``inertial``, ``least_rate``."""

from __future__ import annotations

from collections.abc import Mapping

from kineta.mechanics.programs.laws.covariant import COVARIANT
from kineta.mechanics.programs.laws.inertial import INERTIAL
from kineta.mechanics.programs.laws.kineta import KINETA
from kineta.mechanics.programs.laws.law import Law
from kineta.mechanics.programs.laws.least_rate import LEAST

LAWS: Mapping[str, Law] = {law.name: law for law in (COVARIANT, KINETA, INERTIAL, LEAST)}

"""Laws of control by name."""

from __future__ import annotations

from collections.abc import Mapping

from kineta.formalism.laws.covariant import COVARIANT
from kineta.formalism.laws.inertial import INERTIAL
from kineta.formalism.laws.kineta import KINETA
from kineta.formalism.laws.law import Law
from kineta.formalism.laws.least import LEAST

LAWS: Mapping[str, Law] = {law.name: law for law in (COVARIANT, KINETA, INERTIAL, LEAST)}

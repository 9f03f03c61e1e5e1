"""The formalisms by name."""

from __future__ import annotations

from collections.abc import Mapping

from kineta.formalism.formalism import Formalism
from kineta.formalism.newton_euler import NEWTON_EULER

FORMALISMS: Mapping[str, Formalism] = {f.name: f for f in (NEWTON_EULER,)}

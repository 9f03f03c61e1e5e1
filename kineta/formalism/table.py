"""The formalisms by name."""

from __future__ import annotations

from collections.abc import Mapping

from kineta.formalism.appell import APPELL
from kineta.formalism.dalembert import DALEMBERT
from kineta.formalism.formalism import Formalism
from kineta.formalism.gauss import GAUSS
from kineta.formalism.kane import KANE
from kineta.formalism.lagrange import LAGRANGE
from kineta.formalism.newton_euler import NEWTON_EULER
from kineta.formalism.wittenburg import WITTENBURG

FORMALISMS: Mapping[str, Formalism] = {
    f.name: f for f in (NEWTON_EULER, DALEMBERT, LAGRANGE, APPELL, KANE, GAUSS, WITTENBURG)
}

"""Rodionov's covariant forms of the equations under programs of motion, by name.

All are the same equations but RnQ, which is another law for r > 0 where configurations make a curved space: it leaves out what
the forces of joints and rigidity do on higher derivatives, the others count that as control (theory R.7).
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.formalism.forms.christoffel import RNQ
from kineta.formalism.forms.compulsion import RNGA, RNGL, RNR_SA
from kineta.formalism.forms.form import Form
from kineta.formalism.forms.kinetas import RNA, RNL, RNQ_R

FORMS: Mapping[str, Form] = {form.name: form for form in (RNQ, RNA, RNL, RNQ_R, RNR_SA, RNGA, RNGL)}

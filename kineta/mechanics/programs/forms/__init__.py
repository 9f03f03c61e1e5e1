"""Rodionov's covariant forms of the equations under programs of motion, by name.

All forms are equivalent except RnQ, which is another law for r > 0 on curved configuration spaces: it omits the effect of joint
forces on higher derivatives, which the other forms count as control (theory R.7). Reading order:
``form``, ``christoffel``, ``kineta_forms``, ``least_constraint``, ``point_forces``.
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.mechanics.programs.forms.christoffel import RNQ
from kineta.mechanics.programs.forms.form import Form
from kineta.mechanics.programs.forms.kineta_forms import RNA, RNL, RNQ_R
from kineta.mechanics.programs.forms.least_constraint import RNGA, RNGL, RNR_SA

FORMS: Mapping[str, Form] = {form.name: form for form in (RNQ, RNA, RNL, RNQ_R, RNR_SA, RNGA, RNGL)}

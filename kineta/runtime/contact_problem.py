"""Contact problems of a system in numbers: compiled terms, and the memory in which kernels solve them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.equations.formulas import simplified
from kineta.kernels.contact.problem import ContactProblem, ContactSolution, ContactTerms
from kineta.mechanics.contact.contact_terms import ContactTermsArrays, contact_terms
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.mechanics.derivation import Derivation
from kineta.passes.hoist import hoist

#: Terms in the order of the compiled function.
TERMS = ("inertia", "force", "jacobian", "velocity", "bias", "law", "gap")


class CompiledContacts:
    """The contact problem of a derivation: its sparsity, and one compiled function for all terms of a state, whatever touches.

    ``problem`` is shared by all motions; each has a :meth:`terms` and a :meth:`solution` of its own.
    """

    def __init__(self, d: Derivation) -> None:
        found = contact_terms(d)
        self._arrays = {name: getattr(found, name) for name in TERMS}
        names = [contact.name for contact in d.contacts]
        self.names = tuple(names)
        self.problem = _problem(found, len(d.symbols.v), d.contacts)
        wanted = {"terms": [x for name in TERMS for x in self._arrays[name]]}
        own, simple = simplified(d, wanted, (*d.symbols.system.parameter_names, *(f"tau.{n}" for n in d.symbols.names)))
        s = {"t": (own.t,), "y": [*own.q, *own.v]}
        outputs = {"terms": {"terms": ((len(simple["terms"]),), simple["terms"])}}
        setup, programs = hoist(own.graph, s, outputs, [*own.p, *own.tau], "contact")
        self.functions = CompiledFunctions([setup, *programs.values()])
        self._setup = setup.name

    def parameter_block(self, p: FloatArray, forces: FloatArray) -> FloatArray:
        """Block h from parameters (np,) and constant forces (nv,)."""
        return self.functions.interpreted(self._setup)(np.concatenate([p, forces]))

    def terms(self) -> tuple[FloatArray, ContactTerms]:
        """Memory of all terms, as the compiled function ``terms`` writes it, and its parts."""
        ends = [*accumulate(len(self._arrays[name]) for name in TERMS)]
        memory = np.zeros(ends[-1])
        parts = {n: memory[end - len(self._arrays[n]) : end] for n, end in zip(TERMS, ends, strict=True)}
        return memory, ContactTerms(**parts)

    def solution(self) -> ContactSolution:
        """Working memory of a motion."""
        m = len(self.names)
        return ContactSolution(
            response=np.zeros(len(self._arrays["jacobian"])),
            delassus=np.zeros(9 * m),
            target=np.zeros(3 * m),
            impulse=np.zeros(3 * m),
            least=np.zeros(m),
            friction=np.zeros(m),
            before=np.zeros(self.problem.speeds),
            compression=np.zeros(3 * m),
            active=np.zeros(m, dtype=np.int64),
            label=np.zeros(self.problem.blocks, dtype=np.int64),
            local=np.zeros(4),
        )


def _problem(found: ContactTermsArrays, nv: int, contacts: Sequence[UnilateralConstraint]) -> ContactProblem:
    blocks, coupled = found.blocks, found.coupled
    rows = [found.speeds(c) for c in range(len(coupled))]
    speeds = sum(map(len, blocks))
    return ContactProblem(
        speeds=speeds,
        multipliers=speeds - nv,
        contacts=len(coupled),
        blocks=len(blocks),
        block_start=_starts(blocks),
        block_speeds=_flat(blocks),
        inertia_start=_integers([0, *accumulate(len(b) * (len(b) + 2) for b in blocks)]),
        row_start=_starts(rows),
        row_speeds=_flat(rows),
        coupled_start=_starts(coupled),
        coupled_blocks=_flat(coupled),
        has_normal=_integers([contact.normal is not None for contact in contacts]),
        poisson=_integers([contact.poisson for contact in contacts]),
    )


def _starts(rows: Sequence[Sequence[int]]) -> IntArray:
    return _integers([0, *accumulate(map(len, rows))])


def _flat(rows: Sequence[Sequence[int]]) -> IntArray:
    return _integers([k for row in rows for k in row])


def _integers(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)

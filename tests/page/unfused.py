"""Runs on a processor that rounds products before they are added, as WebAssembly does; for a process of its own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any


def begin() -> None:
    """Compile for the plainest processor of this kind from now on; before anything else of kineta is imported."""
    from kineta.codegen import target

    triple = target.llvm().get_process_triple()
    plainest = partial(target.Target, triple, "x86-64", "", 2)
    target.host = plainest  # type: ignore[assignment]  # a cached function, in whose place another of no arguments stands


def page_and_run(
    model: Path, page: Path, seconds: float, rtol: float, atol: float
) -> tuple[dict[str, float], dict[str, float], int, list[str]]:
    """Write the page of a model; of its run by name the last state and how large each has been, the steps, and the changes."""
    import kineta as kn
    from kineta.kernels.integrate import is_fused
    from kineta.page import kept_pages
    from kineta.tasks import kept_results

    assert not is_fused()
    kept_pages.RTOL, kept_pages.ATOL = rtol, atol
    kept_results.stored = lambda _, make: make()  # found here, and not by a processor that fuses
    system = kn.load(model)
    system.show(page, to=seconds)
    return told(kn.simulate(system, seconds, rtol=rtol, atol=atol))


def told(run: Any) -> tuple[dict[str, float], dict[str, float], int, list[str]]:
    """What :func:`page_and_run` tells of a *run*."""
    states = (*run.q_names, *run.v_names, *run.level_names)
    sizes = {n: float(abs(run[n]).max()) for n in states}
    return {n: float(run[n][-1]) for n in states}, sizes, run.steps, [what for _, what in run.changes]

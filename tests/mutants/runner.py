"""Judges mutants: ``python -m tests.mutants.runner FIRST STEP`` writes a line of JSON for every STEP-th mutant from FIRST on.

What all mutants need and none changes, the graph of expressions and what knows no mechanics, is imported once; each is then
judged in a process of its own, in which the one module that it changes is compiled from the changed text and all others are as
they are. A certificate that cannot hold any more asks no further laws.
"""

from __future__ import annotations

import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
#: Time that a mutant may take [s].
LIMIT = 100
#: Packages that know no mechanics.
PLAIN = {"expr", "passes", "algebra", "codegen", "numerics", "notation", "integration", "kernels"}


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module another text."""

    def __init__(self, name: str, path: Path, text: str) -> None:
        self.name, self.path, self.text = name, path, text

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        if name != self.name:
            return None
        packages = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, self.path, loader=self, submodule_search_locations=packages)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.text, str(self.path), "exec"), module.__dict__)


def changed(mutant: Mutant) -> str:
    """The text with the one change. Raises :class:`ValueError` where that is not found once."""
    text = (ROOT / "kineta" / mutant.file).read_text()
    if (n := text.count(mutant.old)) != 1:
        raise ValueError(f"kineta/{mutant.file}: expected this once, found {n} times: {mutant.old!r}")
    return text.replace(mutant.old, mutant.new)


def judged(mutant: Mutant) -> tuple[str, str]:
    """How a mutant ends, ``verdict``, ``error``, ``crash`` or ``survives``, and what is said of it."""
    from tests.mutants.models import MODELS

    path, name = ROOT / "kineta" / mutant.file, _module(mutant)
    if name in sys.modules:
        raise ValueError(f"{name} is imported before it is changed.")
    sys.meta_path.insert(0, _Changed(name, path, changed(mutant)))
    import kineta as kn

    warnings.simplefilter("ignore")
    _left_at_the_first_fault()
    for area in mutant.areas:
        for text in MODELS[area]:
            try:
                certificate = kn.verify(kn.loads(text), states=4, digits=0)
            except kn.KinetaError as error:
                return "error", str(error)
            except Exception:  # what a crash says
                return "crash", traceback.format_exc().splitlines()[-1]
            if not certificate.holds:
                return "verdict", certificate.sentence
    return "survives", ""


def _left_at_the_first_fault() -> None:
    """Have ``verify`` ask no laws where formalisms disagree, and none after one that is broken: the verdict is the same.

    Laws of invariance, which derive and simplify everything anew, are asked last.
    """
    from kineta.tasks.verification.laws import invariance

    verification = importlib.import_module("kineta.tasks.verification.verify")
    verification.LAWS = sorted(verification.LAWS, key=lambda law: law in invariance.LAWS)
    agrees, findings = verification._with_most, verification._findings
    verdicts = []

    def with_most(*given: Any) -> bool:
        verdicts.append(agrees(*given))
        return verdicts[-1]

    def until_one_is_broken(*given: Any) -> Iterator[Any]:
        asked = findings(*given) if all(verdicts) else ()
        for finding in asked:
            yield finding
            if not finding.holds:
                return

    verification._with_most, verification._findings = with_most, until_one_is_broken


def _module(mutant: Mutant) -> str:
    """The name of the module that is changed."""
    return ".".join(("kineta", *Path(mutant.file).with_suffix("").parts)).removesuffix(".__init__")


def _in_a_process(work: Callable[[], object]) -> Any:
    """What *work* returns in a process of its own, through JSON; None where it comes to no end."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.alarm(LIMIT)
            os.write(write, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return json.loads(found) if found else None


def _plain_modules() -> list[str]:
    """The modules of plain packages that a certificate takes."""
    import kineta as kn

    kn.verify(kn.loads("A | Rz(a), Sx(1) = 1;"), states=1, digits=0)
    return [name for name in sys.modules if name.startswith("kineta.") and name.split(".")[1] in PLAIN]


def main(first: int, step: int) -> None:
    """Judge every *step*-th mutant from *first* on."""
    import lark
    import mpmath
    import scipy.linalg
    import scipy.sparse.linalg  # what kineta needs: read once for all

    del lark, mpmath, scipy
    for name in _in_a_process(_plain_modules):
        importlib.import_module(name)
    gc.disable()  # no process lives long
    for k in range(first, len(MUTANTS), step):
        how, said = _in_a_process(lambda k=k: judged(MUTANTS[k])) or ("crash", f"no answer within {LIMIT} s")
        sys.stdout.write(json.dumps([k, how, said[:2000]]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

"""The hook of the build: what no model decides is made for this machine, and stands in the package."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PreparationHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs :mod:`kineta.preparation`. Where that fails, first runs compile what they need."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Prepare the package that is built or, if it is *editable*, the sources."""
        if subprocess.run([sys.executable, "-m", "kineta.preparation"], cwd=self.root, check=False).returncode:
            self.app.display_warning("Kernels are not compiled ahead: runs compile theirs when they first need them.")
        build_data.update(pure_python=False, infer_tag=True)
        build_data["artifacts"].append("kineta/prepared/*")

"""The machine and the versions that a benchmark ran with."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "kineta",
    "numpy",
    "scipy",
    "llvmlite",
    "pin",
    "cmeel-eigen",
    "mujoco-core",
    "exudyn",
    "example-robot-data",
    "cuda-bindings",
)


def processor() -> str:
    """Name of the processor as the operating system gives it, with LLVM's name for the kind."""
    from llvmlite import binding

    cpuinfo = Path("/proc/cpuinfo")
    named = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    found = next((line.split(":", 1)[1].strip() for line in named if line.startswith("model name")), "")
    return f"{found or platform.processor() or platform.machine()} ({binding.get_host_cpu_name()})"


def compiler() -> str:
    """First line of what the C++ compiler says about itself."""
    try:
        said = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return said.splitlines()[0]


def versions() -> dict[str, str]:
    """Versions of the packages that matter here."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def report() -> str:
    """All of it, a line each."""
    rows = {
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "c++": compiler(),
        **versions(),
    }
    return "\n".join(f"{name:20}{value}" for name, value in rows.items())

"""``python -m benchmarks``: all benchmarks, or those named, each beside its peer in one run."""

from __future__ import annotations

import argparse
from importlib import import_module

from benchmarks import machine

#: The benchmarks, modules of this package with a function ``main(quick)``, in the order in which they run.
BENCHMARKS = (
    *("operations", "derivation", "growth", "dynamics", "call", "simulation", "ensemble", "gpu", "closed", "contact"),
    *("linear", "motions", "programs", "page"),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all, if none is named")
    parser.add_argument("--quick", action="store_true", help="fewer repeats: to see that everything runs")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark '{unknown[0]}'; expected {', '.join(BENCHMARKS)}")
    print(machine.report())
    for name in arguments.names or BENCHMARKS:
        print(f"\n{name}\n")
        try:
            import_module(f"benchmarks.{name}").main(quick=arguments.quick)
        except ModuleNotFoundError as missing:
            if str(missing.name).partition(".")[0] in ("benchmarks", "kineta"):
                raise
            print(f"not run: its peer '{missing.name}' is not installed; make bench installs what pip has")


if __name__ == "__main__":
    main()

"""``python -m benchmarks``: all benchmarks, or those named, each beside its peer in one run."""

from __future__ import annotations

import argparse

from benchmarks import (
    call,
    closed,
    contact,
    derivation,
    dynamics,
    ensemble,
    gpu,
    linear,
    machine,
    motions,
    operations,
    programs,
    simulation,
)

BENCHMARKS = {
    "operations": operations.main,
    "derivation": derivation.main,
    "dynamics": dynamics.main,
    "call": call.main,
    "simulation": simulation.main,
    "ensemble": ensemble.main,
    "gpu": gpu.main,
    "closed": closed.main,
    "contact": contact.main,
    "linear": linear.main,
    "motions": motions.main,
    "programs": programs.main,
}


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
        BENCHMARKS[name](quick=arguments.quick)


if __name__ == "__main__":
    main()

"""``kineta export`` to C99, and ``kineta import`` from URDF."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kineta.cli.options import FILE, Verb, force, json_, model, parameter, settings, to
from kineta.cli.values import Settings, emit, print_json, print_written, read, with_values, write_files
from kineta.errors import ArgumentError
from kineta.tasks import options as o

if TYPE_CHECKING:
    from kineta.model.system import System

QUANTITIES = "inverse,mass_matrix,bias,forward"


@click.command(
    cls=Verb,
    examples="""
    kineta export double_pendulum.kin
    kineta export double_pendulum.kin --to src --quantity forward
    kineta export double_pendulum.kin --run
    kineta export bouncing_ball.kin --run --method moreau --max-step 1e-4
    kineta export double_pendulum.kin --wasm --event q1 --event "q2 - q1"
    """,
)
@model
@to
@click.option(
    "--quantity", default=QUANTITIES, show_default=True, metavar="NAME,...", help="Quantities, separated by commas."
)
@click.option("--name", metavar="NAME", help="Of the files, and prefix of the functions; else the model's.")
@click.option("--run", is_flag=True, help="Write a run: steps, events, contacts, and a program that prints it.")
@click.option("--wasm", is_flag=True, help="Write a run as WebAssembly, with its loader in JavaScript.")
@parameter(o.EXPORTED_METHOD)
@parameter(o.RTOL)
@parameter(o.ATOL)
@click.option(
    "--max-step",
    type=float,
    default=math.inf,
    metavar="SECONDS",
    help="Largest step; of moreau the step, 1 ms if not given.",
)
@click.option("--event", multiple=True, metavar="EXPRESSION", help="Events of the run: zeros of an expression.")
@click.option("--fix", is_flag=True, help="Fold the values of all parameters into the code.")
@settings
@parameter(o.FORMALISM)
@parameter(o.STRATEGY)
@force
@json_
def export(
    model: Path,
    to: Path,
    quantity: str,
    name: str | None,
    run: bool,
    wasm: bool,
    method: str,
    rtol: float,
    atol: float,
    max_step: float,
    event: tuple[str, ...],
    fix: bool,
    settings: Settings,
    formalism: str,
    strategy: str,
    force: bool,
    as_json: bool,
) -> None:
    """Write the equations as C99, a header and a source.

    With --run or --wasm code that simulates without Python.
    """
    from kineta.codegen.c import identifier, source
    from kineta.equations.equations import derive
    from kineta.mechanics.quantities import DERIVATIVES
    from kineta.tasks.ignored_features import warn_ignored

    system = read(model, settings)
    if event and not (run or wasm):
        raise ArgumentError("--event: events are those of a run; add --run or --wasm.")
    if method != o.EXPORTED_METHOD.default and not (run or wasm):
        raise ArgumentError("--method: methods are those of a run; add --run or --wasm.")
    if (rtol, atol, max_step) != (o.RTOL.default, o.ATOL.default, math.inf) and not (run or wasm):
        raise ArgumentError("--rtol, --atol, --max-step: steps are those of a run; add --run or --wasm.")
    if run or wasm:
        from kineta.model.io.kin_reader import expression
        from kineta.runtime.events import event as event_of
        from kineta.tasks.export.exported_run import export_run

        system = with_values(system)
        equations = derive(system.fixed() if fix else system, formalism, strategy=strategy)
        languages = ["c"] * run + ["wasm"] * wasm
        events = [event_of(expression(text, "--event"), name=text) for text in event]
        made = [
            export_run(
                equations,
                name=name,
                language=language,
                method=method,
                rtol=rtol,
                atol=atol,
                events=events,
                max_step=max_step,
            )
            for language in languages
        ]
        contents = {to / file: content for each in made for file, content in each.files.items()}
        write_files(contents, force=force)
        print_written(contents, as_json=as_json, **{n: x for n, x in made[0].as_dict().items() if n != "files"})
        return
    warn_ignored(system, "the code", whole=True)
    equations = derive(system.fixed() if fix else system, formalism, strategy=strategy).settled()
    name = system.name if name is None else name
    if not identifier(name).strip("_"):
        raise ArgumentError(f"--name: expected a name with a letter, found '{name}'.")
    programs = []
    for asked in dict.fromkeys(q.strip() for q in quantity.split(",")):
        setup, main = equations.programs(asked)
        programs += [setup, main] if setup.n_outputs else [main]
    system = equations.system
    names = {
        "q": system.q_names,
        "v": system.v_names,
        **{n: [v + "'" * k for v in system.v_names] for k, n in enumerate(DERIVATIVES)},
        "tau": system.v_names,
        "p": system.parameter_names,
        "h": ["what the function with the suffix _setup writes"],
    }
    header, text = source(programs, name, names, system.name, _values(system))
    stem = identifier(name)
    files = {to / f"{stem}.h": header, to / f"{stem}.c": text}
    write_files(files, force=force)
    print_written(files, as_json=as_json, model=system.name, functions=[f"{stem}_{p.name}" for p in programs])


def _values(system: System) -> dict[str, dict[str, float]]:
    """Return the parameters of a model and its initial state; nothing for a parameter without value."""
    from kineta.equations.function import parameter_values
    from kineta.equations.initial_values import initial_state

    if any(p.value is None for p in system.parameters):
        return {}
    blocks = (parameter_values(system), *initial_state(system))
    names = (system.parameter_names, system.q_names, system.v_names)
    return {
        block: dict(zip(of, values.tolist(), strict=True))
        for block, of, values in zip(("p", "q0", "v0"), names, blocks, strict=True)
    }


@click.command(
    "import",
    cls=Verb,
    examples="""
    kineta import arm.urdf                               to standard output
    kineta import arm.urdf -o arm.kin --floating
    """,
)
@click.argument("robot", type=FILE, help="URDF file.")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Model file to write; else standard output.")
@click.option("--floating", is_flag=True, help="Let the root link float freely.")
@click.option("--no-limits", is_flag=True, help="Leave out the limits of joints, and their dry friction.")
@force
@json_
def import_(robot: Path, output: Path | None, floating: bool, no_limits: bool, force: bool, as_json: bool) -> None:
    """Turn a URDF file into a model file.

    What of the file is approximated or not used is said.
    """
    from kineta.model.io import dumps, urdf

    if robot.suffix == ".kin":
        raise ArgumentError(f"{robot}: expected a URDF file, found a model file, which needs no import.")
    if output is not None and output.suffix != ".kin":
        raise ArgumentError(f"--output: expected a file .kin, found '{output}'.")
    system, notes = urdf.read_with_report(robot, floating=floating, limits=not no_limits)
    text = dumps(system)
    for note in notes:
        emit(f"kineta: {note}", err=True)
    if output is not None:
        write_files({output: text}, force=force)
    if as_json:
        print_json(
            {
                "model": system.name,
                "file": str(output) if output else None,
                "notes": [str(n) for n in notes],
                "text": text,
            }
        )
    elif output is None:
        emit(text, nl=False)
    else:
        emit(f"written: {output} ({len(system.bodies)} bodies, {system.nv} degrees of freedom)")

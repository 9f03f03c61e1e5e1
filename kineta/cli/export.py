"""``kineta export`` and ``kineta import``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kineta.cli.common import Json, Model, Set, print_json, read, verb
from kineta.errors import ArgumentError
from kineta.files import write

if TYPE_CHECKING:
    from kineta.model.system import System

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]

QUANTITIES = "inverse,mass_matrix,bias,forward"


@verb
def export(
    model: Model,
    to: Annotated[Path, typer.Option(help="Folder for the files, made if need be.")] = Path(),
    quantity: Annotated[str, typer.Option(help="Quantities, separated by commas.")] = QUANTITIES,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the files and prefix of the functions; the model's if not given.", show_default=False
        ),
    ] = None,
    formalism: Annotated[str, typer.Option(help="Formalism that derives the equations.")] = "newton_euler",
    fix: Annotated[bool, typer.Option("--fix", help="Fold the values of all parameters into the code.")] = False,
    settings: Set = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the equations as C99: name.h and name.c."""
    from kineta.codegen.c import identifier, source
    from kineta.compiler import derive

    system = read(model, settings)
    equations = derive(system.fixed() if fix else system, formalism)
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
        "vdot": system.v_names,
        "tau": system.v_names,
        "p": system.parameter_names,
        "h": ["what the function with the suffix _setup writes"],
    }
    header, text = source(programs, name, names, system.name, _values(system))
    stem = identifier(name)
    files = {to / f"{stem}.h": header, to / f"{stem}.c": text}
    write_files(files, force=force)
    if json:
        print_json(
            {
                "model": system.name,
                "files": [str(p) for p in files],
                "functions": [f"{stem}_{p.name}" for p in programs],
            }
        )
    else:
        typer.echo(f"written: {', '.join(map(str, files))}")


def _values(system: System) -> dict[str, dict[str, float]]:
    """The parameters of a model and its initial state; nothing where a parameter has no value."""
    from kineta.function import parameter_values
    from kineta.tasks.state import initial_state

    if any(p.value is None for p in system.parameters):
        return {}
    blocks = (parameter_values(system), *initial_state(system))
    names = (system.parameter_names, system.q_names, system.v_names)
    return {
        block: dict(zip(of, values.tolist(), strict=True))
        for block, of, values in zip(("p", "q0", "v0"), names, blocks, strict=True)
    }


@verb
def import_(
    robot: Annotated[Path, typer.Argument(help="URDF file.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Model file to write; standard output if not given.", show_default=False),
    ] = None,
    floating: Annotated[bool, typer.Option("--floating", help="Let the root link float freely.")] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Turn a URDF file into a model file; what is not used of it is said."""
    from kineta.model.io import dumps, urdf

    if robot.suffix == ".kin":
        raise ArgumentError(f"{robot}: expected a URDF file, found a model file, which needs no import.")
    if output is not None and output.suffix != ".kin":
        raise ArgumentError(f"--output: expected a file .kin, found '{output}'.")
    system, notes = urdf.read_with_report(robot, floating=floating)
    text = dumps(system)
    for note in notes:
        typer.echo(f"kineta: {note}", err=True)
    if output is not None:
        write_files({output: text}, force=force)
    if json:
        print_json(
            {
                "model": system.name,
                "file": str(output) if output else None,
                "notes": [str(n) for n in notes],
                "text": text,
            }
        )
    elif output is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"written: {output} ({len(system.bodies)} bodies, {system.nv} degrees of freedom)")


def write_files(files: dict[Path, str], *, force: bool) -> None:
    """Write *files*, all or none: each first beside its place. Raises :class:`ArgumentError` for those that exist."""
    for path in files:
        if path.is_dir():
            raise ArgumentError(f"Expected a file, found the folder '{path}'.")
        if path.parent.exists() and not path.parent.is_dir():
            raise ArgumentError(f"Expected a folder, found the file '{path.parent}'.")
        if path.exists() and not force:
            raise ArgumentError(f"{path} exists already; give --force to overwrite it.")
    try:
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"{error.filename}: the file cannot be written ({error.strerror}).") from None
    write({path: text.encode() for path, text in files.items()})

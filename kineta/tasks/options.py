"""Options that tasks share on the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kineta.tasks.task import Option, OptionGroup

#: The metavariable of an option that takes names.
NAMES = "NAME,..."


def state(name: str, meaning: str) -> Option:
    """Numbers of coordinates or speeds."""
    return Option("state", name, f"{meaning}: 1,2,3, name=value,..., JSON, or @file.json.", metavar="VALUES")


def names(name: str, meaning: str, word: str = "", **more: Any) -> Option:
    """Names, separated by commas."""
    return Option("names", name, meaning, word, NAMES, **more)


def whole(name: str, least: int, most: int, meaning: str, metavar: str = "N", **more: Any) -> Option:
    """A whole number from *least* to *most*."""
    return Option("whole", name, meaning, metavar=metavar, limits=(least, most), **more)


def real(name: str, default: float, meaning: str) -> Option:
    """A number without dimension."""
    return Option("real", name, meaning, metavar="NUMBER", default=default)


def flag(name: str, meaning: str, word: str = "", **more: Any) -> Option:
    """A word without a value."""
    return Option("flag", name, meaning, word, default=False, **more)


def expression(name: str, meaning: str, word: str = "") -> Option:
    """An expression of coordinates, speeds and all else that the model names."""
    return Option("expression", name, meaning, word, "EXPRESSION", required=True)


def time(name: str, meaning: str, word: str = "", **more: Any) -> Option:
    """A time, in seconds or with a unit."""
    return Option("time", name, meaning, word, "TIME", **more)


def end(meaning: str, default: float | None = None) -> Option:
    """The end ``--to`` of a motion from the time 0."""
    return Option("end", "t", meaning, "to", "TIME", default)


def intervals(name: str, meaning: str, word: str = "") -> Option:
    """Lowest and highest values by name."""
    return Option("intervals", name, meaning, word, "NAME=LOW,HIGH", multiple=True)


def frame(meaning: str) -> Option:
    """The body of reference."""
    return Option("word", "frame", meaning, metavar="BODY", default="ground")


def plot(meaning: str = "Write a picture (.png, .svg, .pdf).", **more: Any) -> Option:
    """The file for a picture of the result."""
    return Option("plot", "plot", meaning, **{"metavar": "FILE", **more})


def choice(name: str, default: str, meaning: str, known: str) -> Option:
    """A word among those of the object *known*, ``module:name``, which complete it."""
    return Option("word", name, meaning, metavar="NAME", default=default, known=known)


_QUANTITIES = "inverse, forward, mass_matrix, bias, energy, positions, outputs, ..."


def quantity(default: str) -> Option:
    """A quantity of the equations."""
    return choice("quantity", default, _QUANTITIES, "kineta.mechanics.quantities:NAMES")


def printed(default: str) -> Option:
    """What is printed of the equations: they themselves with their constraints, or a quantity."""
    return choice("quantity", default, f"equations, {_QUANTITIES}", "kineta.equations.formulas:PRINTED")


def _table(meaning: str) -> Option:
    """The file of a table that is read."""
    return Option("file", "data", meaning, metavar="DATA", positional=True)


TOWARDS = Option("direction", "towards", "Look at it from this direction.", "from", "X,Y,Z")
OUTPUT = Option(
    "view",
    "view",
    "Write the page (.html), the moving machine (.glb), or a picture (.png, .svg, .pdf), and open nothing.",
    "output",
    short="o",
    metavar="FILE",
)
REPORT = Option("report", "report", "Write the page (.html), and open nothing.", "output", short="o", metavar="FILE")
MACHINE = plot("Write a picture of the machine (.png, .svg, .pdf).")
FORMALISM = choice(
    "formalism", "newton_euler", "What derives the equations.", "kineta.mechanics.formalisms.table:FORMALISMS"
)
STRATEGY = choice(
    "strategy",
    "auto",
    "Way to accelerations under constraints: multipliers, nullspace or partition.",
    "kineta.mechanics.constraints.solution_strategies:STRATEGY_NAMES",
)
METHOD = choice(
    "method",
    "auto",
    "auto, events, dop853, dopri5, moreau, CVODE, CVODE_ADAMS, IDA, or a method of SciPy.",
    "kineta.integration.solver:CHOICES",
)
RTOL, ATOL = real("rtol", 1e-9, "Relative tolerance."), real("atol", 1e-12, "Absolute tolerance.")
EXPORTED_METHOD = choice(
    "method", "auto", "Of a run: auto, dop853, dopri5, moreau.", "kineta.tasks.export.exported_run:METHODS"
)
START = (state("q", "Initial coordinates"), state("v", "Initial speeds"))
AT = time("t", "The time, for drives.", "at", default=0.0)
SAVE = Option("save", "save", "Write a table (.csv).", metavar="FILE")
SERIES = (
    plot(),
    Option("series", "series", "Draw and write just these.", metavar=NAMES, needs=(("plot", "save"), "")),
    SAVE,
)
RUN_SERIES = Option(
    "run_series",
    "series",
    "Draw just these: coordinates, speeds, energies, outputs, multipliers.",
    metavar=NAMES,
    needs=(("plot",), ", the picture to draw into"),
)
WEIGHTS = Option("weights", "weights", "Of a force among many; one by default.", "weight", "NAME=NUMBER", multiple=True)
UNKNOWN = names("unknown", "Speeds and parameters of forces; all speeds, if not given.")
PLACES = Option(
    "places",
    "wanted",
    'Components, "Tip.x=0.3, Tip.y=0.2", or JSON of positions, axes or poses by name.',
    "put",
    "PLACE",
    required=True,
)
SIGMA = Option(
    "deviations",
    "sigma",
    "Standard deviation of the errors: a number for all series, or name=value,...; else it follows from the fit.",
    metavar="VALUES",
)
FORMULAS = flag(
    "formulas",
    "Print the entries as expressions in the parameters.",
    valued=False,
    calls="kineta.tasks.linear.symbolic_matrices:linear_formulas",
    excludes=(("states", "tau", "t"), "expected no --state, --tau or --at beside it"),
)
OSCILLATIONS = flag(
    "formulas",
    "Print mass, damping, stiffness and the characteristic polynomial as expressions.",
    valued=False,
    calls="kineta.tasks.linear.oscillation_formulas:oscillation_formulas",
    excludes=(("states", "t", "plot"), "expected no --state, --at or --plot beside it"),
)
#: Formulas in LaTeX.
LATEX = Option("latex", "latex", "Print formulas as LaTeX.", default=False)
FORMULAS_LATEX = replace(LATEX, needs=(("formulas",), ", whose lines it typesets"))
BY = names(
    "by",
    "Parameters, coordinates and speeds (initial), forces tau[q1'].",
    expected="names of parameters, coordinates or speeds, as in --by m1,q1",
)
INPUTS = names("inputs", "Speeds, for the forces on them, and parameters.", "input")
OUTPUTS = names("outputs", "Outputs, coordinates, speeds, and what else is known.", "output")
STATES = names("states", "The states to keep.", "state")
COLUMNS = (
    Option("text", "time", "Column of the times in a table.", metavar="COLUMN", shown="t"),
    Option(
        "text",
        "column",
        "Column of a table that is meant by a name, as in q1=angle; as often as needed.",
        metavar="NAME=COLUMN",
        multiple=True,
    ),
)
#: The state about which a system is linearised.
ABOUT = OptionGroup(
    "about",
    (
        state("q", "Coordinates about which"),
        state("v", "Speeds about which"),
        flag("rest", "About the position of rest that is nearest to it.", "equilibrium"),
        names("steady", "About a steady motion with these speeds, from --v or the model."),
    ),
)
#: A motion and its times.
ALONG = OptionGroup(
    "along",
    (
        Option(
            "text",
            "motion",
            'Coordinates as expressions of t, "q1 = 0.3*sin(2*t), q2 = 1", or a run or table @file. Not given: the run from the '
            "initial state.",
            metavar="MOTION",
        ),
        time("to", "End of the motion.", shown="1"),
        whole("samples", 1, 10**7, "Equidistant times.", "NUMBER", shown="101"),
        *COLUMNS,
    ),
)
#: Many equilibria: from random positions, or a family along a parameter.
FAMILY = (
    whole(
        "starts",
        0,
        10**6,
        "Look from so many random positions too.",
        calls="kineta.tasks.equilibria.equilibrium:equilibria",
        excludes=(("along",), "a family begins from one guess; leave out --starts or --along"),
    ),
    whole(
        "points",
        2,
        10**6,
        "Points of a branch at most; 400, if not given.",
        needs=(("along",), "; the points are those of a family"),
    ),
    OptionGroup(
        "destination",
        (
            Option(
                "text",
                "along",
                "Follow it to this value of a parameter or steady speed.",
                metavar="NAME=VALUE",
                calls="kineta.tasks.equilibria.branches:family",
            ),
        ),
    ),
    plot("A picture of the family, or of the machine where it rests (.png, .svg, .pdf)."),
)
#: A family of periodic motions.
MOTIONS_ALONG = (
    whole(
        "points",
        2,
        10**6,
        "Points of a family at most; 200, if not given.",
        needs=(("along",), "; the points are those of a family"),
    ),
    OptionGroup(
        "destination",
        (
            Option(
                "text",
                "along",
                "Follow it to this value of a parameter.",
                metavar="NAME=VALUE",
                calls="kineta.tasks.periodic_motions.family_of_motions:periodic_family",
            ),
        ),
    ),
    plot("A picture of the motion over a period, or of the family (.png, .svg, .pdf)."),
)
#: Frequencies, or the times after a step.
RESPONSE_GRID = OptionGroup(
    "response_grid",
    (
        time("step", "The response to a step, up to this time."),
        Option("hertz", "low", "The lowest frequency.", "from", "HERTZ"),
        Option("hertz", "high", "The highest frequency.", "to", "HERTZ"),
    ),
)
#: A recorded motion, with the forces on it unless only its excitation is asked for.
RECORDED = OptionGroup(
    "recorded",
    (
        _table("Table .csv: t, coordinates, forces tau[q1']; or a run .nc."),
        flag(
            "excitation",
            "Say what the motion tells; its forces are not needed.",
            calls="kineta.tasks.identification.identification:excitation",
        ),
        *COLUMNS,
    ),
)
#: Measured series.
MEASURED = OptionGroup(
    "measured",
    (
        _table("Table .csv: times under t, series under their names, nothing where none."),
        names("series", "Columns to fit; else all that the model has."),
        *COLUMNS,
    ),
)

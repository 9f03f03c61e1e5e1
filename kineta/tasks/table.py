"""The table of tasks. From a row follow the public names of a task, its verb on the command line with help, completion and
``--json``, and its entries in the reference.
"""

from __future__ import annotations

from kineta.tasks import options as o
from kineta.tasks.task import Option, OptionGroup, Task

RUNS, MOTIONS, SMALL = "Runs", "Motions and forces", "Equilibria and small motions"
DERIVATIVES, IDENTIFICATION = "Derivatives of motions and fits", "Identification"

TASKS = (
    Task(
        "kineta.tasks.assemble",
        "Assembly assemble",
        MOTIONS,
        verb="assemble",
        help="""Find a state that meets the constraints.

        The nearest one to the guess, or to the initial state. Its last line can be put into the model.

        kineta assemble fourbar.kin
        kineta assemble fourbar.kin --q "theta=60 deg, beta=0.5" --pin theta
        """,
        options=(
            o.state("q", "A guess of coordinates"),
            o.state("v", "A guess of speeds"),
            o.names("pinned", "Coordinates and speeds that stay as they are.", "pin"),
            o.AT,
            o.MACHINE,
        ),
    ),
    Task(
        "kineta.tasks.posture",
        "Posture posture",
        MOTIONS,
        verb="show",
        function="posture",
        help="""Show the machine as it moves, or draw it.

        Without --output a page opens in the browser in which it moves by its own equations: from its initial state
        or near the guess.

        kineta show double_pendulum.kin -o double_pendulum.html
        kineta show double_pendulum.kin --to 20 -o longer.html
        kineta show fourbar.kin -o fourbar.glb
        kineta show fourbar.kin --q "theta=60 deg" --from 1,-2,1 -o fourbar.svg
        """,
        options=(
            o.OUTPUT,
            o.time("to", "Seconds of motion in a page.", shown="10, or as long as bodies do not fly apart"),
            o.state("q", "A guess of coordinates"),
            o.AT,
            o.TOWARDS,
        ),
    ),
    Task(
        "kineta.simulation.simulate",
        "simulate",
        RUNS,
        verb="simulate",
        help="""Let the system move from its initial state.

        Ctrl-C and SIGTERM keep, show and save what was computed.

        kineta simulate double_pendulum.kin --to 2 --plot out.png
        kineta simulate double_pendulum.kin --q "q1=30 deg" --set m1=2.5 --save run.nc
        kineta simulate double_pendulum.kin --plot out.png --series "q1,q1'"
        """,
        options=(
            o.end("End, in seconds or with a unit; negative: backwards.", 10.0),
            *o.START,
            o.state("levels", "Initial accelerations and their derivatives, under programs of motion"),
            o.state("tau", "Constant forces on the speeds"),
            o.METHOD,
            o.RTOL,
            o.ATOL,
            o.whole("samples", 2, 10**7, "Equidistant times recorded.", "NUMBER", default=1001),
            o.whole("max_steps", 1, 10**18, "Steps at most.", "NUMBER", shown="10 million"),
            OptionGroup("progress", ()),
            o.plot(),
            o.RUN_SERIES,
            Option("run", "save", "Write the run (.nc or .csv).", metavar="FILE"),
        ),
        passed="success",
    ),
    Task(
        "kineta.tasks.report",
        "Report report",
        RUNS,
        verb="report",
        help="""Report on a run, to be read and printed.

        One page with pictures, series, events, values, the model, its equations and their certificate. Without
        --output it opens in the browser.

        kineta report fourbar.kin --to 3 -o fourbar.html
        kineta report double_pendulum.kin --q "q1=30 deg" -o swing.html
        """,
        options=(o.REPORT, o.end("End of the run.", 10.0), *o.START),
        passed="success",
    ),
    Task(
        "kineta.tasks.equilibria.equilibrium",
        "Equilibrium equilibria equilibrium",
        SMALL,
        verb="equilibrium",
        help="""Find where a mechanism rests, or moves steadily.

        The equilibrium nearest to the guess, or to the initial position, with its stability.

        kineta equilibrium double_pendulum.kin
        kineta equilibrium double_pendulum.kin --starts 20
        kineta equilibrium fourbar.kin --along mc=5
        """,
        options=(
            o.state("q", "A guess of coordinates"),
            o.state("v", "Speeds that go on"),
            o.names("steady", "Speeds that go on; the others are zero."),
            o.names("free", "Those of them that are looked for as well."),
            o.names("pinned", "Coordinates that stay as they are.", "pin"),
            *o.FAMILY,
        ),
        record="kineta.tasks.equilibria.listing:Equilibria",
        passed="reached",
    ),
    Task(
        "kineta.tasks.periodic_motions.periodic_motion",
        "Periodic periodic",
        SMALL,
        "Guckenheimer and Holmes 1.5",
        verb="periodic",
        help="""Find a periodic motion, and whether it is stable.

        By shooting from the guess, with Floquet multipliers; of smooth motions, and of gaits from section to section.

        kineta periodic hopper.kin --section airborne --drifts x
        kineta periodic double_pendulum.kin --period 2.6 --q q1=0.2,q2=0.28 --keep q1
        kineta periodic hopper.kin --section airborne --drifts x --along d=21
        """,
        options=(
            o.time("guess", "A guess of the period; the period itself, where forces depend on the time.", "period"),
            Option(
                "expression",
                "section",
                "Where a period ends: a switch, a contact that strikes, or what rises through zero.",
                metavar="EXPRESSION",
            ),
            o.state("q", "A guess of coordinates"),
            o.state("v", "A guess of speeds"),
            o.names("drifts", "Coordinates that may have moved on after a period."),
            o.names("keep", "Initial values that stay as they are."),
            *o.MOTIONS_ALONG,
        ),
        passed="reached",
    ),
    Task(
        "kineta.tasks.periodic_motions.family_of_motions",
        "PeriodicFamily periodic_family",
        SMALL,
        "Kuznetsov 5.3, 10.1",
    ),
    Task(
        "kineta.tasks.linear.linearize",
        "linearize",
        SMALL,
        verb="linearize",
        help="""Linearise a system about a state.

        The matrices of x' = A x + B u, y = C x + D u for small changes, with the names of states, inputs and outputs.

        kineta linearize double_pendulum.kin
        kineta linearize double_pendulum.kin --q q1=0,q2=0 --input "q1'" --output q2
        kineta linearize fourbar.kin --state beta --json
        """,
        options=(
            o.ABOUT,
            o.state("tau", "Constant forces on the speeds"),
            o.AT,
            o.INPUTS,
            o.OUTPUTS,
            o.STATES,
            o.FORMULAS,
            o.FORMULAS_LATEX,
        ),
    ),
    Task(
        "kineta.tasks.linear.modes",
        "Modes modes",
        SMALL,
        verb="modes",
        help="""Find the modes of small oscillations.

        About an equilibrium or a steady motion: frequencies, damping, and who moves how much.

        kineta modes double_pendulum.kin --q q1=0,q2=0
        kineta modes fourbar.kin --equilibrium --plot modes.png
        kineta modes double_pendulum.kin --q q1=0,q2=0 --formulas
        """,
        options=(o.ABOUT, o.AT, o.STATES, o.OSCILLATIONS, o.FORMULAS_LATEX, o.plot()),
    ),
    Task(
        "kineta.tasks.linear.response",
        "Response response",
        SMALL,
        verb="response",
        help="""Respond to oscillations, or to a step.

        The frequency response about an equilibrium; with --step what follows when an input goes from 0 to 1.

        kineta response double_pendulum.kin --q q1=0,q2=0 --output q1
        kineta response double_pendulum.kin --q q1=0,q2=0 --step 10 --plot step.png
        """,
        options=(o.ABOUT, o.INPUTS, o.OUTPUTS, o.RESPONSE_GRID, o.plot()),
    ),
    Task(
        "kineta.tasks.forces.inverse_dynamics",
        "Kinetostatics statics",
        MOTIONS,
        "Andreev (3.2)-(3.5)",
        verb="statics",
        help="""Find the forces that hold a position.

        Unknown are forces on speeds, parameters to which forces are proportional, and the reactions of constraints.

        kineta statics double_pendulum.kin --q "q1=30 deg, q2=0"
        kineta statics fourbar.kin --unknown "theta'"
        """,
        options=(o.state("q", "The position"), o.UNKNOWN, o.WEIGHTS, o.SAVE),
    ),
    Task(
        "kineta.tasks.motions.kinematics",
        "Kinematics kinematics",
        MOTIONS,
        verb="kinematics",
        help="""Find where bodies and points are along a motion.

        Their positions, velocities and accelerations, the last by exact differentiation.

        kineta kinematics double_pendulum.kin --motion "q1 = sin(t), q2 = t^2"
        kineta kinematics fourbar.kin --motion "theta = 0.8 + 0.1*t" --of mass
        """,
        options=(
            o.ALONG,
            o.names("of", "Bodies and points; all, if not given."),
            o.frame("In whose frame they are seen."),
            *o.SERIES,
        ),
    ),
    Task(
        "kineta.tasks.motions.inverse_kinematics",
        "Placement inverse_kinematics",
        MOTIONS,
        verb="place",
        function="inverse_kinematics",
        help="""Find coordinates that put bodies where they are wanted.

        All that are found from the guess, or the initial position, and from random starts; the nearest first.

        kineta place double_pendulum.kin --put "second.x=1, second.y=-1"
        kineta place fourbar.kin --put mass.y=0.5 --limit theta=0,2
        """,
        options=(
            o.PLACES,
            o.state("q", "A guess of coordinates"),
            o.intervals("limits", "Limits of a coordinate.", "limit"),
            o.frame("In whose frame places are given."),
            o.whole("starts", 0, 10**6, "Random starts.", default=100),
            o.MACHINE,
        ),
        record="Placements",
    ),
    Task(
        "kineta.tasks.forces.inverse_dynamics",
        "inverse",
        MOTIONS,
        "Andreev (3.2)-(3.5)",
        verb="inverse",
        help="""Find forces of actuators that produce a motion.

        Of actuators that can replace each other, the forces are those of least squares.

        kineta inverse double_pendulum.kin --motion "q1 = sin(t), q2 = t"
        kineta inverse fourbar.kin --actuators "theta'"
        """,
        options=(o.ALONG, o.names("actuators", "Speeds on which forces act; all, if not given."), o.WEIGHTS, *o.SERIES),
    ),
    Task(
        "kineta.tasks.forces.inverse_dynamics",
        "kinetostatics",
        MOTIONS,
        "Andreev (3.2)-(3.5)",
        verb="kinetostatics",
        help="""Find the unknown forces under which a motion comes to be.

        Unknown are forces on speeds, parameters to which forces are proportional, and the reactions of constraints.

        kineta kinetostatics double_pendulum.kin --motion "q1 = t, q2 = t^2"
        kineta kinetostatics fourbar.kin --unknown "theta'"
        """,
        options=(o.ALONG, o.UNKNOWN, o.WEIGHTS, *o.SERIES),
    ),
    Task(
        "kineta.tasks.servo.servo",
        "Servo servo",
        "Servo-constraints",
        verb="servo",
        help="""Find the forces of actuators that hold programs of motion.

        Also where they act on what the programs speak of only through the rest of the system: a crane and its load.

        kineta servo crane_servo.kin --to 4 --plot forces.png --series "control.x'"
        kineta servo car_chain.kin --to 6 --actuators "x1'" --save motion.csv
        """,
        options=(
            o.end("End of the motion.", 10.0),
            o.names("actuators", "Speeds to act on; those of control, if not given."),
            *o.START,
            o.whole("samples", 2, 10**7, "Equidistant times.", "NUMBER", default=201),
            *o.SERIES,
        ),
    ),
    Task(
        "kineta.tasks.forces.joint_reactions",
        "Reactions reactions",
        MOTIONS,
        verb="reactions",
        help="""Find what joints pass on along a motion.

        Force and couple of every joint, at its hinge point, welds and loops included. Forces of the actuators, or on all
        speeds, produce a given motion.

        kineta reactions double_pendulum.kin --to 2 --plot out.png
        kineta reactions fourbar.kin --of pin,Rocker --frame Rocker
        kineta reactions fourbar.kin --motion "theta = 0.8 + t" --actuators "theta'"
        """,
        options=(
            o.ALONG,
            o.names("actuators", "Speeds on which the forces act that produce it, as for inverse."),
            o.names("of", "Bodies, for their joints, and loops; all, if not given."),
            o.frame("In whose axes; own: those of every joint."),
            *o.SERIES,
        ),
    ),
    Task(
        "kineta.tasks.identification.base_parameters",
        "BaseParameters base_parameters",
        IDENTIFICATION,
        verb="regressor",
        function="base_parameters",
        help="""Find the base parameters of a model.

        The combinations of masses, moments and inertias on which forces depend.

        kineta regressor double_pendulum.kin
        kineta regressor fourbar.kin --json
        """,
    ),
    Task(
        "kineta.tasks.identification.identification",
        "Excitation Identification excitation identify",
        IDENTIFICATION,
        verb="identify",
        help="""Find base parameters from a recorded motion and its forces.

        By least squares, with standard deviations.

        kineta identify double_pendulum.kin recorded.csv
        kineta identify double_pendulum.kin recorded.csv --json
        kineta identify double_pendulum.kin recorded.csv --known first
        kineta identify double_pendulum.kin recorded.csv --excitation
        """,
        options=(o.RECORDED, o.names("known", "Bodies and parameters, as Hand.m, that are as in the model.")),
    ),
    Task(
        "kineta.tasks.sensitivity.sensitivity",
        "Sensitivity sensitivity",
        DERIVATIVES,
        verb="sensitivity",
        help="""Differentiate a motion by its parameters and initial state.

        The values of coordinates, speeds and outputs at the end, and their exact derivatives.

        kineta sensitivity double_pendulum.kin --by m2,q1 --to 1
        kineta sensitivity double_pendulum.kin --by m2 --to 2 --plot slopes.png
        """,
        options=(
            o.BY,
            o.end("End of the motion.", 1.0),
            o.names("keep", "Initial values that stay, where constraints hold."),
            *o.START,
            o.whole("samples", 2, 10**6, "Times recorded.", default=201),
            o.plot(),
        ),
    ),
    Task(
        "kineta.tasks.sensitivity.fit",
        "Fit fit",
        DERIVATIVES,
        verb="fit",
        help="""Fit parameters to measured data.

        By least squares with exact derivatives, with intervals that hold the values with 95 % probability.

        kineta fit double_pendulum.kin data.csv --by m2
        kineta fit double_pendulum.kin data.csv --by "m2,q1'" --series q1,q2
        kineta fit double_pendulum.kin data.csv --by m2 --sigma 0.01 --bounds m2=1,2
        """,
        options=(
            o.MEASURED,
            o.BY,
            o.state("q", "Initial coordinates to begin with"),
            o.state("v", "Initial speeds to begin with"),
            o.SIGMA,
            o.intervals(
                "bounds", "Lowest and highest value of what is fitted; one of them may be left out. As often as needed."
            ),
            o.time("t0", "When the motion starts; else at the first time of the data."),
            o.plot(),
        ),
    ),
    Task(
        "kineta.tasks.verification.verify",
        "verify",
        "Verification",
        verb="verify",
        help="""Compare all formalisms at random states.

        Each derives the equations by itself; the laws of mechanics are checked too. A difference ends with 2.

        kineta verify double_pendulum.kin
        kineta verify double_pendulum.kin --states 5 --html certificate.html
        """,
        options=(
            o.whole("states", 1, 10**6, "Random states.", default=40),
            o.whole("digits", 0, 1000, "Digits of the precise comparison; 0 for none.", default=50),
            o.whole("seed", 0, 10**9, "Of the random states.", default=0),
            Option("page", "html", "Write the certificate as an HTML page.", metavar="FILE"),
        ),
        passed="holds",
        valued=False,
    ),
    Task(
        "kineta.tasks.verification.first_integrals",
        "FirstIntegral first_integrals",
        "Verification",
        verb="integrals",
        function="conservation",
        help="""Find what a motion does not change.

        First integrals: momenta, angular momenta and energies that stay constant. A drift along a run ends with 2.

        kineta integrals spinning_top.kin
        kineta integrals spinning_top.kin --latex
        kineta integrals double_pendulum.kin --to 2
        """,
        options=(o.end("Follow them along a run to this time."), o.LATEX),
        passed="holds",
        valued="t",
    ),
    Task("kineta.tasks.augmented_bodies", "AugmentedBodies augmented_bodies", "Equations"),
    Task("kineta.tasks.equilibria.branches", "Family family", SMALL),
    Task("kineta.tasks.equilibria.stiffness", "Stiffness", SMALL),
    Task("kineta.tasks.export.exported_run", "ExportedRun export_run", RUNS),
    Task("kineta.tasks.identification.regressor", "Regressor regressor", IDENTIFICATION),
    Task("kineta.tasks.linear.control_system", "io_system", SMALL),
    Task("kineta.tasks.linear.linear_system", "Linear", SMALL),
    Task("kineta.tasks.linear.symbolic_matrices", "LinearFormulas linear_formulas", SMALL),
    Task("kineta.tasks.linear.oscillation_formulas", "OscillationFormulas oscillation_formulas", SMALL),
    Task("kineta.tasks.motions.conditioning", "Conditioning", MOTIONS),
    Task("kineta.tasks.sensitivity.objective", "Objective objective", DERIVATIVES),
    Task(
        "kineta.tasks.structure_matrices",
        "StructureMatrices structure_matrices",
        "Equations",
        "Andreev (2.1), (2.2), (3.2)",
    ),
    Task("kineta.tasks.verification.certificate", "Certificate", "Verification"),
)

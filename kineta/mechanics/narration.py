"""``Step``: records of the derivation report, and the steps that all formalisms share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements.applied_forces import generalized_forces
from kineta.mechanics.elements.inertia_elements import resistances
from kineta.mechanics.equations_of_motion import equations_of_motion
from kineta.mechanics.programs.dynamics import law
from kineta.model.reserved_symbols import momentum
from kineta.records import dataclass
from kineta.spatial.vector import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Shown:
    """A result of a step: an expression, a vector or a matrix by its *name*, such as ``S``, ``w2'``, ``Q[q1']``, ``dT/dq1``.

    refs : into the graph of the derivation, row by row
    shape : (), (n,) or (n, m)
    """

    name: str
    refs: tuple[Ref, ...]
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a derivation.

    title : heading of the step
    law : its equation, in the letters of the source
    source : place in the literature, with the number of the equation
    note : a sentence or two to explain letters, with formulas between backticks; ``plain_note`` without these
    whole : whether results shown before are written out again instead of named
    """

    title: str
    law: str = ""
    source: str = ""
    note: str = ""
    shown: tuple[Shown, ...] = ()
    whole: bool = False

    @property
    def plain_note(self) -> str:
        """The note as it is read."""
        return self.note.replace("`", "")


#: Generator of the steps of a derivation.
Steps = Callable[[Derivation], Iterator[Step]]


def one(name: str, ref: Ref) -> Shown:
    """An expression."""
    return Shown(name, (ref,))


def vector(name: str, v: Vector) -> Shown:
    """A vector by its components."""
    return Shown(name, v.refs, (3,))


def vectors(letter: str, found: Iterable[Vector]) -> tuple[Shown, ...]:
    """The vectors *letter* 1, 2, ... of the links or bodies; a dot on the letter follows the number."""
    stem, dots = letter.rstrip("'"), letter.count("'") * "'"
    return tuple(vector(f"{stem}{k}{dots}", v) for k, v in enumerate(found, 1))


def table(name: str, rows: Sequence[Sequence[Ref]]) -> Shown:
    """A matrix."""
    return Shown(name, tuple(r for row in rows for r in row), (len(rows), len(rows[0]) if rows else 0))


def tensor(name: str, M: Matrix) -> Shown:
    """A 3 x 3 matrix."""
    return table(name, M.rows)


def each(letter: str, names: Iterable[str], refs: Iterable[Ref]) -> tuple[Shown, ...]:
    """The expressions ``letter[name]``."""
    return tuple(one(f"{letter}[{n}]", r) for n, r in zip(names, refs, strict=True))


def rates(names: Iterable[str], refs: Iterable[Ref]) -> tuple[Shown, ...]:
    """The rates of coordinates and states with these *names*, each with a prime."""
    return tuple(one(f"{n}'", r) for n, r in zip(names, refs, strict=True))


def momenta(names: Iterable[str], refs: Iterable[Ref], marks: str = "") -> tuple[Shown, ...]:
    """The momenta ``p[q1]`` of the speeds with these *names*, or with *marks* their rates ``p[q1]'``."""
    return tuple(one(f"{momentum(n)}{marks}", r) for n, r in zip(names, refs, strict=True))


def slopes(letter: str, names: Iterable[str], refs: Iterable[Ref]) -> tuple[Shown, ...]:
    """The derivatives ``dletter/dname``."""
    return tuple(one(f"d{letter}/d{n}", r) for n, r in zip(names, refs, strict=True))


def told(d: Derivation, own: Steps) -> Iterator[Step]:
    """The steps of a formalism, between the steps that all formalisms share."""
    yield from speed_steps(d)
    held = resistances(d)
    if held:
        count = [str(j) for j in range(1, len(held) + 1)]
        shown = (*each("I", count, (r.I for r in held)), *each("k", count, (r.k for r in held)))
        yield Step("Inertia elements, beside the bodies", "T = ½ ∑ I_j k_j²", "Andreev (1.8)", shown=shown)
    yield from own(d)
    names = d.symbols.names
    yield Step(
        "Equations of motion",
        note="The generalised forces tau, beside those of the model, that produce the accelerations; without any they are zero.",
        shown=each("tau", names, d["inverse"].refs),
        whole=True,
    )
    if d.rows:
        rows = []
        for r in d.rows:
            rows += [one(f"A[{r.constraint},{names[k]}]", partial) for k, partial in r.gradient.items()]
            rows.append(one(f"rest[{r.constraint}]", r.rest))
        yield Step(
            "Constraints",
            "A v̇ + rest = 0",
            note="The reactions add to the equations of motion: `M v̇ + h = τ + Aᵀ λ`. "
            f"Both are solved for by the strategy {d.strategy}.",
            shown=tuple(rows),
        )
    if d.symbols.system.programs:
        yield from program_steps(d)
    if d.symbols.states:
        yield Step(
            "First-order states",
            "ż = f(t, q, v, z)",
            note="They act in forces, and have no inertia.",
            shown=rates(d.symbols.system.state_names, d.symbols.state_rates),
            whole=True,
        )


def program_steps(d: Derivation) -> Iterator[Step]:
    """The steps from the equations of motion to those of the order n + 2 that the system obeys under its programs."""
    g, own, names, used, found = d.graph, d.programs, d.symbols.names, law(d), equations_of_motion(d)
    n, r = len(names), own.r
    orders = "; ".join(
        f"{row.constraint} has the order {row.order}" + " and is not linear in it" * (row.order > 1 and not linear)
        for row, linear in zip(own.rows, own.linear, strict=True)
    )
    often = ("are not differentiated", "are differentiated once")[r] if r < 2 else f"are differentiated {r} times"
    yield Step(
        "Programs of motion, which vanish",
        "f = 0",
        "Rodionov (5)",
        note=f"By their highest derivatives: {orders}. So the equations of motion {often}, and have the order {own.s}.",
        shown=each("f", (row.constraint for row in own.rows), found.conditions[: len(own.rows)]),
    )
    rows = []
    for row in own.rows:
        rows += [one(f"B[{row.constraint},{names[k]}]", partial) for k, partial in row.gradient.items()]
        rows.append(one(f"W[{row.constraint}]", row.rest))
    yield Step("Programs, by the highest derivatives z", "B z + W = 0", "Rodionov (8)", shown=tuple(rows))
    if r:
        yield Step(
            f"Forces that a motion asks for, as the law {used.name} differentiates them",
            "M z + κ",
            used.source,
            note="M is the mass matrix, whatever the order.",
            shown=each("kappa", names, found.rest),
        )
    equations = []
    for k, name in enumerate(names):
        reaction = g.sum(g.mul(x[k], g.symbol(unknown)) for unknown, x in found.reactions.items())
        z = (g.mul(found.inertia[k * n + j], g.symbol(x)) for j, x in enumerate(found.highest))
        lead = g.add(g.sum(z), found.rest[k]) if r else found.balance[k]
        equations.append(one("0" if r else f"tau[{name}]", g.sub(lead, reaction)))
    yield Step(
        f"Equations of the order {own.s} under the programs",
        note=f"The unknowns beside the motion are {', '.join(found.reactions)}.",
        shown=tuple(equations),
        whole=True,
    )


def speed_steps(d: Derivation) -> Iterator[Step]:
    """The steps from quasi-velocities to the speeds of the motions, and the rates of positions and quaternions."""
    s = d.symbols
    if s.system.quasi:
        g, base = d.graph, d.definitions.base
        rows = {
            f.name: g.sum([f.free, *(g.mul(a, base.v[k]) for k, a in f.gradient.items())]) for f in d.definitions.rows
        }
        held = [r.constraint for r in d.definitions.kept]
        if held:
            shown = tuple(one(f"f[{n}]", rows[n]) for n in held)
            yield Step("Constraints, which vanish", "A q̇ + A_0 = 0", "Gantmacher (4)", shown=shown)
        chosen = tuple(one(f"quasi[{f.name}]", rows[f.name]) for f in d.definitions.chosen)
        yield Step("Quasi-velocities, by the speeds of the motions", "π̇ = f q̇ + f_0", "Gantmacher (5)", shown=chosen)
        yield Step(
            "Speeds of the motions, by the quasi-velocities",
            "q̇ = h π̇ + h_0",
            "Gantmacher (6)",
            note="Any quasi-velocities give an admissible motion, and the reactions of the constraints do no work on it.",
            shown=tuple(one(f"v[{n}]", ref) for n, ref in zip(base.names, s.speeds, strict=True)),
        )
    if s.system.joints:
        names = [n for n in s.system.q_names if n.rpartition(".")[0] in s.system.joints]
        shown = rates(names, (r for n, r in zip(s.system.q_names, s.qdot, strict=True) if n in names))
        yield Step(
            "Rates of positions and quaternions",
            "q̇_0 = −ω · q/2,  q̇ = (q_0 ω + q × ω)/2",
            "Golubev (5.5), in body axes",
            shown=shown,
        )


def links(d: Derivation) -> str:
    """A sentence that lists the numbered links with their motions and carriers."""
    places = d.mechanism.places
    held: dict[int, list[str]] = {}
    for name, place in places.items():
        if place.link >= 0:
            held.setdefault(place.link, []).append(name)
    words = []
    for i, link in enumerate(d.mechanism.links):
        axis = (
            ""
            if link.kind in ("ball", "free")
            else f" {'about' if link.kind == 'turn' else 'along'} {'xyz'[link.axis]}"
        )
        base = "the ground" if link.parent < 0 else str(link.parent + 1)
        carried = f" ({', '.join(held[i])})" if i in held else ""
        seen = ", seen in axes that do not turn with it" if link.kind == "turn" and link.Q.is_identity else ""
        words.append(f"{i + 1}{carried} moves on {base}{axis or ' freely'}{seen}")
    return "Links, each with one motion: " + "; ".join(words) + ". Vectors are in link axes."


def applied(
    d: Derivation, source: str, forces: Sequence[Ref] = (), title: str = "Generalised forces of the elements"
) -> Step:
    """The generalised forces of all elements, or other *forces*."""
    shown = each("Q", d.symbols.names, forces or generalized_forces(d.elements)) if d.symbols.system.elements else ()
    return Step(title, "Q_s = ∑ F · ∂r/∂q_s", source, "" if shown else "There are none.", shown)


def nonzero(shown: Iterable[Shown]) -> tuple[Shown, ...]:
    """The results with nonzero entries."""
    return tuple(x for x in shown if any(r != ZERO for r in x.refs))

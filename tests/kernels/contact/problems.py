"""Random contact problems with their dense matrices, for comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kineta.integration.contact_records import (
    ContactMode,
    ContactMotion,
    ContactProblem,
    ContactSolution,
    ContactTerms,
    IslandWork,
    ModeWork,
)
from kineta.kernels.contact import active_set, block_inertia, islands
from kineta.kernels.machine_code import machine_code
from kineta.memory import BOOLEAN, INTEGER, INTEGERS, REAL, REALS, CompiledFunction
from kineta.runtime.contact_problem import mode_work


@dataclass(frozen=True)
class RandomProblem:
    """A contact problem in memory, and as dense arrays: KKT matrix (nx, nx), rows W (3 m, nx), and friction mu (m,)."""

    problem: ContactProblem
    terms: ContactTerms
    solution: ContactSolution
    K: np.ndarray
    W: np.ndarray
    mu: np.ndarray
    massless: np.ndarray

    @property
    def sizes(self) -> dict[str, int]:
        return {"speeds": len(self.K), "contacts": len(self.mu)}


def integers(x: Any) -> np.ndarray:
    return np.array(x, dtype=np.int64)


def random_problem(
    seed: int, blocks: int = 3, contacts: int = 4, *, tied: bool = True, tangents: int = 2, mu: float | None = None
) -> RandomProblem:
    """A problem of random *blocks*, some with multipliers where *tied*, with contacts between one or two blocks each."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 6, blocks)
    bound = rng.integers(0, 2, blocks) if tied else np.zeros(blocks, dtype=int)
    # Speeds of all blocks, shuffled; multipliers behind them.
    speeds = list(rng.permutation(sizes.sum()))
    own = [[speeds.pop() for _ in range(n)] for n in sizes]
    number = int(sizes.sum())
    for k, b in enumerate(bound):
        own[k] += list(range(number, number + b))
        number += b
    inertia = []
    for n, b in zip(sizes, bound, strict=True):
        A = rng.normal(size=(n, n))
        block = np.zeros((n + b, n + b))
        block[:n, :n] = A @ A.T + np.eye(n)
        J = rng.normal(size=(b, n))
        J[:, 0] = 0.0
        block[n:, :n], block[:n, n:] = -J, -J.T
        inertia.append(block)
    touched = [sorted(rng.choice(blocks, size=min(blocks, rng.integers(1, 3)), replace=False)) for _ in range(contacts)]
    W = np.zeros((3 * contacts, number))
    massless = np.arange(number) >= sizes.sum()
    for c, some in enumerate(touched):
        row = [k for b in some for k in own[b]]
        w = np.zeros((3, len(row)))
        w[: 1 + tangents] = rng.normal(size=(1 + tangents, len(row))) * ~massless[row]
        firsts = [row.index(own[b][0]) for b in some]
        w[:, firsts] = [[1.0], [0.0], [0.0]]  # all contacts open along one motion: there is a solution
        W[3 * c : 3 * c + 3, row] = w
    friction = rng.uniform(0, 1.2, contacts) if mu is None else np.full(contacts, mu)
    return problem_of(inertia, own, W, touched, friction, rng.normal(size=number), int(bound.sum()))


def problem_of(
    inertia: Sequence[np.ndarray],
    own: Sequence[Sequence[int]],
    W: np.ndarray,
    touched: Sequence[Sequence[int]],
    mu: np.ndarray,
    force: np.ndarray,
    multipliers: int = 0,
) -> RandomProblem:
    """A problem of blocks of *inertia* with their *own* speeds, the last of which are *multipliers*, and contacts with rows *W*
    between the blocks *touched*.
    """
    number, contacts = W.shape[1], len(touched)
    massless = np.arange(number) >= number - multipliers
    K, entries = np.zeros((number, number)), []
    for block, rows in zip(inertia, own, strict=True):
        K[np.ix_(rows, rows)] = block
        n = len(rows)
        entries.append([*np.ravel(block), *np.where(massless[list(rows)], 1.0, 0.0), *[0.0] * n])
    used = [[k for b in some for k in own[b]] for some in touched]
    starts_of = lambda rows: integers(np.cumsum([0, *map(len, rows)]))  # noqa: E731
    flat = lambda rows: integers([k for row in rows for k in row])  # noqa: E731
    behind = [[*range(k + 1, len(block))] for block in own for k in range(len(block))]
    problem = ContactProblem(
        speeds=number,
        multipliers=multipliers,
        contacts=contacts,
        blocks=len(own),
        block_start=starts_of(own),
        block_speeds=flat(own),
        inertia_start=starts_of(entries),
        fill_start=starts_of(behind),
        fill=flat(behind),
        row_start=starts_of(used),
        row_speeds=flat(used),
        coupled_start=starts_of(touched),
        coupled_blocks=flat(touched),
        has_normal=integers(W.reshape(contacts, 3, number)[:, 0].any(axis=1)),
        poisson=np.zeros(contacts, dtype=np.int64),
        tangents=integers(W.reshape(contacts, 3, number)[:, 1:].any(axis=2).sum(axis=1)),
    )
    terms = ContactTerms(
        inertia=np.concatenate(entries),
        force=np.array(force, dtype=float),
        jacobian=np.concatenate([W[3 * c : 3 * c + 3, row].ravel() for c, row in enumerate(used)]),
        velocity=np.zeros(3 * contacts),
        bias=np.zeros(3 * contacts),
        law=np.stack([mu, mu, 0 * mu, 0 * mu], axis=1).ravel(),
        gap=np.zeros(contacts),
        level=np.zeros(contacts),
    )
    solution = ContactSolution(
        response=np.zeros(3 * sum(map(len, used))),
        delassus=np.zeros(9 * contacts),
        target=np.zeros(3 * contacts),
        impulse=np.zeros(3 * contacts),
        least=np.zeros(contacts),
        friction=np.array(mu, dtype=float),
        before=np.zeros(number),
        compression=np.zeros(3 * contacts),
        active=np.arange(contacts, dtype=np.int64),
        label=np.zeros(len(own), dtype=np.int64),
        local=np.zeros(4),
        rates=np.zeros(3),
    )
    return RandomProblem(problem, terms, solution, K, W, mu, massless)


def pile(masses: Sequence[float]) -> RandomProblem:
    """Bodies of these *masses* on one another, on the ground, each under a force of its mass downwards."""
    n = len(masses)
    W = np.zeros((3 * n, n))
    W[::3] = np.eye(n) - np.eye(n, k=-1)
    touched = [[k for k in (c - 1, c) if k >= 0] for c in range(n)]
    return problem_of(
        [np.eye(1) * m for m in masses], [[k] for k in range(n)], W, touched, np.zeros(n), -np.array(masses)
    )


def mode_memory(
    contacts: int, speeds: int, modes: Sequence[int] | None = None, toward: np.ndarray | None = None
) -> tuple[ContactMode, ModeWork]:
    """The *modes* of all contacts, open unless given, with directions of slip *toward* (contacts, 2); and working memory."""
    m, none = contacts, np.zeros(contacts, dtype=np.int64)
    mode = ContactMode(
        mode=none if modes is None else integers(modes),
        candidate=none.copy() if modes is None else integers(modes),
        begins=none.copy(),
        direction=np.zeros(2 * m) if toward is None else np.ravel(toward).astype(float),
        reference=np.zeros(3 * m),
    )
    return mode, mode_work(speeds, m)


def motion_of_problem(p: RandomProblem, contacts: ContactMode, work: ModeWork) -> ContactMotion:
    """A motion with a problem, in which forces of its modes are found; what moves it is left out."""
    own = {"problem": p.problem, "terms": p.terms, "solution": p.solution, "contacts": contacts, "work": work}
    nothing = {REALS: np.zeros(0), INTEGERS: np.zeros(0, dtype=np.int64), INTEGER: 0, REAL: 0.0, BOOLEAN: False}
    rest = {n: nothing.get(kind, CompiledFunction(0)) for n, kind in ContactMotion.layout.fields.items()}
    return ContactMotion(**{**rest, **own, "island": island_work(p)})


def solved(p: RandomProblem) -> tuple[bool, ContactMode, ModeWork, np.ndarray]:
    """The active set of all contacts of a problem: whether there is one, its mode, its forces, and accelerations."""
    m, n = len(p.mu), len(p.K)
    contacts, work = mode_memory(m, n)
    free, a = np.zeros(n), np.zeros(n)
    motion = motion_of_problem(p, contacts, work)
    machine_code(block_inertia.copy_blocks)(p.problem, p.terms.inertia, motion.island.array("inertia"))
    machine_code(block_inertia.accelerations)(p.problem, p.terms.inertia, p.terms.force, np.zeros(2 * n), free)
    for c in range(m):
        machine_code(block_inertia.respond)(p.problem, p.terms, p.solution, c, np.zeros(2 * n))
    near = np.arange(m, dtype=np.int64)
    run = machine_code(active_set.solve_active_set)
    found = run(motion, near, m, 1e-6, 1e-8, free, a)
    return found, contacts, work, a


def island_work(p: RandomProblem) -> IslandWork:
    """Working memory of Newton's method."""
    n, m = len(p.K), len(p.mu)
    whole = {"sequence", "later_start", "later", "links", "degree", "turn"}
    return IslandWork(
        **{name: np.zeros(0, dtype=np.int64) for name in whole},
        n=0,
        blocks=0,
        compliance=0.0,
        inertia=np.zeros(len(p.terms.inertia)),
        turned=np.zeros(2 * len(p.terms.inertia)),
        place=np.zeros(n, dtype=np.int64),
        own=np.zeros(p.problem.blocks, dtype=np.int64),
        position=np.zeros(p.problem.blocks, dtype=np.int64),
        step=np.zeros(n),
        change=np.zeros(n),
        force=np.zeros(3 * m),
        toward=np.zeros(3 * m),
        tried=np.zeros(3 * m),
        cones=np.zeros(9 * m),
        delassus=np.zeros(n * n),
        hessian=np.zeros(n * (n + 2)),
    )


def fallen(p: RandomProblem, work: IslandWork, seed: int, way: Callable[[Any], Any]) -> np.ndarray:
    """Free speeds of contacts that close, with all that Newton's method and sweeps need to stop them."""
    way(block_inertia.copy_blocks)(p.problem, p.terms.inertia, work.inertia)
    for c in range(len(p.mu)):
        way(block_inertia.respond)(p.problem, p.terms, p.solution, c, np.zeros(3 * len(p.K)))
    free = np.random.default_rng(seed).normal(size=len(p.K))
    free = free - np.linalg.solve(p.K, np.where(p.massless, p.K @ free, 0.0)) if p.massless.any() else free
    p.solution.target[::3] = -3.0
    return np.asarray(free * ~p.massless)


def each_island(p: RandomProblem, way: Callable[[Any], Any]) -> Iterator[tuple[np.ndarray, int]]:
    """The contacts of each island, with their number at the beginning of those that are left."""
    m, first = len(p.mu), 0
    way(islands.label_islands)(p.problem, p.solution.active, m, p.solution.label)
    while first < m:
        active = p.solution.active[first:]
        count = way(islands.gather_island)(p.problem, active, m - first, p.solution.label)
        yield active, count
        first += count

"""Random contact problems with their dense matrices, for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kineta.kernels.contact.newton_over_speeds import IslandWork
from kineta.kernels.contact.problem import ContactProblem, ContactSolution, ContactTerms


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
    K, inertia, starts = np.zeros((number, number)), [], [0]
    for n, b, rows in zip(sizes, bound, own, strict=True):
        A = rng.normal(size=(n, n))
        block = np.zeros((n + b, n + b))
        block[:n, :n] = A @ A.T + np.eye(n)
        J = rng.normal(size=(b, n))
        J[:, 0] = 0.0
        block[n:, :n], block[:n, n:] = -J, -J.T
        K[np.ix_(rows, rows)] = block
        inertia += [*block.ravel(), *[0.0] * n, *[1.0] * b, *[0.0] * (n + b)]
        starts.append(len(inertia))
    touched = [sorted(rng.choice(blocks, size=min(blocks, rng.integers(1, 3)), replace=False)) for _ in range(contacts)]
    used = [[k for b in some for k in own[b]] for some in touched]
    W, entries = np.zeros((3 * contacts, number)), []
    massless = np.arange(number) >= sizes.sum()
    for c, row in enumerate(used):
        w = np.zeros((3, len(row)))
        w[: 1 + tangents] = rng.normal(size=(1 + tangents, len(row))) * ~massless[row]
        firsts = [row.index(own[b][0]) for b in touched[c]]
        w[:, firsts] = [[1.0], [0.0], [0.0]]  # all contacts open along one motion: there is a solution
        W[3 * c : 3 * c + 3, row] = w
        entries += w.ravel().tolist()
    friction = rng.uniform(0, 1.2, contacts) if mu is None else np.full(contacts, mu)
    starts_of = lambda rows: integers(np.cumsum([0, *map(len, rows)]))  # noqa: E731
    flat = lambda rows: integers([k for row in rows for k in row])  # noqa: E731
    problem = ContactProblem(
        speeds=number,
        multipliers=int(bound.sum()),
        contacts=contacts,
        blocks=blocks,
        block_start=starts_of(own),
        block_speeds=flat(own),
        inertia_start=integers(starts),
        row_start=starts_of(used),
        row_speeds=flat(used),
        coupled_start=starts_of(touched),
        coupled_blocks=flat(touched),
        poisson=np.zeros(contacts, dtype=np.int64),
    )
    terms = ContactTerms(
        inertia=np.array(inertia),
        force=rng.normal(size=number),
        jacobian=np.array(entries),
        velocity=np.zeros(3 * contacts),
        bias=np.zeros(3 * contacts),
        law=np.stack([friction, friction, np.zeros(contacts)], axis=1).ravel(),
        gap=np.zeros(contacts),
    )
    solution = ContactSolution(
        response=np.zeros(len(entries)),
        delassus=np.zeros(9 * contacts),
        target=np.zeros(3 * contacts),
        impulse=np.zeros(3 * contacts),
        least=np.zeros(contacts),
        friction=np.zeros(contacts),
        before=np.zeros(number),
        compression=np.zeros(3 * contacts),
        active=np.arange(contacts, dtype=np.int64),
        label=np.zeros(blocks, dtype=np.int64),
        local=np.zeros(4),
    )
    return RandomProblem(problem, terms, solution, K, W, friction, massless)


def island_work(p: RandomProblem) -> IslandWork:
    """Working memory of Newton's method."""
    n, m = len(p.K), len(p.mu)
    return IslandWork(
        inertia=np.zeros(len(p.terms.inertia)),
        place=np.zeros(n, dtype=np.int64),
        massless=np.zeros(n, dtype=np.int64),
        own=np.zeros(p.problem.blocks, dtype=np.int64),
        **{name: np.zeros(n) for name in ("free", "next", "gradient", "step", "slope")},
        lift=np.zeros(m),
        force=np.zeros(3 * m),
        projected=np.zeros(3 * m),
        cones=np.zeros(9 * m),
        hessian=np.zeros(n * (n + 2)),
    )

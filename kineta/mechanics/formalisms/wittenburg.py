"""The formalism ``wittenburg``: trees on their directed graph, with incidence S, paths T and augmented bodies (5.1)-(5.30).

On the direct route. Joint a connects body i to its base; its hinge point is the point of body i where the motions of the joint
end; c_ia leads from the mass centre of body i to hinge a, and::

    d_ij = sum of T_aj S_ia c_ia                                    fixed in body i, from the hinge towards j to its hinge (5.15)
    r_i  = r_0 - sum of d_ji,  plus displacements of the joints                                                            (5.16)
    X = T (m r'' - F)        Y = T (L' - M - C x X)                                                            (5.11), (5.12)

X_a and Y_a are force and couple transmitted by joint a; their generalised forces on the rates of the joint are the residual.

Without prismatic joints the masses beyond a hinge add to its carrier: the *augmented body* with the barycentre b_i0 = p_i / M
and the tensor K_i about its hinge, constants in body axes, and the mass matrix is sum of dw_i/dv . K_ij dw_j/dv with::

    p_i = sum of m_k d_ik  (5.26)        K_i = J_i + sum of m_k (d^2 E - d d^T)        K_ij = (p_j . d_ij) E - p_j d_ij^T  (5.30)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.mechanics.constraints.joint_reactions import without_loads
from kineta.mechanics.derivation import Array, Derivation, matrix
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.from_residual import mass_matrix_of, transmitted
from kineta.mechanics.kinematics.description_route import DirectRoute, Frame
from kineta.mechanics.narration import Step, each, table, tensor, vector, vectors
from kineta.model.elements.inertia import InertiaElement
from kineta.model.graph import SystemGraph, joints_of, system_graph
from kineta.model.system import System
from kineta.spatial.inertia import symmetric
from kineta.spatial.rotation import conjugated
from kineta.spatial.vector import Matrix, Vector, identity, outer, zeros
from kineta.spatial.wrench import Wrench
from kineta.threads import once


class Tree:
    """Vectors and matrices of a tree; bodies count from 1, and 0 is the carrier of the tree.

    ``C``, ``d``, ``p`` and ``K`` are in the axes of their bodies, where they are constants of trees without prismatic joints;
    all other vectors are in ground axes.
    """

    def __init__(self, d: Derivation, graph: SystemGraph) -> None:
        self.graph = graph
        self.g = d.graph
        self.symbols = d.symbols
        described = self.described = DirectRoute(d.symbols)
        joints = joints_of(d.symbols.system, graph.root)
        self.chains = [joints[name][1] for name in graph.bodies]
        self.n = len(self.chains)
        self.masses = [described.mass(chain[-1]) for chain in self.chains]
        found = [described.joint(chain) for chain in self.chains]
        self.joints: list[Frame] = [frame for frame, _ in found]
        self.hinges = [hinge for _, hinge in found]
        self.R: list[Matrix] = [described.frames[graph.root].S] * (self.n + 1)
        for name in joints:
            i = graph.bodies.index(name) + 1
            self.R[i] = self.R[graph.base(i)].times(self.joints[i - 1].S)

    def hinge(self, i: int, a: int) -> Vector:
        """c_ia: from the mass centre of body i (of body 0: its origin) to hinge a, where joint a is on body i."""
        centre = self.masses[i - 1][1] if i else Vector(self.g)
        return (self.hinges[i - 1] if a == i else self.joints[a - 1].r) - centre

    @once
    def C(self) -> list[dict[int, Vector]]:
        """S_ia c_ia of every body i (0 too), by joint."""
        incidence = [self.graph.S0, *self.graph.S]
        return [
            {a: _signed(self.hinge(i, a), int(row[a - 1])) for a in range(1, self.n + 1) if row[a - 1]}
            for i, row in enumerate(incidence)
        ]

    @once
    def d(self) -> list[dict[int, Vector]]:
        """d_ij of every body i (of body 0: to the first hinge), by the bodies j from it outwards (5.15)."""
        T = self.graph.T
        found: list[dict[int, Vector]] = []
        for own in self.C:
            row: dict[int, Vector] = {}
            for a, c in own.items():
                for j in range(1, self.n + 1):
                    if T[a - 1, j - 1]:
                        row[j] = row.get(j, Vector(self.g)) + _signed(c, int(T[a - 1, j - 1]))
            found.append(row)
        return found

    @once
    def arms(self) -> list[dict[int, Vector]]:
        """The d_ij in ground axes."""
        return [{j: R @ v for j, v in row.items()} for R, row in zip(self.R, self.d, strict=True)]

    def path(self, i: int) -> list[int]:
        """The bodies from the ground to body i, inclusive."""
        bodies: list[int] = []
        while i:
            bodies.append(i)
            i = self.graph.base(i)
        return bodies[::-1]

    @once
    def turning(self) -> list[tuple[Vector, Vector]]:
        """Angular velocity W and its derivative for every body, the ground first."""
        zero = Vector(self.g)
        found = {0: (zero, zero)}
        for i in range(1, self.n + 1):
            for k in self.path(i):
                if k not in found:
                    w, rate = found[self.graph.base(k)]
                    own, second = (self.R[k] @ v for v in (self.joints[k - 1].w, self.joints[k - 1].eps))
                    found[k] = w + own, rate + w.cross(own) + second
        return [found[i] for i in range(self.n + 1)]

    @once
    def accelerations(self) -> list[Vector]:
        """Accelerations r'' - gravity of the mass centres (5.16), (5.28)."""
        two = self.g.const(2.0)
        weight = Vector(self.g, *self.symbols.expression(*self.symbols.system.gravity))
        found = []
        for i in range(1, self.n + 1):
            total = -weight
            for j in (0, *self.path(i)):
                w, rate = self.turning[j]
                d = self.arms[j].get(i, Vector(self.g))
                total = total - rate.cross(d) - w.cross(w.cross(d))
            for k in self.path(i):
                joint, w = self.joints[k - 1], self.turning[self.graph.base(k)][0]
                total = total + w.cross(self.R[k] @ joint.v) * two + self.R[k] @ joint.a
            found.append(total)
        return found

    @once
    def interaction(self) -> list[tuple[Vector, Vector]]:
        """X and Y of every joint: force, and couple about its hinge, on the body at the start of the arc."""
        T, n = self.graph.T, self.n
        weights = [a * m for a, (m, _, _) in zip(self.accelerations, self.masses, strict=True)]
        X = [_sum(self.g, [_signed(weights[i], int(T[a, i])) for i in range(n) if T[a, i]]) for a in range(n)]
        moments = []
        for i in range(1, n + 1):
            w, rate = (self.R[i].T @ v for v in self.turning[i])
            J = self.masses[i - 1][2]
            moment = self.R[i] @ (J @ rate + w.cross(J @ w))
            moments.append(moment - _sum(self.g, [(self.R[i] @ c).cross(X[a - 1]) for a, c in self.C[i].items()]))
        Y = [_sum(self.g, [_signed(moments[i], int(T[a, i])) for i in range(n) if T[a, i]]) for a in range(n)]
        return list(zip(X, Y, strict=True))

    # -- augmented bodies -----------------------------------------------------------------------------------------------

    @once
    def p(self) -> list[Vector]:
        """p_i = sum of m_k d_ik (5.26): the mass of the tree times the vector from the barycentre to the hinge."""
        return [_sum(self.g, [v * self.masses[k - 1][0] for k, v in row.items()]) for row in self.d]

    @once
    def K(self) -> list[Matrix]:
        """Tensor of every augmented body about its hinge (5.24), the first for body 1."""
        found = []
        for (_, _, J), row in zip(self.masses, self.d[1:], strict=True):
            for k, v in row.items():
                J = J + (identity(self.g).scaled(v.dot(v)) - outer(v, v)).scaled(self.masses[k - 1][0])
            found.append(symmetric(J))
        return found

    def coupling(self, i: int, j: int) -> Matrix:
        """K_ij (5.30), in ground axes."""
        if i == j:
            return conjugated(self.R[i], self.K[i - 1])
        if j in self.d[i]:
            return _coupled(self.R[j] @ self.p[j], self.arms[i][j])
        if i in self.d[j]:
            return _coupled(self.R[i] @ self.p[i], self.arms[j][i]).T
        return zeros(self.g)

    @property
    def shifting(self) -> bool:
        """Return whether a speed translates the bodies beyond a joint."""
        return any(self.symbols.by_speed(x) for joint in self.joints for x in joint.v.refs)

    @property
    def constant(self) -> bool:
        """Return whether d, p and K of all bodies are constants: no prismatic joints, except on body 0."""
        inner = [joint for a, joint in enumerate(self.joints, 1) if self.graph.base(a)]
        return all(joint.v.is_zero for joint in inner)


def _coupled(p: Vector, d: Vector) -> Matrix:
    return identity(p.graph).scaled(p.dot(d)) - outer(p, d)


def _signed(v: Vector, sign: int) -> Vector:
    return v if sign > 0 else -v


def _sum(graph: Graph, vectors: Sequence[Vector]) -> Vector:
    total = Vector(graph)
    for v in vectors:
        total = total + v
    return total


def residual(d: Derivation, graph: SystemGraph) -> list[Ref]:
    """Joint forces and couples on the rates of the joints, less the generalised forces of the elements; bodies and arcs in the
    order of *graph*.
    """
    g, tree = d.graph, Tree(d, graph)
    tau = [ZERO] * len(d.symbols.v)
    pairs = [(neg(P), rate) for P, rate in tree.described.acting()]
    for a, (X, Y) in enumerate(tree.interaction, 1):
        joint, sign = tree.joints[a - 1], int(graph.S[a - 1, a - 1])
        for force, rate in ((X, joint.v), (Y, joint.w)):
            pairs += zip((tree.R[a].T @ _signed(force, sign)).refs, rate.refs, strict=True)
    for P, along in pairs:
        for k, share in d.symbols.by_speed(along, P).items():
            tau[k] = g.add(tau[k], share)
    return tau


def _applies(system: System) -> str:
    found = next((e.name for e in system.elements if isinstance(e, InertiaElement)), "")
    return f"the inertia element '{found}' belongs to no body of the system graph." if found else ""


def _residual(d: Derivation) -> list[Ref]:
    return residual(d, system_graph(d.symbols.system))


def _mass_matrix(d: Derivation) -> Array:
    """The mass matrix from augmented bodies without prismatic joints; else from the residual."""
    g, n, tree = d.graph, len(d.symbols.v), Tree(d, system_graph(d.symbols.system))
    if tree.shifting:
        return mass_matrix_of(d)
    zero = Vector(g)
    columns: list[list[Vector]] = [[zero] * (tree.n + 1) for _ in range(n)]
    for i in range(1, tree.n + 1):
        for c, component in enumerate(tree.turning[i][0].refs):
            for k, partial in d.symbols.by_speed(component).items():
                columns[k][i] = columns[k][i].plus(c, partial)
    M = [[ZERO] * n for _ in range(n)]
    for l in range(n):
        turned = [j for j in range(1, tree.n + 1) if not columns[l][j].is_zero]
        for i in range(1, tree.n + 1):
            h = _sum(g, [tree.coupling(i, j) @ columns[l][j] for j in turned])
            for k in range(l + 1):
                M[k][l] = M[l][k] = g.add(M[k][l], columns[k][i].dot(h))
    return matrix(M, n)


def _interaction(d: Derivation) -> dict[str, Wrench]:
    """Force and couple of the joint of every body on that body, about the origin of its frame, including massless frames within
    the joint.
    """
    graph = system_graph(d.symbols.system)
    tree = Tree(d, graph)
    frames = tree.described.frames
    found = {b.name: Wrench.zero(d.graph) for b in d.symbols.system.bodies}
    for a, (X, Y) in enumerate(tree.interaction, 1):
        chain, sign = tree.chains[a - 1], int(graph.S[a - 1, a - 1])
        X, Y, own = _signed(X, sign), _signed(Y, sign), frames[chain[-1].name].r
        for body in chain:
            arm = own - frames[body.name].r + tree.R[a] @ tree.hinges[a - 1]
            found[body.name] = found[body.name] + Wrench(X, Y + arm.cross(X))
    return found


def _steps(d: Derivation) -> Iterator[Step]:
    g, graph = d.graph, system_graph(d.symbols.system)
    tree = Tree(d, graph)
    described = "Bodies: " + ", ".join(f"{k} {name}" for k, name in enumerate(graph.bodies, 1))
    if frames := [b.name for chain in tree.chains for b in chain[:-1]]:
        described += f"; {', '.join(dict.fromkeys(frames))}, without inertia, stand in joints"
    integers = {"S0": [graph.S0.tolist()], "S": graph.S.tolist(), "T": graph.T.tolist()}
    yield Step(
        "The graph",
        "T S = E",
        "Wittenburg (5.1)-(5.6)",
        f"{described}; body 0 is the ground, and joint a leads from the base of body a to it.",
        tuple(table(name, [[g.const(float(x)) for x in row] for row in rows]) for name, rows in integers.items()),
    )
    ways = [vector(f"d[{i},{j}]", v) for i, row in enumerate(tree.d) for j, v in sorted(row.items())]
    yield Step(
        "Vectors between hinges and mass centres",
        "d_ij = ∑ T_aj S_ia c_ia",
        "Wittenburg (5.15)",
        "In the axes of body i; they point inwards. Those that are not shown are zero.",
        tuple(ways),
    )
    if tree.constant:
        alone = "" if tree.shifting else ", which alone make the mass matrix by (5.30)"
        yield Step(
            "Augmented bodies",
            "p_i = M b_i0 = ∑ m_k d_ik,  K_i = J_i + ∑ m_k (d_ik² E − d_ik d_ikᵀ)",
            "Wittenburg (5.26), (5.24)",
            f"With the masses beyond their hinges, in body axes: constants{alone}.",
            (*vectors("p", tree.p[1:]), *(tensor(f"K{i}", own) for i, own in enumerate(tree.K, 1))),
        )
    yield Step(
        "Angular velocities and their rates",
        "ω̇_i = ω̇_p + H v̇ + η",
        "Wittenburg 5.2.2",
        "In ground axes, as are the vectors that follow.",
        (*vectors("w", (w for w, _ in tree.turning[1:])), *vectors("w'", (rate for _, rate in tree.turning[1:]))),
    )
    yield Step(
        "Accelerations of the mass centres, less gravity",
        "r̈_i = r̈_0 − ∑ (ω̇_j × d_ji + ω_j × (ω_j × d_ji))",
        "Wittenburg (5.16), (5.28)",
        shown=vectors("a", tree.accelerations),
    )
    yield Step(
        "What the joints pass on",
        "X = T (m r̈ − F),  Y = T (L̇ − M − C × X)",
        "Wittenburg (5.11), (5.12)",
        "Force and couple on the body where the arc starts.",
        (*vectors("X", (X for X, _ in tree.interaction)), *vectors("Y", (Y for _, Y in tree.interaction))),
    )
    acting = list(tree.described.acting())
    if acting:
        count = [str(j) for j in range(1, len(acting) + 1)]
        yield Step(
            "Elements, by what acts and the rate on which it works",
            shown=(*each("P", count, (P for P, _ in acting)), *each("rate", count, (rate for _, rate in acting))),
        )
    yield Step(
        "Their work on the motions of the joints",
        "τ_s = ∑ X_a · ∂v_a/∂v_s + Y_a · ∂ω_a/∂v_s − Q_s",
        "Wittenburg (5.12)",
    )


WITTENBURG = Formalism(
    name="wittenburg",
    source="Wittenburg (5.11), (5.12), (5.15), (5.16), (5.26), (5.30)",
    residual=_residual,
    steps=_steps,
    applies=_applies,
    rules={"mass_matrix": _mass_matrix, "reactions": lambda d: transmitted(d, without_loads(d, _interaction(d)))},
)

"""The mutants: a row each, one sign, factor, index or argument changed in one file."""

# ruff: noqa: E501  # texts stand as they are in files

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """The text ``old``, once in a ``file`` of the package, as ``new``; judged by the models of ``areas``.

    dies : by a ``verdict`` of the certificate, or by an ``error`` that says in a sentence why there is none
    excused : why the certificate need not find it; "" where it has to
    """

    file: str
    old: str
    new: str
    areas: tuple[str, ...]
    dies: str = "verdict"
    excused: str = ""


def _rows(file: str, *rows: tuple[str, ...]) -> tuple[Mutant, ...]:
    """Mutants of a *file*: old text, new text, areas, and how one dies if not by a verdict."""
    return tuple(Mutant(file, old, new, tuple(areas.split(", ")), *more) for old, new, areas, *more in rows)


_CLOSURES = (
    *_rows(
        "mechanics/constraints/loop_residuals.py",
        ("loop.start, loop.end).refs", "loop.end, loop.start).refs", "ball loop"),
        (
            "sight.position(loop.end).less(sight.position(loop.start))",
            "sight.position(loop.start).less(sight.position(loop.end))",
            "sliding loops",
        ),
        ('"w": w.dot(offset)', '"w": neg(w.dot(offset))', "sliding loops"),
        ('{"u": u.dot(offset), "w": w.dot(offset)}', '{"u": w.dot(offset), "w": u.dot(offset)}', "sliding loops"),
        (
            '{"": given(on, loop.axis).dot(_offset(on, loop))}',
            '{"": neg(given(on, loop.axis).dot(_offset(on, loop)))}',
            "plane and distance",
        ),
        ("double = g.mul(g.const(2.0), L)", "double = L", "plane and distance"),
        ("g.sub(line.dot(line), g.mul(L, L))", "g.sub(line.dot(line), L)", "plane and distance"),
        ('"ru": neg(w.dot(second))', '"ru": w.dot(second)', "turning loops"),
        ('"rw": u.dot(second)', '"rw": neg(u.dot(second))', "turning loops"),
        (
            'by -t w, about w by t u."""\n    second = RelativeKinematics(on.kinematics, loop.start.body).direction(loop.end.body, given(on, loop.end_axis))',
            'by -t w, about w by t u."""\n    second = RelativeKinematics(on.kinematics, loop.start.body).direction(loop.end.body, given(on, loop.axis))',
            "turning loops",
        ),
        ("given(on, loop.axis).dot(second)", "given(on, loop.end_axis).dot(second)", "turning loops"),
        ('"rx": y.z', '"rx": z.y', "aligned loops"),
        ('"ry": z.x', '"ry": z.y', "aligned loops"),
        ('"rz": x.y', '"rz": neg(x.y)', "aligned loops"),
        ("g.sub(second, g.mul(ratio, first))", "g.add(second, g.mul(ratio, first))", "gears"),
        ("g.sub(second, g.mul(ratio, first))", "g.sub(first, g.mul(ratio, second))", "gears"),
        ("(start, loop.axis), (end, loop.end_axis))", "(end, loop.axis), (start, loop.end_axis))", "gears"),
        ("turn if sense > 0 else neg(turn)", "turn", "gears"),
        (
            "rodrigues(on.direction(motion.axis), turn) @ e, angle",
            "rodrigues(on.direction(motion.axis), turn).T @ e, angle",
            "reactions",
            "error",
        ),
        ('"universal": _all(_together, _square)', '"universal": _all(_beside, _square)', "turning loops"),
        ('"line": _beside', '"line": _plane', "sliding loops"),
        ('"cylindrical": _all(_beside, _parallel)', '"cylindrical": _all(_together, _parallel)', "sliding loops"),
        ('"prismatic": _all(_beside, _aligned)', '"prismatic": _aligned', "aligned loops"),
        ('"rigid": _all(_together, _aligned)', '"rigid": _together', "aligned loops"),
        ('"plane": _plane', '"plane": _beside', "plane and distance"),
    ),
    *_rows(
        "mechanics/constraints/relative_kinematics.py",
        (
            "(found + -place.r).turned",
            "(found + place.r).turned",
            "torus",
            "verdict",
            "equivalent: all that is asked are differences of positions in one frame, and rates",
        ),
        (".turned(place.R.T)", ".turned(place.R)", "sliding loops"),
        ("moved = (found.constant - each.offset)", "moved = (found.constant + each.offset)", "sliding loops"),
        ("w = each.inward(w + self._spin(each.rates))", "w = each.inward(w) + self._spin(each.rates)", "wheel, torus"),
        (
            "w = each.outward(w) - self._spin(each.rates)",
            "w = each.outward(w) + self._spin(each.rates)",
            "ball on a plate",
        ),
        ("self._carried(place.link, place.R @", "self._carried(place.link, place.R.T @", "torus, turning loops"),
        (
            "Position(link.r, link.R @ link.d + link.inward(",
            "Position(link.r, link.R @ link.d - link.inward(",
            "sliding loops",
        ),
        ("link.R @ (link.d + x.varies)", "link.R @ (x.varies - link.d)", "wheel"),
        ("return self.constant + self.varies", "return self.constant - self.varies", "wheel"),
        (
            "(self.varies - other.varies) + (self.constant - other.constant)",
            "(self.varies - other.varies) - (self.constant - other.constant)",
            "ball loop",
        ),
        ("next(name for name in ways[0] if name in ways[1])", "ways[0][-1]", "gears", "error"),
        (
            "up.pop()\n            down.pop()",
            "down.pop()\n            up.pop()",
            "ball loop",
            "verdict",
            "two pops in either order are the same",
        ),
    ),
    *_rows(
        "mechanics/constraints/rolling_residuals.py",
        ("velocity = drift + sight", "velocity = drift - sight", "wheel"),
        ("dot(above), contact.height)", "dot(above), neg(contact.height))", "wheel"),
        (
            "plane.position(rolling.start).less(plane.position(rolling.end))",
            "plane.position(rolling.end).less(plane.position(rolling.start))",
            "ball on a plate",
        ),
        ("Contact(n * neg(r), r)", "Contact(n * r, r)", "ball on a plate"),
        ("Contact(n * neg(r), r)", "Contact(n * neg(r), on.graph.mul(r, r))", "ball on a plate"),
        ("g.sub(ONE, g.mul(inclination, inclination))", "g.add(ONE, g.mul(inclination, inclination))", "wheel"),
        ("outwards = (n - e * inclination)", "outwards = (n + e * inclination)", "torus"),
        ("* g.div(r, s)\n", "* g.mul(r, s)\n", "wheel"),
        ("-(outwards + n * a)", "-(outwards - n * a)", "torus"),
        ("g.add(g.mul(r, s), a)", "g.sub(g.mul(r, s), a)", "torus"),
        ("g.add(g.mul(r, s), a)", "g.add(r, a)", "wheel"),
        ("(*sizes, ZERO)", "(ZERO, *sizes)", "wheel"),
        ("rolling.start.body, on.direction(rolling.axis))", "rolling.end.body, on.direction(rolling.axis))", "wheel"),
        ("g.mul(g.mul(a, a), n.dot(e))", "g.mul(a, n.dot(e))", "ellipsoid"),
        ("Contact(-(x + y + z), s)", "Contact(-(x + y - z), s)", "ellipsoid"),
        ("Contact(-(x + y + z), s)", "Contact(-(x + y + z), g.mul(s, s))", "ellipsoid"),
        (
            "direction(rolling.start.body, along(g, i)) for i in range(3)",
            "direction(rolling.start.body, along(g, 2 - i)) for i in range(3)",
            "ellipsoid",
        ),
        (
            "RelativeKinematics(on.kinematics, rolling.material)",
            "RelativeKinematics(on.kinematics, rolling.end.body)",
            "ball in a drum",
        ),
        (
            "RelativeKinematics(on.kinematics, rolling.end.body),\n",
            "RelativeKinematics(on.kinematics, rolling.material),\n",
            "ball in a drum",
        ),
        ('"u": u.dot(velocity), "w": w.dot(velocity)', '"u": w.dot(velocity), "w": u.dot(velocity)', "wheel"),
        ('"w": w.dot(velocity)', '"w": neg(w.dot(velocity))', "wheel"),
        ("g.div(part, s)", "g.mul(part, s)", "ellipsoid"),
    ),
    *_rows(
        "spatial/rotation.py",
        ("[axis[k] * a for a in unit[(k + 2) % 3]]", "unit[(k + 2) % 3]", "contacts"),
        ("(-x * z / h, -y * z / h, h)", "(x * z / h, -y * z / h, h)", "sliding loops"),
        (
            "(0.0, z / h, -y / h), (-h, x * y / h, x * z / h)",
            "(0.0, z / h, y / h), (-h, x * y / h, x * z / h)",
            "wheel",
            "verdict",
            "reached only by axes within a thousandth of x, but not along it",
        ),
        ("sub(xy, wz), add(xz, wy)", "add(xy, wz), add(xz, wy)", "joints"),
        ("add(mul(w, b), sub(mul(z, a), mul(x, c)))", "add(mul(w, b), sub(mul(x, c), mul(z, a)))", "joints"),
        ("skew(e).scaled(s)", "skew(e).scaled(neg(s))", "joints"),
        (
            "A[i][i], A[i][j], A[j][i], A[j][j] = sub(a, su)",
            "A[i][i], A[i][j], A[j][i], A[j][j] = add(a, su)",
            "joints",
        ),
    ),
)

_CONTACTS = _rows(
    "mechanics/contact/unilateral_rows.py",
    (
        "on.graph.sub(n.dot(way), geometry.height)",
        "on.graph.add(n.dot(way), geometry.height)",
        "contacts",
    ),
    ("velocity = drift + sight.turning", "velocity = drift - sight.turning", "contacts"),
    (
        'row_of(symbols, f"{name}.u", u.dot(velocity), order=1)',
        'row_of(symbols, f"{name}.u", w.dot(velocity), order=1)',
        "contacts",
    ),
    (
        'row_of(symbols, f"{name}.w", w.dot(velocity), order=1)',
        'row_of(symbols, f"{name}.w", neg(w.dot(velocity)), order=1)',
        "contacts",
    ),
    ("gap if sign > 0 else neg(gap)", "gap", "contacts"),
    ("gap = g.sub(value, on.expression(end)[0])", "gap = g.add(value, on.expression(end)[0])", "contacts"),
    ("N = up - Vector", "N = up + Vector", "contacts"),
    ("n = N * share\n", "n = N\n", "contacts"),
    ("g.mul(share, x) for x in whole.levels", "x for x in whole.levels", "contacts"),
    ("rest=g.mul(share, whole.rest)", "rest=whole.rest", "contacts"),
    ("k: g.mul(share, x) for k, x in whole.gradient", "k: x for k, x in whole.gradient", "contacts"),
    ("across = u - n * n.dot(u)", "across = u + n * n.dot(u)", "contacts"),
    ("(n, e, n.cross(e)), arm)", "(n, e, e.cross(n)), arm)", "contacts"),
    (
        "on.expression(friction.force, static, friction.coordinate)",
        "on.expression(static, friction.force, friction.coordinate)",
        "contacts",
    ),
    (
        "restitution, bound, static = on.expression(*given)",
        "restitution, static, bound = on.expression(*given)",
        "contacts",
    ),
    (
        "restitution, bound, static = on.expression(*given)",
        "bound, restitution, static = on.expression(*given)",
        "contacts",
    ),
    (
        "at + arm - on.kinematics.position(contact.end)",
        "at + arm + on.kinematics.position(contact.end)",
        "contacts",
    ),
    (
        '("lower", limit.lower, 1), ("upper", limit.upper, -1)',
        '("lower", limit.upper, 1), ("upper", limit.lower, -1)',
        "contacts",
    ),
    ("friction.name, on.rate(coordinate)", "friction.name, neg(on.rate(coordinate))", "contacts"),
)

_VECTORS = (
    *_rows(
        "mechanics/kinematics/vector_expressions.py",
        ("motion.W(kind.order - 1)[link]", "motion.W(kind.order)[link]", "vectors"),
        ("motion.X(kind.order)[link] + motion.U", "motion.X(kind.order)[link] - motion.U", "vectors"),
        ("motion.U(kind.order)[link] @ x", "motion.U(kind.order - 1)[link] @ x", "vectors"),
        ("kinematics.seen(vector.frame)[link][0] @", "kinematics.seen(vector.frame)[link][0].T @", "vectors"),
        ("kinematics.graph.sqrt(own.dot(own))", "own.dot(own)", "vectors"),
        ("of([value], part.rates)", "of([value], part.rates + 1)", "vectors"),
        ("part.vector)[part.component]", "part.vector)[part.component - 1]", "vectors"),
    ),
    *_rows(
        "model/vectors.py",
        ('"a": VectorKind("the acceleration", False, 2)', '"a": VectorKind("the acceleration", False, 1)', "vectors"),
        (
            '"eps": VectorKind("the angular acceleration", True, 2)',
            '"eps": VectorKind("the angular acceleration", True, 1)',
            "vectors",
        ),
        ('component = "xyz".index', 'component = "xzy".index', "vectors"),
    ),
    *_rows(
        "mechanics/kinematics/sweeps.py",
        ("multiple(g, comb(n, a), level(rate, k - a))", "level(rate, k - a)", "vectors"),
        ("minus_three = graph.const(-3.0)", "minus_three = graph.const(3.0)", "vectors"),
        ("sub(twice(0, 1), z)", "add(twice(0, 1), z)", "vectors"),
        ("self.W(a)[p].cross(D) * self.graph.const(comb(k - 1, a))", "self.W(a)[p].cross(D)", "vectors"),
        ("D = link.inward(self.X(b)[i]) - self.X(b)[p]", "D = link.inward(self.X(b)[i]) + self.X(b)[p]", "vectors"),
        ("sub(xy, c), add(xz, b)", "add(xy, c), add(xz, b)", "joints, vectors"),
        ("x = x + U[p] @ link.offset", "x = x - U[p] @ link.offset", "joints"),
        ("link.outward(carrier) + _own_terms(link, True", "link.outward(carrier) - _own_terms(link, True", "joints"),
        ("x * own.m + U @ own.c, own.c.cross(x) + vee", "x * own.m + U @ own.c, own.c.cross(x) - vee", "joints"),
        ("link.inward(own.n) + link.offset.cross(f))", "link.inward(own.n) - link.offset.cross(f))", "joints"),
        ("add(tau[k], mul(partial, force))", "mechanism.graph.sub(tau[k], mul(partial, force))", "joints"),
    ),
)

_CONTROL = (
    *_rows(
        "mechanics/programs/laws/covariant.py",
        ("for _ in range(r):", "for _ in range(r - 1):", "programs"),
    ),
    *_rows(
        "mechanics/programs/laws/kineta.py",
        ("f = rates + self.kinematics", "f = rates - self.kinematics", "programs"),
        ("zip(inertia_forces(d, r + 2), rates.at_points", "zip(inertia_forces(d, r + 1), rates.at_points", "programs"),
        (
            "found = [g.sub(x, Q) for x, Q in zip(found, along, strict=True)]",
            "found = [g.add(x, Q) for x, Q in zip(found, along, strict=True)]",
            "programs",
        ),
        (
            "self.graph.add(own, Q) for own, Q in zip(swept, self.forces",
            "self.graph.sub(own, Q) for own, Q in zip(swept, self.forces",
            "programs",
        ),
    ),
    *_rows(
        "mechanics/programs/laws/inertial.py",
        ("+ w.cross(Vector", "- w.cross(Vector", "least control"),
        ("for _ in range(r):", "for _ in range(r + 1):", "least control", "error"),
    ),
    *_rows(
        "mechanics/programs/laws/least_rate.py",
        (
            "shares[k] = g.div(ONE, d.expression(weights[name])[0])",
            "shares[k] = d.expression(weights[name])[0]",
            "least control",
        ),
        ("[[g.mul(share, x) for share", "[[x for share", "least control"),
    ),
    *_rows(
        "mechanics/programs/covariant_derivative.py",
        ("spin = Z[i] - kinematics.v[i].cross(P[i])", "spin = Z[i] + kinematics.v[i].cross(P[i])", "programs"),
        (
            "AS.T @ omega - omega * trace",
            "AS.T @ omega + omega * trace",
            "programs",
            "verdict",
            "equivalent: A is skew and S symmetric, so that the trace is zero",
        ),
        ("link.inward(H[i]) + link.offset.cross(f)", "link.inward(H[i]) - link.offset.cross(f)", "programs"),
        (
            "g.sub(right[j], multiple(g, comb(k, i), x))",
            "g.sub(right[j], x)",
            "programs",
            "verdict",
            "it differs from the text only in derivatives of the second order of a field, which no small model asks for",
        ),
    ),
    *_rows(
        "mechanics/programs/rows.py",
        ("s - row.order + 1", "s - row.order + 2", "programs", "error"),
        ("lead = f if k else", "lead = f if not k else", "least control", "error"),
    ),
)

_REACTIONS = (
    *_rows(
        "mechanics/constraints/joint_reactions.py",
        ("own.n + arm.cross(own.f))", "own.n - arm.cross(own.f))", "joints"),
        ("motion.X(2)[place.link] + U @ place.r, U)", "motion.X(2)[place.link] - U @ place.r, U)", "joints"),
        ("needed[name] - load", "needed[name] + load", "reactions"),
        ("load + _times(share[name], multiplier)", "load - _times(share[name], multiplier)", "reactions"),
        ("refs += [*(-(R @ share.f)).refs", "refs += [*(R @ share.f).refs", "reactions"),
        ("for r in (R @ _next(d, refs)).refs]", "for r in (R.T @ _next(d, refs)).refs]", "reactions"),
        (
            "arm = d.kinematics.position(Station(body.name)) - about",
            "arm = d.kinematics.position(Station(body.name)) + about",
            "joints",
        ),
        ("d.kinematics.axes(frame).T", "d.kinematics.axes(frame)", "joints"),
        ("origins[body.name] - origins[body.base]", "origins[body.base] - origins[body.name]", "joints"),
        ("Rx(a), Ry(b), Rz(c)), own", "Rx(a), Ry(c), Rz(b)), own", "reactions"),
        ("found.get(body.name, Wrench.zero(d.graph))\n        if", "Wrench.zero(d.graph)\n        if", "joints"),
        (
            "moments_of(d.symbols, body.inertia, d.graph).rotated(place.R)",
            "moments_of(d.symbols, body.inertia, d.graph)",
            "joints",
        ),
        (
            "multipliers.get(row.constraint, ZERO))\n                forces",
            "ZERO)\n                forces",
            "reactions",
        ),
        ("d.kinematics.axes(n) @ load.n)", "load.n)", "reactions"),
    ),
    *_rows(
        "mechanics/from_residual.py",
        (
            "forces[k] = d.graph.add(forces[k], d.graph.mul(partial, multiplier))",
            "forces[k] = d.graph.sub(forces[k], d.graph.mul(partial, multiplier))",
            "reactions",
        ),
        ("kept = map(neg, cheapest(", "kept = iter(cheapest(", "reactions"),
    ),
)

_QUASI = (
    *_rows(
        "mechanics/constraints/quasi_velocities.py",
        (
            "graph.sub(f.value, f.free) for f in found.rows",
            "graph.add(f.value, f.free) for f in found.rows",
            "quasi-velocities",
        ),
        ("gradient, base.at_rest(f), value)", "gradient, ZERO, value)", "quasi-velocities"),
        ("row.gradient, base.at_rest(row.levels[-1]), ZERO)", "row.gradient, ZERO, ZERO)", "quasi-velocities"),
        (
            "g.sum([f.free, *t])",
            "g.sum([f.free ^ 1, *t])",
            "quasi-velocities",
            "verdict",
            "what quasi-velocities mean in the speeds of the motions is asked by constraints alone that name one with a free part",
        ),
        (
            "columns[k][i] = a",
            "columns[k][i] = a ^ 1",
            "quasi-velocities",
            "verdict",
            "multipliers of constraints do no work on quasi-velocities, and no law compares them in other directions",
        ),
        (
            "return solved[: len(found.kept)]",
            "return solved[-len(found.kept) :]",
            "quasi-velocities",
            "verdict",
            "multipliers of constraints do no work on quasi-velocities, and no law compares them in other directions",
        ),
    ),
    *_rows(
        "mechanics/kinematics/boltzmann_hamel.py",
        ("u.cross(p_u)", "p_u.cross(u)", "joints"),
        ("(False, w.cross(p_u))", "(False, u.cross(p_u))", "joints"),
    ),
)

_ELEMENTS = (
    *_rows(
        "mechanics/elements/element_actions.py",
        ("on.spend(f.dot(on.kinematics.v[link] + on", "on.spend(f.dot(on.kinematics.v[link] - on", "elements"),
        ("on.force(link, x, f)", "on.force(link, -x, f)", "elements"),
        ("on.spend(n.dot(on.kinematics.w[link]))", "on.spend(n.dot(on.kinematics.v[link]))", "elements"),
        ("on.spend(on.along(on.rate(rho), P))", "on.spend(on.along(on.rate(rho), neg(P)))", "elements"),
        ("gamma = g.sub(gamma, free)", "gamma = g.add(gamma, free)", "elements"),
        ("power = on.along(on.rate(gamma), neg(force))", "power = on.along(on.rate(gamma), force)", "elements"),
        ("on.store(g.mul(g.const(0.5), g.mul(force, gamma)))", "on.store(g.mul(force, gamma))", "elements"),
        ("gamma = g.sub(length, free)", "gamma = g.add(length, free)", "elements"),
        ("on.pull(between, pull)", "on.pull(between, -pull)", "elements"),
        ("pull, twice = way * g.div(force, length)", "pull, twice = way * g.mul(force, length)", "elements"),
        (
            "reeled, drift = on.along(on.rate(free), force)",
            "reeled, drift = on.along(on.rate(free), neg(force))",
            "elements",
        ),
        (
            "g.mul(D, way.dot(velocity)), way.dot(way))",
            "g.mul(D, way.dot(velocity)), on.graph.sqrt(way.dot(way)))",
            "elements",
        ),
        ("neg(g.mul(D, beta))", "g.mul(D, beta)", "elements"),
        ("on.along(on.rate(V), neg(ONE))", "on.along(on.rate(V), ONE)", "elements"),
        ("power = g.mul(force, on.by_time(gamma))", "power = neg(g.mul(force, on.by_time(gamma)))", "elements"),
    ),
    *_rows(
        "mechanics/elements/applied_forces.py",
        (
            "((between.start, force), (between.end, -force))",
            "((between.start, force), (between.end, force))",
            "elements",
        ),
        ("frames[link][0].T @ inertial", "frames[link][0] @ inertial", "elements"),
        ("Wrench(f, x.cross(f))", "Wrench(f, f.cross(x))", "elements"),
        (
            "position(between.end) - self.kinematics.position(between.start)",
            "position(between.start) - self.kinematics.position(between.end)",
            "elements",
        ),
    ),
    *_rows(
        "mechanics/elements/inertia_elements.py",
        (
            "g.mul(g.const(0.5), g.sum(g.mul(I, g.mul(k, k)) for I, k in found))",
            "g.sum(g.mul(I, g.mul(k, k)) for I, k in found)",
            "elements",
        ),
        ("yield d.graph.mul(r.I, r.kdot), r.k", "yield d.graph.mul(r.I, r.k), r.k", "elements"),
        (
            "found[j] = g.sub(found.get(j, ZERO), share)",
            "found[j] = g.add(found.get(j, ZERO), share)",
            "forms of speeds",
        ),
        ("found[j] = g.add(found.get(j, ZERO), x)", "found[j] = g.sub(found.get(j, ZERO), x)", "forms of speeds"),
        (
            "base.levels.of(list(partials.values()), 1), strict=True))",
            "[ZERO] * len(partials), strict=True))",
            "forms of speeds",
        ),
    ),
    *_rows(
        "mechanics/kinematics/description_route.py",
        ("eps = Q.T @ self.eps + w.cross(rate) + second", "eps = Q.T @ self.eps - w.cross(rate) + second", "joints"),
        ("yield neg(d.graph.mul(D, beta)), beta", "yield d.graph.mul(D, beta), beta", "elements"),
        ("neg(g.mul(m, weight.dot(", "(g.mul(m, weight.dot(", "joints"),
    ),
)

_SHARED = (
    *_rows(
        "mechanics/kinematics/kinematics.py",
        ("(self.v[link] + self.w[link].cross(x))", "(self.v[link] - self.w[link].cross(x))", "joints"),
        ("return r + R @ x", "return r - R @ x", "joints"),
        ("e.cross(end - r).refs + e.refs", "e.cross(end + r).refs + e.refs", "joints"),
        ("found[i] = R, r - R @ link.offset", "found[i] = R, r + R @ link.offset", "joints"),
        ("found = {i: (R, -(R @ place.r))}", "found = {i: (R, R @ place.r)}", "joints, vectors"),
        (
            "return self.seen(frame)[place.link][0].times(place.R)",
            "return self.seen(frame)[place.link][0].times(place.R.T)",
            "joints",
        ),
        ("place.r + place.R @ Vector", "place.r - place.R @ Vector", "joints"),
    ),
    *_rows(
        "mechanics/kinematics/tree.py",
        (
            "return Place(len(links) - 1, C.T, Vector(graph))",
            "return Place(len(links) - 1, C, Vector(graph))",
            "joints",
        ),
        (
            "about(graph, k, e[i], e[j]), i, 1",
            "about(graph, k, e[j], e[i]), i, 1",
            "joints",
        ),
        ("return self.r + self.R @ self.d", "return self.r - self.R @ self.d", "joints"),
        ("place.r + place.R @ (e * argument)", "place.r - place.R @ (e * argument)", "joints"),
        ("return central.shifted(c)", "return central.shifted(-c)", "joints"),
        (
            "Matrix(graph, ((a, ab, ad), (ab, b, bd), (ad, bd, d)))",
            "Matrix(graph, ((a, ab, ad), (ab, d, bd), (ad, bd, b)))",
            "joints",
        ),
    ),
    *_rows(
        "mechanics/kinematics/regrouping.py",
        ("links[i] = replace(link, moments=link.moments - part)", "links[i] = link", "joints"),
        ("moved = part.rotated(link.R).shifted(link.r)", "moved = part.rotated(link.R).shifted(-link.r)", "joints"),
    ),
    *_rows(
        "mechanics/algorithms/energy.py",
        ("p = v * own.m + w.cross(own.c) * g.const(2.0)", "p = v * own.m + w.cross(own.c)", "joints"),
        (
            "height = g.add(height, gravity.dot(link.offset))",
            "height = g.sub(height, gravity.dot(link.offset))",
            "joints",
        ),
        ("R @ own.n + r.cross(f))", "R @ own.n - r.cross(f))", "joints"),
        (
            "c = c + r * link.moments.m + R @ link.moments.c",
            "c = c + r * link.moments.m - R @ link.moments.c",
            "joints",
        ),
    ),
    *_rows(
        "mechanics/kinematics/origin_placement.py",
        ("moments=link.moments.shifted(-e)", "moments=link.moments.shifted(e)", "joints, gears"),
        (
            "links[j] = replace(links[j], r=links[j].r - e)",
            "links[j] = replace(links[j], r=links[j].r + e)",
            "joints, reactions",
        ),
    ),
    *_rows(
        "mechanics/algorithms/composite_bodies.py",
        ("Wrench(e.cross(K.c), inertia", "Wrench(K.c.cross(e), inertia", "joints"),
    ),
    *_rows("mechanics/formalisms/kane.py", ("left = own - applied", "left = own + applied", "elements")),
    *_rows(
        "mechanics/formalisms/gauss.py", ("wrench.n.dot(motion.W(1)[i])", "wrench.n.dot(motion.W(0)[i])", "elements")
    ),
    *_rows(
        "mechanics/formalisms/lagrange.py",
        ("g.sub(falls.get(q, ZERO), by.get(q, ZERO))", "g.add(falls.get(q, ZERO), by.get(q, ZERO))", "joints"),
    ),
    *_rows(
        "model/joints/free.py",
        ("q[3:]) @ u).refs", "q[3:]) @ Vector(graph, u.y, u.x, u.z)).refs", "joints"),
        ("quaternion_rate(graph, q[3:], w)", "quaternion_rate(graph, q[3:], -w)", "joints"),
        ("q[3:]), Vector(graph, *q[:3])", "q[3:]).T, Vector(graph, *q[:3])", "joints"),
    ),
)

MUTANTS = (*_CLOSURES, *_CONTACTS, *_VECTORS, *_CONTROL, *_REACTIONS, *_QUASI, *_ELEMENTS, *_SHARED)

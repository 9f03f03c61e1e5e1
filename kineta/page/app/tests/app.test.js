// Parts of the page that need no browser: `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";

/** What the page is told, as far as these parts ask for it. */
const told = { q: ["x", "box.qw", "box.qx", "box.qy", "box.qz"], states: [], v: ["x'", "box.wx"], parameters: [], why: "", module: { known: {} }, scene: { palette: [] } };
globalThis.document = { getElementById: () => ({ textContent: JSON.stringify(told) }) };
// Words that the loader of a run has in capitals.
Object.assign(globalThis, { INFORMATION: {}, OUTCOMES: {}, SENTENCES: [], VERBS: [] });
const { refused } = await import("../limits.js");
const { principal } = await import("../linear.js");
const { digits, printed, ticks } = await import("../words.js");
const { Track, recordedTrack } = await import("../track.js");
const { dressed, series } = await import("../data.js");
const { RATES, cause } = await import("../diagnosis.js");
const { mesh } = await import("../shapes.js");
const { extremes, instants } = await import("../thinning.js");
const { Vector3 } = await import("three");

const near = (a, b, slack = 1e-12) => assert.ok(Math.abs(a - b) <= slack, `${a} is not ${b}`);

test("inertias that no body has are refused", () => {
  const limits = { bodies: [{ name: "B", signs: true, whole: true }], slack: 1e-9, bounds: [{ of: "Spring 'k'", positive: false, most: null, text: "expected a stiffness of zero or more, found nan." }] };
  const found = (mass, moments, k) => refused(limits, [mass, ...moments, 0, 0, 0, k]);
  assert.equal(found(1, [1, 1, 1], 0), "");
  assert.equal(found(-1, [1, 1, 1], 0), "Body 'B': mass is −1.000 kg; expected zero or more.");
  assert.match(found(NaN, [1, 1, 1], 0), /mass is – kg/);
  assert.match(found(1, [1, -2, 1], 0), /Jy is −2\.000/);
  assert.match(found(1, [1, 1, 3], 0), /the largest exceeds the sum of the others/);
  assert.equal(found(1, [1, 1, 1], -4), "Spring 'k': expected a stiffness of zero or more, found −4.000.");
});

test("principal moments and axes rebuild the tensor", () => {
  const [a, b, c, ab, ac, bc] = [3, 2.5, 4, 0.3, -0.2, 0.5], { moments, axes } = principal([a, b, c, ab, ac, bc]);
  const at = (i, j) => moments.reduce((sum, m, k) => sum + m * axes[k].getComponent(i) * axes[k].getComponent(j), 0);
  [[0, 0, a], [1, 1, b], [2, 2, c], [0, 1, ab], [0, 2, ac], [1, 2, bc]].forEach(([i, j, x]) => near(at(i, j), x));
  near(axes[0].clone().cross(axes[1]).dot(axes[2]), 1);
});

test("numbers and units are printed", () => {
  assert.deepEqual([0, 1.23456, -12345.6, 1e-7, Infinity].map((x) => digits(x)), ["0.000", "1.235", "−12346", "1.00·10⁻⁷", "–"]);
  assert.deepEqual([0.0091234, -0.00456].map((x) => digits(x)), ["0.009123", "−0.004560"]);
  assert.deepEqual(ticks([0, 12.5, 25], 12.5), ["0", "12.5", "25.0"]);
  assert.deepEqual(ticks([0.4999, 0.5, 0.5001], 1e-4), ["0.4999", "0.5000", "0.5001"]);
  assert.deepEqual(ticks([-2e-5, 0, 2e-5], 2e-5), ["−2·10⁻⁵", "0", "2·10⁻⁵"]);
  assert.deepEqual(ticks([100000, 100500], 500), ["1.000·10⁵", "1.005·10⁵"]);
  assert.deepEqual(["kg*m^2", "m^-4", "?", undefined].map(printed), ["kg·m²", "m⁻⁴", "", ""]);
});

test("a track finds rows, and states between them", () => {
  const track = new Track(["x", "box.qw", "box.qx", "box.qy", "box.qz", "x'", "box.wx"], 1);
  track.room(3);
  [0, 1, 3].forEach((t, k) => {
    track.t[k] = t;
    track.columns[0][k] = 10 * t;
  });
  track.rows = 3;
  assert.deepEqual([-1, 0, 0.9, 1, 2.9, 9].map((t) => track.row(t)), [0, 0, 0, 1, 1, 2]);
  near(track.state(2).q[0], 20);
  assert.equal(track.last, 3);
});

test("thinned lines keep each peak, in its part and in its order", () => {
  const t = Float64Array.from({ length: 1000 }, (_, k) => k), x = t.map((k) => Math.sin(k / 50)), parts = 40;
  x[333] = 7;
  x[334] = -9;
  const times = instants(t, parts), found = extremes(x, parts);
  assert.equal(found.length, times.length);
  assert.deepEqual([found.indexOf(7) + 1, Math.floor(found.indexOf(7) / 2)], [found.indexOf(-9), Math.floor(333 / 25)]);
  assert.ok(times.every((at, k) => !k || at > times[k - 1]));
  for (const [k, at] of times.entries()) assert.ok(found[k] === 7 || found[k] === -9 || Math.abs(found[k] - Math.sin(at / 50)) < 0.5);
  assert.deepEqual([instants(t, 500), extremes(x, 500)], [t, x]);
});

test("recorded samples are read", () => {
  const ends = { t: [0, 0.5, 0], x: [1, 1, -1], "box.qw": [1, 1, -1], "box.qx": [0, 0, -1], "box.qy": [0, 0, -1], "box.qz": [0, 0, -1], "x'": [0.1, 0.2, 1], "box.wx": [0, 0, -1], kinetic_energy: [2, 2, -1], potential_energy: [3, 4, 0] };
  const code = (...x) => {
    const found = [];
    for (let b = 0; b < 6; b++) for (const n of x) found.push(Math.floor((n < 0 ? -2 * n - 1 : 2 * n) / 256 ** b) % 256);
    return found;
  };
  const most = 2 ** 40 - 1, codes = Uint8Array.from([code(1, most), code(1, most - 1), code(most, 0)].flat());
  const track = recordedTrack({ series: series({ rows: 2, columns: ends }, codes), changes: [[0.5, "foot strikes"]], message: "done" });
  assert.deepEqual([[...track.t], [...track.column("energy")]], [[0, 0.5], [6, NaN]]);
  assert.deepEqual(track.state(0.5).v, Float64Array.of(0.2, 0));
  assert.deepEqual(track.changes, [{ t: 0.5, text: "foot strikes" }]);
});

test("attitudes between samples have a norm of one", () => {
  const track = new Track(["x", "box.qw", "box.qx", "box.qy", "box.qz", "x'", "box.wx"], 2);
  track.t.set([0, 1]);
  [1, 0].forEach((w, k) => { [track.columns[1][k], track.columns[2][k]] = [w, 1 - w]; });
  track.rows = 2;
  near(Math.hypot(...track.state(0.3).q.slice(1)), 1, 1e-15);
  near(track.state(0.5).q[1], Math.SQRT1_2, 1e-15);
});

test("the cause of a failure is told from the states", () => {
  assert.deepEqual(RATES, [0, -1]);
  const root = { operation: "sqrt(x)", operand: "x", needs: "x >= 0", inside: "x > 0", steep: false, distance: "itself" };
  const engine = (inertia, ...conditions) => ({
    mobilities: (t, q, v) => v.map(() => 1 / inertia(q[0])), info: { domains: { near: 1e-6, eps: 2e-16, conditions } }, operands: (t, [x]) => conditions.flatMap(() => [Math.sqrt(x), x]),
  });
  const states = (v, x = (k) => 1 - 0.1 * k) => (k) => ({ t: k, q: Float64Array.of(x(k), 1), v: Float64Array.of(v(k), 0) });
  const told = (made, at, rows = 10) => cause(made, rows, at, at(Math.max(0, rows - 1)));
  assert.match(told(engine((x) => Math.max(x * x, 1e-9)), states(() => -0.1)), /singular there: a force on x' meets no inertia/);
  assert.match(told(engine(() => 1), states((k) => 10 ** k)), /without bound there: x' has come to/);
  assert.match(told(engine(() => 1, root), states(() => 1)), /no expression of the model comes to the edge of where it is defined, and no inertia vanishes/);
  const near = states(() => 1, (k) => 1 - k / 9.0000001);
  assert.match(told(engine(() => 1, root), near), /^'sqrt\(x\)' needs x >= 0, and x = 1\.1\d*e-8 at t = 9 s$/);
  assert.equal(told(engine(() => 1, root), states(() => 1, () => -2), 0), "'sqrt(x)' needs x >= 0, and x = -2 at t = 0 s");
  assert.equal(told(engine(() => 1, { ...root, steep: true }), states(() => 1, () => 0), 0), "'sqrt(x)' needs x > 0 for its slope, and x = 0 at t = 0 s");
});

test("meshes have sharp edges, each vertex once, and look outwards when they are mirrored", () => {
  const planes = (rows) => [0, 1, 2].flatMap((i) => {
    const steps = Uint16Array.from({ length: rows.length / 3 }, (_, k) => rows[3 * k + i] - (k ? rows[3 * k - 3 + i] : 0));
    return [...[...steps].map((x) => x % 256), ...[...steps].map((x) => x >> 8)];
  });
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((k) => [k & 1, (k >> 1) & 1, k >> 2].map((x) => 65535 * x));
  const sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
  const triangles = sides.flatMap(([a, b, c, d]) => [a, b, c, a, c, d]), cube = { low: [-1, -1, -1], size: 2, vertices: 8, triangles: 12 };
  dressed([cube], Uint8Array.from([...planes(corners), ...planes(triangles)]));
  assert.deepEqual([[...cube.vertices], [...cube.triangles]], [corners, triangles]);
  for (const scale of [new Vector3(1, 1, 1), new Vector3(-2, 2, 2)]) {
    const made = mesh(cube, scale), at = made.getAttribute("position"), normal = made.getAttribute("normal"), [...index] = made.getIndex().array;
    assert.equal(at.count, 24);
    const [p, n] = [at, normal].map((x) => (k) => new Vector3().fromBufferAttribute(x, k));
    for (let k = 0; k < index.length; k += 3) {
      const [a, b, c] = index.slice(k, k + 3), face = p(b).sub(p(a)).cross(p(c).sub(p(a))).normalize();
      near(n(a).dot(face), 1, 1e-6);
      near(p(a).dot(face), Math.abs(scale.x), 1e-5);
    }
  }
});

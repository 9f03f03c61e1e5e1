// Why a run that is computed in the page has failed, as far as its states tell.
import { data } from "./data.js";
import { median } from "./linear.js";
import { digits } from "./words.js";

/** Times of growth of what a force moves, and of a speed beyond its usual size, that are the cause of a failure. */
const SINGULAR = 100, FAST = 1000;
/** Places on the way from the last sample to the next at which inertia is looked at. */
const AHEAD = 40;
/** The coordinate whose rate a speed is, -1 for another speed. */
export const RATES = data.v.map((name) => data.q.findIndex((q) => name === `${q}'`));

/** How far a value is from the edge of a domain. */
const DISTANCES = { itself: (x) => x, "from one": (x) => 1 - Math.abs(x), cosine: Math.cos };
/** Samples of a run at which its expressions are looked at. */
const LOOKED = 400;

/** @typedef {{t: number, q: Float64Array, v: Float64Array}} State */

/** The likely cause of a failure behind the last of so many rows, at a state that the run has come to.
 * @param {any} engine @param {number} rows @param {(k: number) => State} at the state of a row @param {State} now */
export function cause(engine, rows, at, now) {
  const defined = outside(engine, now, !rows) || edge(engine, rows, at, now);
  if (defined) return defined;
  const first = rows ? at(0) : now, last = rows ? at(rows - 1) : now, dt = rows > 1 ? last.t - at(rows - 2).t : 0;
  const before = engine.mobilities(first.t, first.q, first.v), growth = new Float64Array(data.v.length);
  for (let i = 0; i <= AHEAD; i++) {
    const q = last.q.slice(), ahead = (1.5 * dt * i) / AHEAD;
    RATES.forEach((j, k) => { if (j >= 0) q[j] += ahead * last.v[k]; });
    engine.mobilities(last.t, q, last.v).forEach((x, k) => { growth[k] = Math.max(growth[k], Number.isFinite(x) ? Math.abs(x / before[k]) : Infinity); });
  }
  const light = worst(growth, SINGULAR);
  if (light >= 0) return `the mass matrix becomes singular there: a force on ${data.v[light]} meets no inertia`;
  if (rows > 2) {
    const usual = data.v.map((_, j) => median(Array.from({ length: Math.min(rows, 60) }, (_, i) => Math.abs(at(Math.floor((i * rows) / 60) % rows).v[j]))));
    const fast = worst(last.v.map((x, j) => Math.abs(x) / Math.max(usual[j], 1e-9)), FAST);
    if (fast >= 0) return `the motion is without bound there: ${data.v[fast]} has come to ${digits(last.v[fast])}`;
  }
  return "no expression of the model comes to the edge of where it is defined, and no inertia vanishes";
}

/** The sentence on an operation without a value, or at a start without a slope, in a state, as the library has it; "" for none.
 * @param {any} engine @param {State} now @param {boolean} begins */
function outside(engine, { t, q, v }, begins) {
  const { conditions, eps } = engine.info.domains, found = engine.operands(t, q, v);
  const k = conditions.findIndex((_, i) => Number.isFinite(found[2 * i + 1]) && !Number.isFinite(found[2 * i]));
  if (k >= 0) return needs(conditions[k], found[2 * k + 1], t);
  if (!begins) return "";
  const near = 4 * eps * [...q, ...v].reduce((a, x) => Math.max(a, Math.abs(x)), 1);
  const steep = conditions.findIndex((c, i) => c.steep && Math.abs(DISTANCES[c.distance](found[2 * i + 1])) <= near);
  return steep < 0 ? "" : needs(conditions[steep], found[2 * steep + 1], t, true);
}

/** The sentence on an operand that has come to the edge of its domain, as far as it ever was from it; "" for none. */
function edge(engine, rows, at, now) {
  const { conditions, near } = engine.info.domains, farthest = new Float64Array(conditions.length);
  const distances = ({ t, q, v }) => {
    const found = engine.operands(t, q, v);
    return conditions.map((c, i) => Math.abs(DISTANCES[c.distance](found[2 * i + 1])));
  };
  for (let i = 0; i < Math.min(rows, LOOKED); i++) {
    distances(at(Math.floor((i * rows) / Math.min(rows, LOOKED)))).forEach((x, k) => { if (x < Infinity) farthest[k] = Math.max(farthest[k], x); });
  }
  const relative = distances(now).map((x, k) => -x / Math.max(farthest[k], Number.MIN_VALUE)), k = worst(relative, -near);
  return k < 0 ? "" : needs(conditions[k], engine.operands(now.t, now.q, now.v)[2 * k + 1], now.t);
}

/** What an operation needs, and what its operand is. */
function needs({ operation, operand, needs: plain, inside, distance }, value, t, slope = false) {
  const strict = slope || (inside && DISTANCES[distance](value) === 0);
  return `'${operation}' needs ${strict ? inside : plain}${slope ? " for its slope" : ""}, and ${operand} = ${Number(value.toPrecision(12))} at t = ${Number(t.toPrecision(9))} s`;
}

/** The place of the largest of some numbers beyond a limit; -1 for none. @param {ArrayLike<number>} x @param {number} most */
function worst(x, most) {
  let found = -1;
  for (let k = 0; k < x.length; k++) if (x[k] > most && (found < 0 || x[k] > x[found])) found = k;
  return found;
}

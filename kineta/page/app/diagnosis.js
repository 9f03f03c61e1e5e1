// Why a run that is computed in the page has failed, as far as its states tell.
import { data } from "./data.js";
import { digits } from "./words.js";

/** Times of growth of what a force moves, and of a speed beyond its usual size, that are the cause of a failure. */
const SINGULAR = 100, FAST = 1000;
/** Places on the way from the last sample to the next at which inertia is looked at. */
const AHEAD = 40;
/** The coordinate whose rate a speed is, -1 for another speed. */
export const RATES = data.v.map((name) => data.q.findIndex((q) => name === `${q}'`));

/** @typedef {(k: number) => {t: number, q: Float64Array, v: Float64Array}} States the state of a row */

/** The likely cause of a failure behind the last of so many rows. @param {any} engine @param {number} rows @param {States} at */
export function cause(engine, rows, at) {
  const first = at(0), last = at(Math.max(0, rows - 1)), dt = rows > 1 ? last.t - at(rows - 2).t : 0;
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
  return "an expression may leave its domain there, as a root of a number below zero or a quotient by zero";
}

/** The place of the largest of some numbers beyond a limit; -1 for none. @param {ArrayLike<number>} x @param {number} most */
function worst(x, most) {
  let found = -1;
  for (let k = 0; k < x.length; k++) if (x[k] > most && (found < 0 || x[k] > x[found])) found = k;
  return found;
}

/** @param {number[]} x */
const median = (x) => x.sort((a, b) => a - b)[x.length >> 1];

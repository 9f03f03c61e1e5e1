// What parameters may be, as the library checks them before a run.
import { principal } from "./linear.js";
import { digits } from "./words.js";

/**
 * @typedef {{bodies: {name: string, signs: boolean, whole: boolean}[], slack: number,
 *   bounds: {of: string, positive: boolean, most: number | null, text: string}[]}} Limits
 */

/** The sentence on the first value out of its limits; "" for none. @param {Limits} limits @param {ArrayLike<number>} found */
export function refused(limits, found) {
  const { bodies, slack, bounds } = limits;
  for (let k = 0; k < bodies.length; k++) {
    const own = bodies[k], at = Array.from({ length: 7 }, (_, i) => found[7 * k + i]);
    const why = inertia(at, own.signs, own.whole, slack);
    if (why) return `Body '${own.name}': ${why}`;
  }
  for (let k = 0; k < bounds.length; k++) {
    const x = found[7 * bodies.length + k], { of, positive, most, text } = bounds[k];
    if (!(positive ? x > 0 : x >= 0) || (most !== null && x > most)) return `${of}: ${text.replace("found nan", `found ${digits(x)}`)}`;
  }
  return "";
}

/** Why no body has such an inertia. @param {number[]} of mass, moments, products @param {boolean} signs @param {boolean} whole @param {number} slack */
function inertia([mass, ...tensor], signs, whole, slack) {
  if (!(mass >= 0)) return `mass is ${digits(mass)} kg; expected zero or more.`;
  for (let i = 0; i < 3 && signs; i++) if (!(tensor[i] >= 0)) return `J${"xyz"[i]} is ${digits(tensor[i])} kg·m²; expected zero or more.`;
  if (!whole) return "";
  const [a, b, c] = principal(tensor).moments, room = slack * Math.max(c, 0);
  if (a < -room) return `the inertia tensor has the principal moment ${digits(a)} kg·m²; expected zero or more.`;
  if (a + b < c - room) return `no body has the principal moments ${[a, b, c].map((x) => digits(x)).join(", ")} kg·m²: the largest exceeds the sum of the others.`;
  return "";
}

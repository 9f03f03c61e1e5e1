// How long a page plays, and how fast, so that the motion is seen.
import * as THREE from "three";
import { data } from "./data.js";
import { median } from "./linear.js";

/** Speeds of playing that can be chosen. */
export const SPEEDS = [0.01, 0.03, 0.1, 0.25, 0.5, 1, 2, 4];
/** Sizes of the machine beyond which its bodies are no longer together, and below which they have not gone far. */
const APART = 9, NEAR = 0.5;
/** How fast bodies go beside their middle [sizes/s]: too fast to be seen, and as fast as they are shown then. */
const FAST = 12, CALM = 6;
/** Times at which is looked for bodies that fly apart, and for slow and fast ones. */
const SCANNED = 400, TIMES = 40;

/** Places of the bodies at a time. @param {any} page @param {number} t @returns {THREE.Vector3[]} */
function places(page, t) {
  const { q, v } = page.track.state(t), seen = page.engine.seen(t, q, v, page.values.p);
  return Object.values(data.scene.places).filter((k) => k > 0).map((k) => new THREE.Vector3(seen[12 * k + 9], seen[12 * k + 10], seen[12 * k + 11]));
}

/** Times from the start to `last`. @param {any} page @param {number} count @param {number} last */
const times = ({ span: [from] }, count, last) => Array.from({ length: count }, (_, k) => from + ((last - from) * k) / (count - 1));

/** A round number of seconds for which bodies are together; 0 where they do not fly apart. @param {any} page */
export function together(page) {
  const { track, span: [from] } = page, apart = (t) => new THREE.Box3().setFromPoints(places(page, t)).getSize(new THREE.Vector3()).length();
  const all = times(page, SCANNED + 1, track.last), most = APART * Math.max(apart(from), data.scene.size), k = all.findIndex((t) => apart(t) > most);
  if (k < 2) return 0;
  const long = all[k - 1] - from, power = 10 ** Math.floor(Math.log10(long));
  return [5, 2, 1].find((x) => x * power <= long) * power;
}

/** Whether bodies go on all the time, and not far. @param {any} page */
export function slow(page) {
  const [first, ...rest] = times(page, TIMES, page.track.last).map((t) => places(page, t)), { size } = data.scene;
  const gone = rest.map((at) => Math.max(0, ...at.map((x, k) => x.distanceTo(first[k]))));
  return gone[0] > 1e-9 * size && gone.at(-1) < NEAR * size && gone.every((x, k) => k === 0 || x > gone[k - 1]);
}

/** The speed of playing at which bodies are seen as they go beside their middle. @param {any} page */
export function calm(page) {
  const { track, span: [from] } = page, h = Math.min((track.last - from) / 2, (page.span[1] - from) / track.t.length);
  if (!(h > 0)) return 1;
  const beside = (t) => {
    const at = places(page, t), middle = at.reduce((a, b) => a.addScaledVector(b, 1 / at.length), new THREE.Vector3());
    return at.map((x) => x.sub(middle));
  };
  const pace = median(times(page, TIMES, track.last - h).map((t) => {
    const then = beside(t + h);
    return Math.max(0, ...beside(t).map((x, k) => x.distanceTo(then[k]))) / h / data.scene.size;
  }));
  return pace > FAST ? SPEEDS.findLast((x) => x <= CALM / pace) ?? SPEEDS[0] : 1;
}

// Rails: the line of each, the length of the carts on it, and where springs on it begin, as kineta.scene.rails has them.
import * as THREE from "three";
import { median } from "./linear.js";

/** Length of a cart in radii of a rod, and at most in the distance to the next one; room on a rail beside several carts, in sizes of the machine. */
const CART = 6.4, CLOSE = 0.64, ROOM = 0.25;
/** How far behind the place of a cart the wall of its spring stands, in sizes of the machine, and at most in the distance to the next cart. */
const WALL = 0.4, NEAR = 1.5;
/** Places within this part of the size of the machine are one. */
const SAME = 1e-6;

/** Ends of what is drawn, none of a rail on the line of another one, the length of the cart, and the distance of the wall of its spring. @typedef {{ends: [THREE.Vector3, THREE.Vector3] | null, cart: number, wall: number}} Rail */
/** The key of a rail, and of what lies between the same frames. @param {import("./data.js").Solid} s */
export const track = (s) => `${s.frame} ${s.to}`;

/** Unit axis of a rail, its largest component above zero, the foot of the origin on it, and its place along the axis from there. */
function line(machine, s) {
  const axis = machine.value(s, "axis").normalize(), at = machine.value(s, "at"), [x] = axis.toArray().sort((a, b) => Math.abs(b) - Math.abs(a));
  if (x < 0) axis.negate();
  const along = at.dot(axis);
  return { axis, foot: at.addScaledVector(axis, -along), along };
}

/** The rails of a machine by their keys. @param {import("./machine.js").Machine} machine @param {import("./data.js").Solid[]} solids @param {Float64Array} seen where frames are, 12 numbers each @returns {Map<string, Rail>} */
export function rails(machine, solids, seen) {
  const { size, radius } = machine, lines = new Map(), found = new Map();
  for (const s of solids.filter((x) => x.kind === "rail")) {
    const { axis, foot } = line(machine, s), key = [s.frame, ...foot.clone().divideScalar(size).toArray(), ...axis.toArray()].map((x) => Math.round(x / SAME)).join(" ");
    lines.set(key, [...(lines.get(key) ?? []), s]);
  }
  for (const own of lines.values()) {
    const [first] = own, { axis, foot, along } = line(machine, first), frame = machine.frame(seen, first.frame).invert();
    const places = own.map((s) => new THREE.Vector3().setFromMatrixPosition(machine.frame(seen, s.to)).applyMatrix4(frame).dot(axis)).sort((a, b) => a - b);
    const gaps = places.slice(1).map((x, k) => x - places[k]).filter((x) => x > SAME * size);
    const gap = gaps.length ? median(gaps) : Infinity, cart = Math.min(CART * radius, CLOSE * gap), wall = Math.min(WALL * size, NEAR * gap), reach = 0.75 * size + 8 * radius;
    const middle = first.owner ? along : places[0]; // that of a loop may be given by any of its places
    const [low, high] = own.length > 1 ? [places[0] - ROOM * size, places.at(-1) + ROOM * size] : [middle - reach, middle + reach];
    const end = (far) => foot.clone().addScaledVector(axis, far);
    for (const s of own) found.set(track(s), { ends: s === first ? [end(low), end(high)] : null, cart, wall });
  }
  return found;
}

// The equations of the model at work: poses, runs, and the hand.
import { kept, restored } from "./blocks.js";
import { Model, STATUS } from "../../tasks/export/templates/run.mjs";
import { data, live, unpacked } from "./data.js";
import { refused } from "./limits.js";

export { STATUS };

/** Numbers of what presses between a pair. */
export const PRESSING = 11;

/** The tangents u, w of a surface with the normal n, of which w is nearest to a direction. @param {number[]} n @param {number[]} aside */
function tangents(n, aside) {
  const along = n.reduce((sum, a, i) => sum + a * aside[i], 0), level = aside.map((a, i) => a - along * n[i]), size = Math.hypot(...level) || 1;
  const w = level.map((a) => a / size);
  return [[w[1] * n[2] - w[2] * n[1], w[2] * n[0] - w[0] * n[2], w[0] * n[1] - w[1] * n[0]], w];
}

export class Engine {
  static async make() {
    const { instance } = await WebAssembly.instantiate(await unpacked(data.wasm), { math: Math });
    return new Engine(instance.exports);
  }

  constructor(exports) {
    this.exports = exports;
    this.arena = data.module.arena;
    this.numbers = new Float64Array(exports.memory.buffer);
    this.memory = new DataView(exports.memory.buffer);
    /** Of whole numbers, which are small, the lower half and the upper. */
    this.halves = new Int32Array(exports.memory.buffer);
    this.info = live ? data.module.known.INFORMATION : null;
    /** @type {Model | null} */
    this.model = live ? new Model(exports) : null;
    this.frames = data.scene.owners.length;
  }

  /** An array of the arena. @param {string} name @param {number} size */
  view(name, size) {
    return this.numbers.subarray(this.arena[name] / 8, this.arena[name] / 8 + size);
  }

  /** Frames (12 numbers each), numbers of the solids and what moves, at a time in a state. @returns {Float64Array} */
  seen(t, q, v, p) {
    const { arena } = this;
    this.numbers[arena.t / 8] = t;
    this.view("q", q.length).set(q);
    this.view("v", v.length).set(v);
    this.view("p", p.length).set(p);
    this.exports.scene(arena.t, arena.q, arena.v, arena.p, arena.seen);
    return this.numbers.subarray(arena.seen / 8);
  }

  /** A function of the places along the two axes of each field, after which its height and slopes stand among the numbers from where it tells. */
  ground(t, p) {
    const { arena, numbers, exports } = this, at = arena.place / 8, to = arena.heights / 8;
    numbers[arena.t / 8] = t;
    this.view("p", p.length).set(p);
    return (a, b) => {
      numbers[at] = a;
      numbers[at + 1] = b;
      exports.ground(arena.t, arena.place, arena.p, arena.heights);
      return to;
    };
  }

  /** The whole state of the run at its time, quadratures included. */
  get state() {
    return new Float64Array(this.memory.buffer, this.info.places.state, this.info.size);
  }

  /** The state behind the last step, which is beyond the last sample; by time stepping that of the sample. */
  get latest() {
    const { reached, latest } = this.info.places, { time } = this.model, nq = data.q.length, nv = data.v.length;
    const t = latest ? this.memory.getFloat64(reached, true) : -Infinity, beyond = t >= time;
    const y = beyond ? new Float64Array(this.memory.buffer, latest, nq + nv) : this.state;
    return { t: beyond ? t : time, q: y.slice(0, nq), v: y.slice(nq, nq + nv) };
  }

  /** The parameters as they are in the run, where switches may have set them. */
  get parameters() {
    return new Float64Array(this.memory.buffer, this.info.places.given, data.parameters.length);
  }

  /** Energies, outputs, multipliers, then residuals. */
  observe() {
    this.exports.observe(this.info.places.root);
    return new Float64Array(this.memory.buffer, this.info.places.values, this.info.observed.length + this.info.residuals);
  }

  /** What presses between pairs of bodies in the last step, {@link PRESSING} numbers each: the place, the force on the first of both, the normal
   * from the other to it, the coefficient of friction, and 1 where the other is a body, too. */
  pressing() {
    const { pairs, places } = this.info;
    if (!pairs) return null;
    const real = (at) => this.numbers[at / 8], whole = (at) => this.halves[at / 4], found = [];
    // A step ends with the features that overlap behind it alone, in another order than those that pressed in it.
    this.exports.list_features(places.pairs, real(places.size));
    const name = (pair, feature, k) => whole(pair + 8 * k) * 2 ** 32 + whole(feature + 8 * k), pressed = new Map();
    for (let k = 0; k < whole(places.pressed); k++) if (real(places.impulse + 24 * k) > 0) pressed.set(name(places.pressed_pair, places.pressed_feature, k), [0, 8, 16].map((i) => real(places.impulse + 24 * k + i)));
    for (let k = 0, h = real(places.size); pressed.size && k < whole(places.near); k++) {
      const x = pressed.get(name(places.pair, places.feature, k));
      if (!x) continue;
      const own = places.features + 8 * pairs.numbers * k, vector = (at) => [0, 8, 16].map((i) => real(at + i));
      const one = whole(places.one + 8 * k), plane = whole(places.kind + 8 * whole(places.other + 8 * k)) === pairs.plane, group = whole(places.group + 8 * one);
      const n = vector(own + 8 * pairs.normal), [u, w] = tangents(n, vector(places.aside + 24 * group));
      const back = real(own + 8 * pairs.round) + (plane ? 0 : 0.5 * real(own + 8 * pairs.gap));
      found.push(...vector(own + 8 * pairs.place).map((a, i) => a - back * n[i]), ...n.map((a, i) => (x[0] * a + x[1] * u[i] + x[2] * w[i]) / h), ...n, real(places.law + 32 * group), plane ? 0 : 1);
    }
    return Float32Array.from(found);
  }

  /** The steps that were made of so many, which may then be made again. @param {number} most */
  steps(most) {
    const left = Number(this.memory.getBigInt64(this.info.places.left, true));
    this.memory.setBigInt64(this.info.places.left, BigInt(most), true);
    return most - left;
  }

  /** All that the run is, to come back to it. @returns {import("./blocks.js").Blocks} */
  snapshot() {
    return (this.last = kept(this.halves.subarray(0, this.arena.t / 4), this.last ?? []));
  }

  /** @param {import("./blocks.js").Blocks} blocks */
  restore(blocks) {
    restored(this.halves.subarray(0, this.arena.t / 4), blocks);
  }

  /** Let the run go on beyond its end. @param {number} t */
  extend(t) {
    this.memory.setFloat64(this.info.places.t_end, t, true);
  }

  // -- the hand ---------------------------------------------------------------------------------------------------------

  /** Why no body or element has such parameters; "" where all is well. @param {Float64Array} p */
  refusal(p) {
    const { arena, info } = this;
    this.view("p", p.length).set(p);
    this.exports.limits(arena.p, arena.limits);
    return refused(info.limits, this.numbers.subarray(arena.limits / 8));
  }

  /** The mass of all bodies [kg], which the library has put among the limits. @param {Float64Array} p */
  mass(p) {
    this.refusal(p);
    const { arena, info } = this;
    return info.limits.bodies.reduce((sum, _, k) => sum + this.numbers[arena.limits / 8 + 7 * k], 0);
  }

  /** Initial values that depend on parameters: `q` or `v`, the place, and the value. @param {Float64Array} p @returns {[string, number, number][]} */
  starts(p) {
    const { arena, info } = this;
    if (!info.starts.length) return [];
    this.view("p", p.length).set(p);
    this.exports.starts(arena.p, arena.starts);
    return info.starts.map(([word, place], k) => [word, place, this.numbers[arena.starts / 8 + k]]);
  }

  /** Values of operations that are not defined everywhere, each before that of its operand, in a state. */
  operands(t, q, v) {
    const { arena, info } = this, np = data.parameters.length;
    this.numbers[arena.t / 8] = t;
    this.view("y", q.length).set(q);
    this.view("y", info.size).set(v, q.length);
    this.view("p", np).set(this.parameters);
    this.exports.operands(arena.t, arena.y, arena.p, arena.operands);
    return this.view("operands", 2 * info.domains.conditions.length).slice();
  }

  /** Accelerations in a state under forces on the speeds; those of contacts are left out. @param {Float64Array} tau */
  accelerations(t, q, v, tau) {
    const { arena, info } = this, nv = v.length, np = data.parameters.length;
    this.numbers[arena.t / 8] = t;
    this.view("given", np).set(this.parameters);
    this.view("given", np + nv).set(tau, np);
    this.view("y", info.size).set(q);
    this.view("y", info.size).set(v, q.length);
    this.exports[info.accelerations.setup](arena.given, arena.block);
    this.exports[info.accelerations.function](arena.t, arena.y, arena.block, arena.rates);
    const first = arena.rates / 8 + info.accelerations.first;
    return this.numbers.slice(first, first + nv);
  }

  /** The acceleration of each speed by a force of one on it, in a state. */
  mobilities(t, q, v) {
    const free = this.accelerations(t, q, v, new Float64Array(v.length));
    return free.map((a, k) => this.accelerations(t, q, v, Float64Array.from(v, (_, i) => Number(i === k)))[k] - a);
  }

  /** Forces on the speeds of a hand at a place of a body, the place, and the pull there [N]. @param {number[]} grip */
  hand(t, q, v, grip) {
    const { arena } = this, nv = v.length;
    this.numbers[arena.t / 8] = t;
    this.view("q", q.length).set(q);
    this.view("v", nv).set(v);
    this.view("p", data.parameters.length).set(this.parameters);
    this.view("grip", grip.length).set(grip);
    this.exports.hand(arena.t, arena.q, arena.v, arena.p, arena.grip, arena.held);
    const of = (k) => [...this.numbers.subarray(arena.held / 8 + nv + k, arena.held / 8 + nv + k + 3)];
    return { forces: this.view("held", nv).slice(), place: of(0), pull: of(3) };
  }

  /** The mass that a hand feels at a place of a body: 3 over the trace of the accelerations by unit forces. */
  felt(t, q, v, grip) {
    const nv = v.length;
    const body = grip.slice(0, data.scene.bodies.length + 3);
    const { place } = this.hand(t, q, v, [...body, 0, 0, 0, 0, 0]);
    const free = this.accelerations(t, q, v, new Float64Array(nv));
    let mobility = 0;
    for (let k = 0; k < 3; k++) {
      const target = place.map((x, i) => x + (i === k ? 1 : 0));
      const { forces } = this.hand(t, q, new Float64Array(nv), [...body, ...target, 1, 0]);
      const moved = this.accelerations(t, q, v, forces);
      for (let j = 0; j < nv; j++) mobility += forces[j] * (moved[j] - free[j]);
    }
    return { place, mass: mobility > 0 ? 3 / mobility : Infinity };
  }

  /** Whether the run may go on by time stepping when forces change; then it does. */
  hurry() {
    const { hurried } = this.info.places;
    if (hurried) this.memory.setBigInt64(hurried, 1n, true);
    return Boolean(hurried);
  }

  /** Hold forces on the speeds from the present time on; a status. @param {Float64Array} tau */
  hold(tau) {
    new Float64Array(this.memory.buffer, this.info.places.tau, tau.length).set(tau);
    return Number(this.exports.change(this.info.places.root));
  }
}

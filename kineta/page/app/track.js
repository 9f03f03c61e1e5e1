// A motion as samples: computed in the page, or recorded.
import { Attitude, attitudes } from "./attitudes.js";
import { data } from "./data.js";
import { RATES, cause } from "./diagnosis.js";
import { STATUS } from "./engine.js";
import { digits } from "./words.js";

const nq = data.q.length, nv = data.v.length;
/** Places of the four numbers of each quaternion among the coordinates. */
const QUATERNIONS = attitudes(data.q).map(({ places }) => places);
/** Samples of a second, and of a run at least and at most. */
const RATE = 240, LEAST = 600, MOST = 6000;
/** Steps after which the run stops to look at the clock, at first and at most; milliseconds that they may take. */
const STEPS = 20, STEPS_AT_ONCE = 400, PAUSE = 3;
/** As `simulate` has it: steps at most, steps between two looks at the pace, and steps that the rest may need at this pace. */
const MOST_STEPS = 10_000_000, CHECKED = 100_000, MOST_LEFT = 1e11;
/** The golden section, and how often it divides the time between samples. */
const GOLDEN = (Math.sqrt(5) - 1) / 2, SECTIONS = 36;
/** States of the run that are kept to come back to. */
const KEPT = 32;
/** Samples between states that are kept while a hand pulls. */
const HELD = 12;
/** The pace, in that of time, below which a run under the hand goes on by time stepping; milliseconds of computing by which it is told, and after which
 * earlier ones count half. */
const PACE = 0.5, TOLD = 60, LATELY = 400;
const ENERGIES = ["kinetic_energy", "potential_energy"];

/** Divide a quaternion by its norm. @param {Float64Array} q @param {number[]} places */
function unit(q, places) {
  const norm = Math.hypot(...places.map((k) => q[k]));
  if (norm > 0) for (const k of places) q[k] /= norm;
}

/** Times, and columns by name; what happened. */
export class Track {
  /** @param {string[]} names @param {number} room */
  constructor(names, room) {
    this.own = names;
    this.place = new Map(names.map((name, k) => [name, k]));
    /** Of each sample, what presses between pairs of bodies. @type {(Float32Array | null)[]} */
    this.pressing = [];
    /** Series of attitudes, by name. */
    this.turns = new Map();
    for (const { places, series } of attitudes(data.q, names)) {
      if (!places.every((k) => this.place.has(data.q[k]))) continue;
      const found = new Attitude(), of = places.map((k) => this.place.get(data.q[k]));
      for (const { name, place } of series) this.turns.set(name, { found, place, of });
    }
    this.rows = 0;
    this.t = new Float64Array(room);
    this.columns = names.map(() => new Float64Array(room));
    /** @type {{t: number, text: string}[]} */
    this.changes = [];
    this.message = "";
    /** The state and all series at one time between samples, computed by the equations. @type {{t: number, values: Float64Array} | null} */
    this.instant = null;
  }

  /** All series: those that were recorded, and those of attitudes. */
  get names() {
    return [...this.own, ...this.turns.keys()];
  }

  get last() {
    return this.rows ? this.t[this.rows - 1] : 0;
  }

  /** @param {number} n */
  room(n) {
    if (n <= this.t.length) return;
    const more = (old) => {
      const made = new Float64Array(Math.ceil(1.5 * n));
      made.set(old);
      return made;
    };
    this.t = more(this.t);
    this.columns = this.columns.map(more);
  }

  /** @param {string} name @returns {Float64Array | undefined} */
  column(name) {
    const turn = this.turns.get(name);
    return turn ? turn.found.column(turn.place, turn.of.map((k) => this.columns[k]), this.rows) : this.columns[this.place.get(name)]?.subarray(0, this.rows);
  }

  /** Forget the samples behind so many. @param {number} rows */
  cut(rows) {
    this.rows = rows;
    this.instant = null;
    for (const { found } of this.turns.values()) found.rows = Math.min(found.rows, rows);
  }

  /** The row at or before a time. @param {number} t */
  row(t) {
    let low = 0, high = this.rows - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.t[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The row at which a series is largest, or with -1 smallest. @param {string} name @param {number} sign */
  utmost(name, sign) {
    return this.column(name).reduce((best, x, k, all) => (sign * x > sign * all[best] ? k : best), 0);
  }

  /** The rows on both sides of a time, and the part of the way from the one to the other. @param {number} t */
  between(t) {
    const k = this.row(t), next = Math.min(k + 1, this.rows - 1), span = this.t[next] - this.t[k];
    return [k, next, span > 0 ? Math.min(1, Math.max(0, (t - this.t[k]) / span)) : 0];
  }

  /** The samples so far, by themselves. */
  copy() {
    const made = new Track(this.own, 0);
    made.t = this.t.slice(0, this.rows);
    made.columns = this.columns.map((x) => x.slice(0, this.rows));
    made.rows = this.rows;
    return made;
  }

  /** A series at a time: of a sample, of the instant, else between samples in proportion; null beyond the samples. @param {string} name @param {number} t */
  value(name, t) {
    if (!this.rows || t > this.last || t < this.t[0]) return null;
    const [k, next, s] = this.between(t), at = this.instant?.t === t ? this.instant.values : null, turn = this.turns.get(name);
    if (at && this.place.has(name)) return at[this.place.get(name)];
    const x = this.column(name);
    if (at && turn) return turn.found.at(turn.place, turn.of.map((j) => at[j]), k);
    return x ? x[k] + s * (x[next] - x[k]) : null;
  }

  /** Coordinates and speeds at a time: of a sample, of the instant, else between samples in proportion. @param {number} t */
  state(t) {
    const [k, next, s] = this.between(t), exact = this.instant?.t === t ? this.instant.values : null;
    if (exact) return { q: exact.slice(0, nq), v: exact.slice(nq, nq + nv) };
    const at = (j) => this.columns[j][k] + s * (this.columns[j][next] - this.columns[j][k]);
    const q = Float64Array.from({ length: nq }, (_, j) => at(j));
    // A mean of two attitudes is none.
    if (s > 0 && s < 1) for (const places of QUATERNIONS) unit(q, places);
    return { q, v: Float64Array.from({ length: nv }, (_, j) => at(nq + j)) };
  }
}

/** The samples that stand in the page. @param {import("./data.js").Recorded} recorded */
export function recordedTrack({ series, pressed = [], changes, message }) {
  const { t, ...columns } = Object.fromEntries(series), [kinetic, potential] = ENERGIES.map((name) => columns[name]);
  if (kinetic && potential) columns.energy = kinetic.map((x, k) => x + potential[k]);
  const track = new Track(Object.keys(columns), 0);
  Object.assign(track, { t, rows: t.length, columns: Object.values(columns), message });
  track.changes = changes.map(([at, text]) => ({ t: at, text }));
  /** @type {number[][]} */
  const pressing = [];
  for (const { name, sample, place, normal, friction, body, sign } of pressed) {
    const force = ["x", "y", "z"].map((i) => sign * columns[`lambda.${name}.${i}`][sample]);
    (pressing[sample] ??= []).push(...place, ...force, ...normal, friction, body);
  }
  track.pressing = Array.from(t, (_, k) => pressing[k] ? Float32Array.from(pressing[k]) : null);
  return track;
}

/** A motion that is computed, slice by slice. */
export class LiveRun {
  /** @param {import("./engine.js").Engine} engine @param {[number, number]} span */
  constructor(engine, span) {
    this.engine = engine;
    [this.start, this.end] = span;
    this.span = span;
    const samples = Math.min(MOST, Math.max(LEAST, Math.round((span[1] - span[0]) * RATE)));
    this.dt = (span[1] - span[0]) / samples;
    this.info = engine.info;
    this.names = [...new Set([...this.info.states, ...this.info.observed, "energy", "work", "balance", "residual"])];
    this.track = new Track(this.names, samples + 2);
    this.done = true;
    this.most = STEPS;
  }

  /** Begin anew from parameters, coordinates and speeds; a slice of the motion is there at once. */
  begin(p, q, v, budget = 12) {
    const { engine, info } = this, model = engine.model;
    this.track = new Track(this.names, this.track.t.length);
    this.end = this.span[1];
    this.kept = [];
    this.told = false;
    this.milliseconds = 0;
    this.pulled = this.hurried = false;
    /** Milliseconds of computing, and the seconds of motion that they have brought. */
    this.lately = { taken: 0, gone: 0 };
    this.steps = this.handed = this.left = 0;
    this.checked = { steps: 0, t: this.span[0] };
    this.pulling = null;
    this.track.message = engine.refusal(p);
    this.done = true;
    if (this.track.message) return;
    const named = (names, values) => Object.fromEntries(names.map((name, k) => [name, values[k]]));
    this.status = model.begin({
      p: named(Object.keys(info.parameters), p), q: named(data.q, q), v: named(data.v, v), t0: this.span[0], t1: this.span[1], maxSteps: this.most,
    });
    this.done = this.status !== STATUS.REACHED;
    if (this.done) {
      const alone = this.status === STATUS.NOT_FINITE ? `; ${cause(engine, 0, () => null, { t: this.span[0], q, v })}` : "";
      this.track.message = `No motion begins here. ${model.message(this.status).replace(/\.$/, "")}${alone}.`;
      return;
    }
    this.changed();
    this.put();
    this.more(budget);
  }

  /** Note the changes at the present time. */
  changed() {
    for (const { t, contact, what } of this.engine.model.changes) {
      this.track.changes.push({ t, text: `${contact} ${what}` });
      /** The last that has acted: a switch, where a run is stopped. */
      this.stopped = contact;
    }
  }

  /** The present state, and all series there. */
  sample() {
    const { track, engine, info } = this, y = engine.state, observed = engine.observe(), n = info.states.length, m = info.observed.length;
    const values = new Float64Array(this.names.length), set = (name, x) => { values[track.place.get(name)] = x; };
    values.set(y.subarray(0, n));
    info.observed.forEach((name, j) => set(name, observed[j]));
    const energy = observed[0] + observed[1], work = (info.works ? y[n] : 0) + this.handed;
    set("energy", energy);
    set("work", work);
    const [first, done] = ["energy", "work"].map((name) => (track.rows ? track.columns[track.place.get(name)][0] : name === "energy" ? energy : work));
    set("balance", energy - work - (first - done));
    set("residual", observed.subarray(m).reduce((a, b) => Math.max(a, Math.abs(b)), 0));
    return values;
  }

  /** Record the present state. */
  put() {
    const { track, engine } = this, k = track.rows;
    track.room(k + 1);
    track.t[k] = engine.model.time;
    track.pressing[k] = engine.pressing();
    this.sample().forEach((x, j) => { track.columns[j][k] = x; });
    track.rows++;
  }

  /** Do what computes between two rows beside the run, from a state that was kept before, unless a hand pulls there. @param {[number, number]} rows @param {(kept: any) => void} act */
  aside([from, to], act) {
    const { engine, handed, status } = this, kept = this.kept?.findLast((x) => x.rows <= from + 1);
    if (!this.done || this.pulling || !kept || this.kept.some((x) => x.held && x.rows >= kept.rows && x.rows <= to)) return;
    const now = engine.snapshot();
    act(kept);
    engine.restore(now);
    Object.assign(this, { handed, status });
  }

  /** All series at a time behind a state that was kept, where the run reaches it. @param {number} t @returns {Float64Array | null} */
  computed(t, kept) {
    const { engine } = this;
    engine.restore(kept.memory);
    engine.steps(MOST_STEPS);
    this.handed = kept.handed;
    let status;
    while ((status = engine.model.advance(t)) === STATUS.CHANGED || status === STATUS.EVENT);
    return status === STATUS.REACHED ? this.sample() : null;
  }

  /** Compute the series at a time between samples, once. @param {number} t */
  exact(t) {
    const { track } = this, k = track.row(t);
    if (track.instant?.t === t || t <= track.t[k] || t > track.last) return;
    this.aside([k, k + 1], (kept) => {
      const values = this.computed(t, kept);
      track.instant = values && { t, values };
    });
  }

  /** The time at which a series is largest, or with -1 smallest: between the samples around its extreme one, by the golden section. @param {string} name @param {number} sign */
  extreme(name, sign) {
    const { track, engine } = this, k = track.utmost(name, sign), j = track.place.get(name), room = [Math.max(0, k - 1), Math.min(track.rows - 1, k + 1)];
    let found = track.t[k], best = sign * track.value(name, found), [low, high] = room.map((i) => track.t[i]);
    if (j !== undefined) this.aside(room, (kept) => {
      if (!this.computed(low, kept)) return;
      const from = { memory: engine.snapshot(), handed: this.handed };
      const at = (t) => {
        const y = sign * (this.computed(t, from)?.[j] ?? NaN);
        if (y > best) [best, found] = [y, t];
        return y;
      };
      for (let a = high - GOLDEN * (high - low), b = low + GOLDEN * (high - low), ya = at(a), yb = at(b), n = 0; n < SECTIONS; n++) {
        if (ya >= yb) {
          [high, b, yb] = [b, a, ya];
          ya = at((a = high - GOLDEN * (high - low)));
        } else {
          [low, a, ya] = [a, b, yb];
          yb = at((b = low + GOLDEN * (high - low)));
        }
      }
    });
    return found;
  }

  /** Go on for so many milliseconds. */
  more(budget) {
    const began = performance.now();
    const each = Math.max(1, Math.ceil((this.end - this.start) / this.dt / KEPT));
    while (!this.done && performance.now() - began < budget) {
      if ((this.track.rows - 1) % each === 0) this.keep();
      this.step(this.start + this.track.rows * this.dt);
    }
    this.milliseconds += performance.now() - began;
  }

  /** Keep what the run is now. @param {boolean} held whether what follows is pulled by a hand, and cannot be computed again */
  keep(held = false) {
    const { rows } = this.track;
    this.kept = this.kept.filter((x) => x.rows < rows || (x.rows === rows && !held && !x.held));
    if (this.kept.at(-1)?.rows !== rows) this.kept.push({ rows, held, handed: this.handed, memory: this.engine.snapshot() });
  }

  /** Go on to the time of the next sample. @param {number} t */
  step(t) {
    const { model } = this.engine, last = t >= this.end - 1e-9 * this.dt;
    this.advance(last ? this.end : t);
    if (this.goesOn()) return;
    if (this.status === STATUS.REACHED || this.status === STATUS.ENDED) {
      if (this.pulling) this.handed += this.work();
      this.put();
    }
    if (this.status !== STATUS.REACHED || last) this.done = true;
    if (this.status !== STATUS.REACHED) this.track.message = this.failure();
  }

  /** Go on to a time or for some steps, of which the next are as many as the page has time for. @param {number} t */
  advance(t) {
    const { engine } = this, began = performance.now(), from = engine.model.time;
    while ((this.status = engine.model.advance(t)) === STATUS.CHANGED || this.status === STATUS.EVENT) this.changed();
    const made = engine.steps(this.most), all = Math.round((Math.max(made, 1) * PAUSE) / Math.max(performance.now() - began, 0.01));
    this.steps += made;
    this.count(performance.now() - began, engine.model.time - from);
    this.most = Math.max(1, Math.min(all, 2 * this.most, STEPS_AT_ONCE));
    engine.steps(this.most);
  }

  /** Count milliseconds of computing, and the seconds of motion that they have brought. */
  count(taken, gone) {
    const { lately } = this, part = lately.taken > LATELY ? 0.5 : 1;
    lately.taken = part * lately.taken + taken;
    lately.gone = part * lately.gone + Math.max(gone, 0);
  }

  /** Let the run go on by time stepping where it cannot keep up with a hand. */
  hurry() {
    const { taken, gone } = this.lately;
    if (!this.hurried && taken > TOLD && gone < (PACE * taken) / 1000) this.hurried = this.engine.hurry();
  }

  /** Whether the run has paused between two steps, and its end can be reached. */
  goesOn() {
    const { checked, steps, end } = this, t = this.engine.model.time;
    if (t < checked.t) Object.assign(this, { checked: { steps, t }, left: 0 }); // the hand has taken it back
    else if (steps - checked.steps >= CHECKED) {
      this.left = ((end - t) / (t - checked.t)) * (steps - checked.steps);
      this.checked = { steps, t };
    }
    return this.status === STATUS.OUT_OF_STEPS && steps < MOST_STEPS && !(this.left > MOST_LEFT);
  }

  /** The sentence on the end of a run before its time. */
  failure() {
    const { track, engine, status } = this, text = engine.model.message(status).replace(/\.$/, "");
    if (status === STATUS.ENDED) return `Stopped at t = ${digits(engine.model.time)} s by '${this.stopped}'.`;
    if (status === STATUS.OUT_OF_STEPS) return `The run fails after t = ${digits(track.last)} s. ${this.collapse()}`;
    const at = (k) => ({ t: track.t[k], q: this.part(k, 0, nq), v: this.part(k, nq, nv) });
    return `The run fails after t = ${digits(track.last)} s. ${text}; ${cause(engine, track.rows, at, engine.latest)}.`;
  }

  /** How steps have come to their end. */
  collapse() {
    if (!(this.left > MOST_LEFT)) return `${this.steps} steps are made, as many as there may be.`;
    const rest = Number.isFinite(this.left) ? `the rest would take ${digits(this.left, 2)} more` : "time no longer goes on";
    return `Steps are short without end: ${this.steps} were made, and ${rest}, as where a force or a rate jumps, changes very fast, or comes to the edge of its domain.`;
  }

  /** Some of the columns in a row. @param {number} k @param {number} first @param {number} n */
  part(k, first, n) {
    return Float64Array.from({ length: n }, (_, j) => this.track.columns[first + j][k]);
  }

  // -- under the hand ---------------------------------------------------------------------------------------------------

  /** Come back to the sample of a row, or to one shortly before where a hand has pulled; forget what follows. @param {number} row */
  back(row) {
    const { track, engine } = this, kept = this.kept.findLast((x) => x.rows <= row + 1);
    engine.restore(kept.memory);
    if (this.hurried) engine.hurry();
    engine.steps(this.most);
    this.handed = kept.handed;
    track.cut(kept.rows);
    track.changes = track.changes.filter((x) => x.t <= track.last);
    track.message = "";
    this.done = false;
    while (track.rows <= row && !this.done && !kept.held) this.step(this.start + track.rows * this.dt);
    this.kept = this.kept.filter((x) => x.rows <= track.rows);
    this.done = false;
  }

  /** Begin a sample further under forces on the speeds. @param {Float64Array} tau */
  pull(tau) {
    const next = this.start + this.track.rows * this.dt;
    if (next > this.end - 1.5 * this.dt) {
      this.end = next + 2 * this.dt;
      this.engine.extend(this.end);
    }
    if (this.track.rows % HELD === 0 || !this.kept.at(-1).held) this.keep(true);
    this.hurry();
    const began = performance.now();
    this.status = this.engine.hold(tau);
    this.count(performance.now() - began, 0);
    this.pulled = true;
    this.done = false;
    if (this.status === STATUS.REACHED) {
      this.changed();
      const from = this.engine.state.slice(), begun = this.track.last;
      this.pulling = { tau, next, rows: this.track.rows, begun, half: (begun + next) / 2, from, middle: RATES.includes(-1) ? null : from };
    } else this.track.message = this.failure();
  }

  /** Go on to the sample that is begun; whether that may go on. */
  follow() {
    const { pulling } = this;
    if (!pulling.middle) {
      this.advance(pulling.half);
      if (this.status === STATUS.REACHED) pulling.middle = this.engine.state.slice();
      if (this.status === STATUS.REACHED || this.goesOn()) return true;
      pulling.middle = this.engine.state.slice();
    }
    this.step(pulling.next);
    if (this.done || this.track.rows > pulling.rows) this.pulling = null;
    return !this.track.message;
  }

  /** The work of the forces of a hand since its last sample: by what coordinates change, and by Simpson's rule of speeds that are no
   * rates of them. */
  work() {
    const { tau, from, middle, begun, next } = this.pulling, z = this.engine.state;
    const mean = (k) => ((from[k] + 4 * middle[k] + z[k]) * (next - begun)) / 6;
    return tau.reduce((sum, f, k) => sum + f * (RATES[k] < 0 ? mean(nq + k) : z[RATES[k]] - from[RATES[k]]), 0);
  }

  /** Go on without the hand. */
  letGo() {
    const seconds = this.span[1] - this.span[0];
    this.end = Math.max(this.span[1], this.track.last + 0.6 * seconds);
    this.engine.extend(this.end);
    this.status = this.engine.hold(new Float64Array(nv));
    this.done = this.status !== STATUS.REACHED;
    if (!this.done) this.keep();
  }
}

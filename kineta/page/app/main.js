// The page: a machine that moves by its own equations.
import * as THREE from "three";
import { attitudes } from "./attitudes.js";
import { controls } from "./controls.js";
import { data, live, unpack } from "./data.js";
import { Engine, STATUS } from "./engine.js";
import { Governor, LEVELS, PLAIN } from "./governor.js";
import { drawn, software } from "./graphics.js";
import { fields, Ground } from "./ground.js";
import { Hand } from "./hand.js";
import { Machine } from "./machine.js";
import { Overlay } from "./overlay.js";
import { Pane } from "./plots.js";
import { csv, film, initial } from "./saving.js";
import { Stage } from "./stage.js";
import { calm, slow, SPEEDS, together } from "./timing.js";
import { LiveRun, recordedTrack } from "./track.js";
import { $, digits, el, save } from "./words.js";

/** Milliseconds of a frame for the script: what drawing leaves of them, or at least some, is for physics. For a run that is computed while nothing moves, and
 * the part of the time of a frame that it has where frames come late anyway. */
const FRAME = 11, LEAST = 3, LONG_SLICE = 40, SHARE = 0.4;
/** Milliseconds after which a run that is computed is told anew. */
const KNOWN = 150;
/** What is done beside the picture: one of the plots whose series grow, the marks at the present time on them, words, numbers. Milliseconds after which it is
 * done again, and those while even the least detail comes late: the browser paints what they stand on. */
const CHORES = { plot: [100, 200], mark: [0, 100], words: [50, 200], numbers: [120, 480] };
/** How far a value is from that of the model if it was set by itself, or constraints have moved it. */
const FOLLOWED = 1e-9;
/** Milliseconds without motion after which the picture has all of its detail. */
const STILL = 250;
/** Milliseconds of computing before a page is shown, and how often its motion is made ten times as long. */
const FOUND = 400, TENFOLD = 8;
const NAME = data.model.replace(/[^\p{L}\d_-]/gu, "_") || "model";

/** Equations that the page around this one writes when they are wanted. */
function askForEquations() {
  data.asked = false;
  $("equations").replaceChildren(el("p", "note", "The equations are being written."));
  addEventListener("message", ({ source, data: told }) => {
    if (source === parent && typeof told.equations === "string") $("equations").innerHTML = told.equations;
  });
  parent.postMessage({ wanted: "equations" }, "*");
}

class Page {
  constructor(engine) {
    this.engine = engine;
    this.values = { p: Float64Array.from(data.parameters, (p) => p.value), q: Float64Array.from(data.start.q), v: Float64Array.from(data.start.v) };
    this.span = data.t;
    [this.t] = data.t;
    Object.assign(this, { playing: false, speed: 1, loop: true, dirty: true, ready: false, wanted: new Set(), done: {}, asked: { p: new Set(), q: new Set(), v: new Set() } });
    this.run = live ? new LiveRun(engine, data.t) : null;
    this.recorded = data.recorded ? recordedTrack(data.recorded) : null;
    this.units = { kinetic_energy: "J", potential_energy: "J", energy: "J", work: "J", balance: "J", ...Object.fromEntries(attitudes(data.q).flatMap(({ series }) => series.map(({ name, unit }) => [name, unit]))), ...data.units, ...engine.info?.units };
    this.panes = [];
    this.governor = new Governor(software() ? PLAIN : 0);
    this.detail = 0;
  }

  /** The samples that are shown: recorded ones until something is changed. */
  get track() {
    return this.recorded ?? this.run.track;
  }

  get end() {
    return this.recorded ? Math.max(this.recorded.last, this.span[0] + 1e-3) : Math.max(this.run.end, this.span[1]);
  }

  // -- the run ------------------------------------------------------------------------------------------------------------

  /** Values by their places among parameters p, coordinates q or speeds v at the start. Initial values that the model has from parameters follow these,
   * unless they were set by themselves. */
  set(word, places, values) {
    const follow = word === "p" ? this.engine.starts(this.values.p) : [];
    const kept = follow.map(([of, k, x]) => Math.abs(this.values[of][k] - x) > FOLLOWED * (1 + Math.abs(x)));
    places.forEach((k, i) => {
      this.values[word][k] = values[i];
      this.asked[word].delete(k); // so that the last one is told
      this.asked[word].add(k);
    });
    if (follow.length) this.engine.starts(this.values.p).forEach(([of, k, x], i) => { if (!kept[i]) this.values[of][k] = x; });
    this.again(word === "p");
  }

  restore() {
    this.values.p.set(data.parameters.map((p) => p.value));
    this.values.q.set(data.start.q);
    this.values.v.set(data.start.v);
    for (const places of Object.values(this.asked)) places.clear();
    this.t = this.span[0];
    this.again(true);
  }

  /** The motion anew from the present values. */
  again(shapes = false) {
    if (!live) return;
    if (this.filming) this.filming.stopped = true;
    this.hand?.drop();
    this.recorded = null;
    const { p, q, v } = this.values;
    this.run.begin(p, q, v);
    const { rows } = this.run.track, first = this.state(this.span[0]);
    if (rows) this.sliders?.settle(first.q, first.v);
    else this.t = this.span[0];
    if (shapes) this.machine?.build(this.engine.seen(this.span[0], first.q, first.v, p));
    if (shapes) this.ground?.build();
    this.dirty = true;
    this.fresh();
  }

  /** Keep the curves of this motion in the plots, dashed beside those of others, or keep them no longer. */
  keep() {
    this.beside = this.beside || !this.track.rows ? null : this.track.copy();
    $("keep").textContent = this.beside ? "Keep the dashed curves no longer (k)" : "Keep these curves beside others (k)";
    $("keep").setAttribute("aria-pressed", String(Boolean(this.beside)));
    for (const pane of this.panes) pane.build();
  }

  /** What is not at the start as somebody has set it, since constraints or contacts are stronger: a sentence, or none. */
  corrected() {
    const first = this.state(this.span[0]), told = new Set();
    for (const word of ["q", "v"]) for (const k of this.asked[word]) {
      const name = data[word][k], pair = [first, this.values].map((x) => x[word][k]), [is, asked] = pair, [now, set] = pair.map((x) => digits(x));
      if (now === set || Math.abs(is - asked) <= FOLLOWED * (1 + Math.abs(asked))) continue;
      told.add(/\.q[wxyz]$/.test(name) ? `the attitude of ${name.slice(0, -3)} is another one` : `${name} is ${now}, not ${set}`);
    }
    const [last, ...more] = [...told].reverse();
    return last ? `At the start ${last}${more.length ? ", and others likewise" : ""}, by constraints or contacts. ` : "";
  }

  /** Coordinates and speeds at a time; of a motion that does not begin, those that were asked for. */
  state(t) {
    return this.track.rows ? this.track.state(t) : this.values;
  }

  /** The series are new, or have grown. @param {boolean} grown */
  fresh(grown = false) {
    if (grown) this.grown();
    else for (const pane of this.panes) pane.draw();
    this.ticks();
    this.say();
    this.drawn = performance.now();
    for (const name of ["words", "numbers"]) this[name]();
  }

  /** The series, or the room for their plots, have grown. */
  grown() {
    for (const pane of this.panes) pane.stale = true;
    this.wanted.add("plot");
  }

  say() {
    const told = $("told"), { track } = this;
    told.replaceChildren();
    if (this.recorded) {
      const { recorded } = data;
      if (recorded.failed) told.append(el("b", "bad", recorded.message));
      else if (recorded.steps) told.append(`${live ? "recorded run, live when something is changed" : "recorded run"} · ${recorded.message} · ${recorded.steps} steps${recorded.thinned ? ` · ${recorded.thinned}` : ""}${this.fitted ?? ""}`);
      return;
    }
    if (track.message) {
      told.append(el("b", "bad", track.message));
      return;
    }
    const { steps } = this.run, largest = (x) => x.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    // Relative to the energy that is exchanged, as the library has it.
    const potential = track.column("potential_energy");
    const energies = [track.column("kinetic_energy"), potential.map((x) => x - potential[0]), track.column("work"), potential.map((x) => 2.2e-14 * x)].map(largest);
    const balance = ` · energy balance ${digits(largest(track.column("balance")) / Math.max(...energies, 1e-300), 3)}`;
    const kept = this.engine.info.residuals ? ` · constraints kept to ${digits(largest(track.column("residual")), 3)}` : "";
    const { spells, seconds } = this.engine.model.stepped;
    const over = spells ? ` · by time stepping ${spells === 1 ? "once" : `${spells} times`}, for ${digits(seconds, 3)} s in all, where events could not go on${this.run.hurried ? ", or not keep up with the hand" : ""}` : "";
    told.append(el("b", "", this.corrected()), el("b", "", `${digits(this.run.milliseconds, 3)} ms`), ` for ${digits(track.last - this.span[0], 3)} s · ${steps} steps${over}${balance}${kept}${this.fitted ?? ""}`);
  }

  /** To the event after, or with -1 before, the present time, which is told. @param {number} way */
  event(way) {
    const close = 1e-9 * Math.max(1, Math.abs(this.end)), { changes } = this.track;
    const next = way > 0 ? changes.find(({ t }) => t > this.t + close) : changes.findLast(({ t }) => t < this.t - close);
    this.play(false);
    if (!next) {
      this.announce(changes.length ? `No event ${way > 0 ? "after" : "before"} this.` : "This motion has no events.");
      return;
    }
    this.seek(next.t);
    // Of several at one time all.
    this.announce(`${next.t.toFixed(3)} s: ${changes.filter(({ t }) => Math.abs(t - next.t) <= close).map(({ text }) => text).join("; ")}`);
  }

  /** Show a sentence for a while, and have it read aloud. @param {string} text */
  announce(text) {
    $("event").textContent = text;
    clearTimeout(this.silence);
    this.silence = setTimeout(() => { $("event").textContent = ""; }, 6000);
  }

  /** Impacts and changes of modes below the time. */
  ticks() {
    const shown = this.track.changes.slice(0, 400), [from] = this.span, span = this.end - from;
    $("marks").replaceChildren(...shown.map(({ t, text }) => {
      const mark = el("button", "mark");
      mark.style.left = `${(100 * (t - from)) / span}%`;
      mark.title = `${t.toFixed(3)} s: ${text}`;
      mark.tabIndex = -1;
      mark.onclick = () => {
        this.seek(t);
        this.announce(mark.title);
      };
      return mark;
    }));
    $("time").min = from;
    $("time").max = this.end;
  }

  // -- time ---------------------------------------------------------------------------------------------------------------

  play(on = !this.playing) {
    this.playing = on;
    $("play").classList.toggle("playing", on);
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (on && this.t >= this.end - 1e-9) this.t = this.span[0];
    this.dirty = true;
  }

  seek(t) {
    this.t = Math.max(this.span[0], Math.min(t, this.track.last));
    this.dirty = true;
  }

  /** Compute all that is read at the present time, where that is between samples. */
  settle() {
    if (!this.recorded) this.run?.exact(this.t);
  }

  /** Draw with the detail of a level. @param {number} level */
  detailed(level) {
    if (level === this.detail) return;
    this.detail = level;
    this.stage.detail(LEVELS[level]);
    this.machine.detail(LEVELS[level]);
    this.dirty = true;
  }

  /** Less detail while frames come late, and all of it at rest. */
  govern(now) {
    const { governor } = this;
    if (this.playing || this.hand.held || this.stage.changed) {
      if (this.moving) governor.frame(now, now - this.clock);
      else governor.rest();
      Object.assign(this, { moving: true, moved: now });
      this.detailed(governor.level);
      return;
    }
    this.moving = false;
    if (now - (this.moved ?? now) > STILL) this.detailed(0);
  }

  tick(now) {
    requestAnimationFrame((next) => this.tick(next));
    if (this.filming) return; // which draws each frame by itself
    this.govern(now);
    const taken = now - this.clock, seconds = Math.min(0.1, taken / 1000);
    this.clock = now;
    this.began = performance.now();
    if (!this.hand.held && this.playing && this.track.rows) this.go(seconds * this.speed);
    this.stage.orbit.update();
    const moving = this.playing || this.stage.changed;
    if (this.dirty || this.stage.changed) this.show();
    this.attend(now, !this.playing && !this.hand.held);
    this.compute(taken, seconds, moving);
  }

  /** Show what is so many seconds later. @param {number} seconds */
  go(seconds) {
    const { last } = this.track, done = this.recorded || this.run.done;
    this.t += seconds;
    if (this.t >= last) {
      const over = done && this.loop;
      this.t = over ? this.span[0] : last;
      if (done && !this.loop) this.play(false);
    }
    this.dirty = true;
  }

  /** Compute what is seen in the next frame, while this one is drawn. @param {number} taken milliseconds of the last frame @param {number} seconds for which a hand has
   * to be followed @param {boolean} moving whether frames are waited for */
  compute(taken, seconds, moving) {
    const began = performance.now(), slice = Math.max(FRAME - (began - this.began), LEAST);
    if (this.hand.held) {
      this.hand.pull(seconds * this.speed, slice);
      this.grown();
      this.dirty = true;
    } else if (this.run && !this.run.done) {
      this.run.more(moving ? Math.min(Math.max(SHARE * taken, slice), LONG_SLICE) : LONG_SLICE);
      if (this.run.done || began - (this.drawn ?? 0) > KNOWN) this.fresh(!this.run.done);
      this.dirty ||= this.run.done;
    }
  }

  show() {
    this.dirty = this.stage.changed = false;
    if (!this.playing && !this.hand.held) this.settle();
    const { q, v } = this.state(this.t), seen = this.engine.seen(this.t, q, v, this.values.p);
    this.machine.pose(seen);
    this.overlay.draw(seen);
    this.ground?.accompany(this.machine.middle);
    this.hand.draw();
    this.stage.accompany(this.machine.middle);
    if (this.looking) this.stage.look(this.machine, this.looking.from);
    this.looking = null;
    this.machine.face(this.stage.camera.position);
    this.stage.render();
    for (const name of ["mark", "words", "numbers"]) this.wanted.add(name);
  }

  /** Do what is wanted beside the picture, as often as somebody looks there; while frames come late one thing in a frame, that which has waited longest.
   * @param {number} now [ms] @param {boolean} whole at once */
  attend(now, whole) {
    const late = !whole && this.detail === LEVELS.length - 1, { done } = this, since = (name) => now - (done[name] ?? 0);
    const due = [...this.wanted].filter((name) => whole || since(name) > CHORES[name][Number(late)]).sort((a, b) => since(b) - since(a));
    for (const name of late ? due.slice(0, 1) : due) {
      this.wanted.delete(name);
      done[name] = now;
      this[name](now);
    }
  }

  /** Draw the next one of the plots that are seen and whose series have grown. @param {number} now [ms] */
  plot(now) {
    const waiting = this.panes.filter((x) => x.stale), seen = waiting.filter((x) => x.seen);
    if (seen.length) {
      const next = seen.reduce((a, b) => (b.drawn < a.drawn ? b : a));
      next.drawn = now;
      next.draw();
    }
    if (waiting.length > Number(seen.length > 0)) this.wanted.add("plot");
  }

  /** The present time on the plots. */
  mark() {
    for (const pane of this.panes) if (pane.seen) pane.point();
  }

  words() {
    const [from] = this.span, part = (t) => `${(100 * (t - from)) / (this.end - from)}%`, time = $("time");
    time.max = this.end;
    time.value = this.t;
    time.setAttribute("aria-valuetext", `${this.t.toFixed(2)} s`);
    time.style.setProperty("--part", part(this.t));
    time.style.setProperty("--known", part(this.track.last));
    $("clock").textContent = this.t.toFixed(2);
    this.hand?.read();
  }

  numbers() {
    for (const pane of this.panes) if (pane.seen) pane.numbers();
  }

  /** Unless somebody has asked for a time: of bodies that fly apart the motion while they are together, of slow ones as much as is seen. */
  fit() {
    const { track, span: [from, to] } = this;
    if (!data.fit || track.rows < 2) return;
    const round = together(this);
    if (round) this.fitted = ` · ${digits(round, 2)} s of it, while its bodies are together`;
    if (round && !this.recorded) this.lasting(round);
    else if (round) {
      this.span = [from, from + round];
      this.recorded.cut(this.recorded.row(this.span[1]) + 1);
    }
    for (let k = 0; k < TENFOLD && !round && !this.recorded && this.run.done && !this.track.message && slow(this); k++) this.lasting(10 * (this.span[1] - from));
    const longer = (this.span[1] - from) / (to - from);
    this.speed = longer > 1 ? longer : calm(this);
  }

  /** The motion anew, for so long. @param {number} seconds */
  lasting(seconds) {
    this.span = [this.span[0], this.span[0] + seconds];
    this.run = new LiveRun(this.engine, this.span);
    this.again();
    while (!this.run.done && this.run.milliseconds < FOUND) this.run.more(50);
  }

  // -- the page -----------------------------------------------------------------------------------------------------------

  furnish() {
    this.stage = new Stage($("view"));
    this.machine = new Machine();
    const { q, v } = this.state(this.span[0]);
    const seen = this.engine.seen(this.span[0], q, v, this.values.p);
    this.machine.build(seen);
    this.machine.pose(seen);
    this.stage.world.add(this.machine.root);
    this.stage.points(LEVELS[0]);
    this.stage.resize();
    const all = this.machine.box(), way = new THREE.Box3().setFromPoints([this.machine.middle]);
    for (let k = 0; k < 40 && this.track.rows; k++) {
      const t = this.span[0] + ((this.track.last - this.span[0]) * k) / 39, at = this.track.state(t);
      this.machine.pose(this.engine.seen(t, at.q, at.v, this.values.p));
      all.union(this.machine.box());
      way.expandByPoint(this.machine.middle);
    }
    this.machine.pose(this.engine.seen(this.span[0], q, v, this.values.p));
    this.stage.furnish(this.machine, all, way, this.height());
    if (fields.length) this.ground = new Ground(this, all);
    this.overlay = new Overlay(this);
    this.hand = new Hand(this);
  }

  /** The height of a floor on which the machine rolls or lies. */
  height() {
    const s = data.scene.solids.find((x) => x.kind === "plane" && x.frame === 0);
    if (!s) return null;
    const at = this.machine.value(s, "at"), n = this.machine.value(s, "axis").normalize();
    const up = this.machine.up.lengthSq() > 0 ? this.machine.up : n;
    return Math.abs(up.dot(n)) > 0.99 ? at.dot(up) : null;
  }

  connect() {
    const on = (id, act) => { $(id).onclick = act; };
    const toggle = (id, act) => on(id, () => {
      const now = !$(id).classList.contains("on");
      $(id).classList.toggle("on", now);
      $(id).setAttribute("aria-pressed", String(now));
      act(now);
      this.dirty = true;
    });
    on("play", () => this.play());
    on("reset", () => {
      if (this.run?.pulled) this.again();
      this.seek(this.span[0]);
    });
    const look = (from) => Object.assign(this, { looking: { from }, dirty: true });
    on("home", () => look());
    for (const k of [0, 1, 2]) on(`along-${"xyz"[k]}`, () => look(new THREE.Vector3().setComponent(k, k === 1 ? -1 : 1)));
    toggle("flat", (now) => this.stage.perspective(!now));
    toggle("loop", (now) => { this.loop = now; });
    for (const name of ["axes", "frames", "centres"]) toggle(name, (now) => {
      this.machine.shown[name] = now;
      this.machine.show();
    });
    for (const name of ["trail", "velocity", "forces", "cones"]) toggle(name, (now) => { this.overlay.shown[name] = now; });
    on("png", () => {
      const level = this.detail;
      this.detailed(0);
      this.show();
      $("view").toBlob((blob) => save(blob, `${NAME}.png`));
      this.detailed(level);
      this.show();
    });
    on("csv", () => save(new Blob([csv(this.track)], { type: "text/csv" }), `${NAME}.csv`));
    on("webm", () => film(this, NAME));
    on("state", () => {
      this.play(false);
      this.settle();
      $("line").value = initial(this);
      $("dialog").showModal();
      $("line").select();
    });
    $("time").oninput = () => this.seek(Number($("time").value));
    $("speed").onchange = () => { this.speed = Number($("speed").value); };
    $("view").addEventListener("pointerdown", () => { $("hint").hidden = true; }, { once: true });
    on("help", () => this.help());
    addEventListener("keydown", (e) => this.key(e));
    const resized = () => {
      this.stage.resize();
      for (const pane of this.panes) pane.resize();
      this.grown();
    };
    for (const x of [$("view").parentElement, $("left")]) new ResizeObserver(resized).observe(x);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const at = /** @type {HTMLElement} */ (e.target), range = at.getAttribute?.("type") === "range";
    if (document.querySelector("dialog[open]")) return;
    if ((/INPUT|SELECT|TEXTAREA/.test(at.tagName) && !range) || e.ctrlKey || e.metaKey || e.altKey) return;
    const step = (n) => {
      if (range && at.id !== "time") return false;
      this.play(false);
      this.seek(this.t + n * (e.shiftKey ? 0.1 : 0.01));
      return true;
    };
    const acts = {
      " ": () => (at.tagName === "BUTTON" && at.id !== "play" ? false : this.play()), ArrowRight: () => step(1), ArrowLeft: () => step(-1),
      Home: () => (range && at.id !== "time" ? false : this.seek(this.span[0])), End: () => (range && at.id !== "time" ? false : this.seek(Infinity)),
      x: () => $("along-x").click(), y: () => $("along-y").click(), z: () => $("along-z").click(), h: () => $("home").click(),
      ",": () => this.event(-1), ".": () => this.event(1), "?": () => this.help(),
      p: () => $("flat").click(), l: () => $("loop").click(), t: () => $("trail").click(), r: () => $("reset").click(), k: () => (live ? this.keep() : false), Escape: () => this.hand.drop(),
    };
    if (acts[e.key] && acts[e.key]() !== false) e.preventDefault();
  }

  /** The keys of the page. */
  help() {
    $("keys").showModal();
  }

  dress() {
    this.stage.dress();
    this.ground?.dress();
    this.machine.joint.color.set(document.documentElement.dataset.theme === "dark" ? "#aab3bf" : data.scene.colours.joint);
    for (const pane of this.panes) pane.build();
    this.dirty = true;
  }

  start() {
    if (live && !this.recorded) this.again();
    while (live && !this.recorded && !this.run.done && this.run.milliseconds < FOUND) this.run.more(50);
    this.fit();
    this.furnish();
    if (live) this.sliders = controls($("controls"), this);
    const why = [...data.notes, ...(live ? [] : [data.why])];
    for (const text of why.reverse()) $("controls").prepend(el("p", "note", text));
    if (live && this.run.track.rows && !this.recorded) this.sliders.settle(this.run.track.state(this.span[0]).q, this.run.track.state(this.span[0]).v);
    if (this.track.names.length) this.panes = [new Pane($("left"), this, "Coordinates", 0), new Pane($("right"), this, "Energy", 1)];
    $("hint").textContent = live ? "Drag a body to pull it · drag beside it to turn · wheel to zoom" : "Drag to turn · wheel to zoom";
    for (const speed of SPEEDS.includes(this.speed) ? SPEEDS : [...SPEEDS, this.speed]) {
      const option = el("option", "", `${speed} ×`);
      option.value = speed;
      $("speed").append(option);
    }
    $("speed").value = this.speed;
    $("trail").classList.toggle("on", this.overlay.shown.trail);
    $("trail").setAttribute("aria-pressed", String(this.overlay.shown.trail));
    const touching = data.scene.touches.length > 0 || Boolean(this.engine.info?.pairs);
    $("forces").hidden = !(data.scene.arrows.length || touching);
    $("cones").hidden = !touching;
    this.connect();
    this.dress();
    this.fresh();
    requestAnimationFrame((now) => {
      this.clock = now;
      this.tick(now);
      this.ready = true;
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.play(true);
    });
  }
}

const root = document.documentElement;
root.dataset.theme ||= matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
$("theme").onclick = () => {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  window.kineta?.dress();
};
const tabs = document.querySelectorAll(".side .tab");
for (const tab of tabs) {
  tab.onclick = () => {
    for (const other of tabs) {
      other.classList.toggle("on", other === tab);
      other.setAttribute("aria-selected", String(other === tab));
      $(other.dataset.page).classList.toggle("on", other === tab);
    }
    if (data.asked && tab.dataset.page === "equations") askForEquations();
  };
}
/** A sentence in place of the machine, beside what can be read without it. @param {string} text @param {string} kind of what is left of the page */
function sorry(text, kind) {
  $("view").hidden = true;
  $("view").after(el("p", "sorry", text));
  root.classList.add(kind);
}
if (typeof WebAssembly !== "object") {
  sorry("This browser has no WebAssembly, by which the machine moves. Any of the last years has.", "bare");
  [...tabs].find((tab) => tab.dataset.page === "model").click();
} else {
  if (!drawn()) sorry("This browser has no WebGL, by which the machine is drawn; it may be switched off in its settings. Plots and sliders work without it.", "blind");
  unpack().then(Engine.make).then((engine) => {
    const page = new Page(engine);
    Object.assign(window, { kineta: page });
    page.start();
  });
}

export { STATUS };

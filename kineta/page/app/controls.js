// Sliders for parameters and initial values, in groups that can be searched.
import * as THREE from "three";
import { attitudes } from "./attitudes.js";
import { data } from "./data.js";
import { el, pretty, printed } from "./words.js";

/** Sliders beyond which there is a field to search them. */
const MANY = 16;
/** Sliders of a group that are shown at once; a longer group is folded at first. */
const LISTED = 60;

/** Digits that a slider sets, and letters in which a value is written whole where it can be. */
const SET = 5, WHOLE = 9;
/** A value whole where that is short, else with the digits of a slider. @param {number} x */
const written = (x) => {
  const whole = Number(x.toPrecision(12)), short = String(whole).length <= WHOLE ? whole : Number(x.toPrecision(SET)), size = Math.abs(short);
  return (size < 1e-12 ? "0" : size >= 1e6 || size < 1e-4 ? short.toExponential().replace("e+", "e") : String(short)).replaceAll("-", "−");
};

export class Slider {
  /** @param {{name: string, value: number, unit: string, range: [number, number], set: (x: number) => void}} of */
  constructor({ name, value, unit, range, set }) {
    Object.assign(this, { name, value, unit, range, set, now: value });
    /** @type {HTMLElement | null} */
    this.made = null;
  }

  /** What is seen of it, made when it is first seen. */
  get line() {
    if (this.made) return this.made;
    const { name, value, unit, range } = this;
    this.made = el("div", "control");
    this.label = pretty(name);
    this.label.title = `${name}; double click: back to ${value}`;
    this.input = el("input");
    this.box = el("input", "value");
    this.input.type = "range";
    [this.input.min, this.input.max] = range;
    this.input.step = (range[1] - range[0]) / 400;
    this.input.setAttribute("aria-label", unit ? `${name} in ${unit}` : name);
    this.box.inputMode = "decimal";
    this.box.setAttribute("aria-label", `${name}, number`);
    this.input.oninput = () => this.change(Number(Number(this.input.value).toPrecision(SET)));
    this.box.onchange = () => {
      const x = Number(this.box.value.replaceAll("−", "-").replace(",", "."));
      if (Number.isFinite(x) && this.box.value.trim()) this.change(x);
      else this.show(this.now);
    };
    this.label.ondblclick = () => this.change(value);
    this.made.append(this.label, this.input, this.box, el("span", "unit", unit));
    this.show(this.now);
    return this.made;
  }

  /** @param {number} x */
  show(x) {
    this.now = x;
    if (!this.made) return;
    const [low, high] = this.range;
    this.input.value = x;
    this.box.value = written(x);
    this.input.style.setProperty("--part", `${(100 * (Math.min(high, Math.max(low, x)) - low)) / (high - low)}%`);
    this.made.classList.toggle("changed", Math.abs(x - this.value) > 1e-12 * Math.max(1, Math.abs(x)));
  }

  /** @param {number} x */
  change(x) {
    this.show(x);
    this.set(x);
  }
}

/** Sliders under a title; of many, those that are looked for. */
class Group {
  /** @param {HTMLElement} host @param {string} title @param {Slider[]} sliders */
  constructor(host, title, sliders) {
    const long = sliders.length > LISTED;
    Object.assign(this, { sliders, long, lines: el("div", "controls"), more: el("p", "note") });
    this.section = el(long ? "details" : "section", long ? "folded" : "");
    this.section.append(el(long ? "summary" : "h3", "", long ? `${title} (${sliders.length})` : title), this.lines, this.more);
    host.append(this.section);
    if (long) this.section.addEventListener("toggle", () => this.list(this.sought));
    this.list("");
  }

  /** @param {string} sought a part of the names, in small letters */
  list(sought) {
    this.sought = sought;
    const found = this.sliders.filter((x) => x.name.toLowerCase().includes(sought));
    this.section.hidden = !found.length;
    if (this.long && sought) this.section.open = true;
    const shown = this.long && !this.section.open ? [] : found.slice(0, LISTED);
    this.lines.replaceChildren(...shown.map((x) => x.line));
    this.more.textContent = shown.length && shown.length < found.length ? `and ${found.length - shown.length} more; search for a part of their names` : "";
    this.more.hidden = !this.more.textContent;
  }
}

/** A range around a value. @param {number} x @param {string} unit */
function around(x, unit) {
  if (x === 0) return unit === "rad" ? [-Math.PI, Math.PI] : [-2, 2];
  return x > 0 ? [0, 2.5 * x] : [2.5 * x, -2.5 * x];
}

/** The range of an initial value. @param {number} x @param {string} unit */
function near(x, unit) {
  if (unit === "rad") return [Math.min(-Math.PI, x - 1), Math.max(Math.PI, x + 1)];
  const reach = Math.max({ "rad/s": 6, "m/s": 2 }[unit] ?? 1, 2.2 * Math.abs(x));
  return [-reach, reach];
}

/** Turns about the axes of a body that lead to its attitude: about z, then the new y, then the new x. */
const TURNS = ["roll", "pitch", "yaw"];

/** Sliders of the attitudes that are quaternions. @param {any} page */
function turning(page) {
  return attitudes(data.q).map(({ body, places }) => {
    const of = (q) => {
      const [w, x, y, z] = places.map((k) => q[k]), turn = new THREE.Quaternion(x, y, z, w).normalize();
      return new THREE.Euler().setFromQuaternion(turn, "ZYX").toArray().slice(0, 3);
    };
    const now = of(data.start.q);
    const sliders = TURNS.map((word, i) => new Slider({
      name: `${body}.${word}`, value: now[i], unit: "rad", range: i === 1 ? [-Math.PI / 2, Math.PI / 2] : [-Math.PI, Math.PI],
      set: (x) => {
        now[i] = x;
        const { w, x: a, y: b, z: c } = new THREE.Quaternion().setFromEuler(new THREE.Euler(...now, "ZYX"));
        page.set("q", places, [w, a, b, c]);
      },
    }));
    return {
      sliders,
      settle: (q) => {
        const found = of(q), turn = (angles) => new THREE.Quaternion().setFromEuler(new THREE.Euler(...angles, "ZYX"));
        if (Math.abs(turn(found).dot(turn(now))) > 1 - 1e-12) return; // where pitch is a right angle, others have the same attitude
        found.forEach((x, i) => sliders[i].show((now[i] = x)));
      },
    };
  });
}

/** All sliders of the page, in `host`. @param {HTMLElement} host @param {any} page */
export function controls(host, page) {
  const parameters = data.parameters.map(
    ({ name, value, unit }, k) => new Slider({ name, value, unit: printed(unit), range: around(value, unit), set: (x) => page.set("p", [k], [x]) }),
  );
  const of = (word, names) => names.flatMap((name, k) =>
    /\.q[wxyz]$/.test(name) ? [] : [new Slider({ name, value: data.start[word][k], unit: printed(data.units[name]), range: near(data.start[word][k], data.units[name]), set: (x) => page.set(word, [k], [x]) })],
  );
  const state = (x) => data.states.includes(x.name);
  const start = { q: of("q", data.q), v: of("v", data.v) }, turned = turning(page);
  const turns = turned.flatMap((x) => x.sliders);
  const all = [...parameters, ...start.q, ...turns, ...start.v];
  const groups = [];
  if (all.length > MANY) {
    const search = el("input", "search");
    search.type = "search";
    search.placeholder = `search ${all.length} values`;
    search.setAttribute("aria-label", "search sliders");
    search.oninput = () => {
      for (const x of groups) x.list(search.value.trim().toLowerCase());
    };
    host.append(search);
  }
  const titled = { Parameters: parameters, "Coordinates at the start": start.q.filter((x) => !state(x)), "Attitudes at the start": turns, "Speeds at the start": start.v, "States at the start": start.q.filter(state) };
  for (const [title, list] of Object.entries(titled)) if (list.length) groups.push(new Group(host, title, list));
  const back = el("button", "wide", "Put everything back");
  back.id = "back";
  back.onclick = () => {
    for (const x of all) x.show(x.value);
    page.restore();
  };
  const keep = el("button", "wide", "Keep these curves beside others (k)");
  keep.id = "keep";
  keep.setAttribute("aria-pressed", "false");
  keep.onclick = () => page.keep();
  host.append(back, keep);
  const place = { q: new Map(data.q.map((name, k) => [name, k])), v: new Map(data.v.map((name, k) => [name, k])) };
  return {
    all,
    /** The start as the constraints have it. */
    settle: (q, v) => {
      for (const x of start.q) x.show(q[place.q.get(x.name)]);
      for (const x of start.v) x.show(v[place.v.get(x.name)]);
      for (const x of turned) x.settle(q);
    },
  };
}


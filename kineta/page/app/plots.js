// Plots of series, linked to the time: tabs of groups of one unit, and one series over another.
import uPlot from "uplot";
import { attitudes } from "./attitudes.js";
import { data, live } from "./data.js";
import { software } from "./graphics.js";
import { extremes, instants } from "./thinning.js";
import { digits, el, pretty, printed, ticks } from "./words.js";

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const COLOURS = [...data.scene.palette, "#6b8f3a", "#c9699c", "#557a95", "#a0673c"];
/** Series of a group that are shown at first, and parts of a point of the screen in each of which a line has two points: of four and more uPlot makes steps. */
const SHOWN = 8, PARTS = 1.9;
/** Widths of the axis beside a plot, and of the room on its other side [px]. */
const AXIS = 54, ROOM = 18;
/** Series that are listed at once; of more, those that are looked for. */
const LISTED = 40;
const QUATERNION = /\.q[wxyz]$/;

/** Series under a title, with the units among them. @param {string[]} names of all series @param {Record<string, string>} units */
export function groups(names, units) {
  const { q, v, states } = data, turned = attitudes(q).map(({ series }) => series.map((x) => x.name).filter((n) => names.includes(n))), attitude = [...turned.flat(), ...q.filter((n) => QUATERNION.test(n))], places = q.filter((n) => !states.includes(n)), turns = places.filter((n) => !QUATERNION.test(n));
  const rates = states.map((n) => `${n}'`).filter((n) => names.includes(n));
  const all = [{ title: "Coordinates", of: turns }, { title: "Attitude", of: attitude, first: turned.flatMap((x) => x.slice(0, 3)) }, { title: "Speeds", of: v }, { title: "States", of: [...states, ...rates] }];
  const energies = ["kinetic_energy", "potential_energy", "energy", "work"];
  const rest = names.filter((n) => ![...q, ...v, ...attitude, ...rates, ...energies, "balance", "residual"].includes(n));
  const forces = rest.filter((n) => n.startsWith("lambda.") || n.startsWith("tau["));
  const outputs = rest.filter((n) => !forces.includes(n));
  all.push({ title: "Outputs", of: outputs }, { title: "Forces", of: forces });
  all.push({ title: "Energy", of: energies.filter((n) => names.includes(n)) });
  if (live) all.push({ title: "Balance", of: ["balance"] });
  if (live && data.module.known.INFORMATION.residuals) all.push({ title: "Residual", of: ["residual"] });
  all.push({ title: "Phase", of: names.slice(0, q.length + v.length), phase: [q[0], v[0] ?? q[1] ?? q[0]] });
  for (const g of all) g.units = [...new Set(g.of.map((n) => printed(units[n])))];
  return all.filter((g) => g.of.length);
}

/** What draws on canvases, on those of the processor where there is no graphics card: a program that stands in for one takes ten times as long for a line. @template T @param {() => T} make */
function plainly(make) {
  if (!software()) return make();
  const { prototype } = HTMLCanvasElement, own = prototype.getContext;
  prototype.getContext = function (kind, given) { return own.call(this, kind, { ...given, willReadFrequently: true }); };
  try {
    return make();
  } finally {
    prototype.getContext = own;
  }
}

export class Pane {
  /** @param {HTMLElement} host @param {any} page @param {string} chosen title of the group that is shown at first @param {number} other its number where there is none of this title */
  constructor(host, page, chosen, other) {
    Object.assign(this, { host, page, hidden: new Set(), lines: [], stale: false, seen: true, drawn: 0 });
    new IntersectionObserver((found) => { this.seen = found.at(-1).isIntersecting; }).observe(host);
    const tabs = el("div", "tabs"), row = el("div", "plotrow");
    tabs.setAttribute("role", "tablist");
    this.body = el("div", "plot");
    this.body.setAttribute("role", "img");
    this.legend = el("div", "legend");
    row.append(this.body, this.legend);
    host.append(tabs, row);
    this.search = el("input", "search");
    this.search.type = "search";
    this.search.setAttribute("aria-label", "search series");
    this.search.oninput = () => this.choose();
    const list = groups(page.track.names, page.units);
    const choose = (group, tab) => {
      for (const other of tabs.children) {
        other.classList.toggle("on", other === tab);
        other.setAttribute("aria-selected", String(other === tab));
      }
      this.group = group;
      this.unit = group.units[0];
      this.search.value = "";
      this.choose();
    };
    const made = list.map((group) => {
      const tab = el("button", "tab", group.title);
      tab.setAttribute("role", "tab");
      tab.onclick = () => choose(group, tab);
      tabs.append(tab);
      return tab;
    });
    const titled = list.findIndex((g) => g.title === chosen), first = titled < 0 ? Math.min(other, list.length - 1) : titled;
    choose(list[first], made[first]);
  }

  /** Show the first of the series that are looked for. */
  choose() {
    const { group, search, page } = this, of = group.of.filter((n) => printed(page.units[n]) === this.unit);
    this.long = !group.phase && of.length > LISTED;
    search.placeholder = `search ${of.length} series`;
    this.names = group.phase ?? (this.long ? of.filter((n) => n.toLowerCase().includes(search.value.trim().toLowerCase())).slice(0, LISTED) : of);
    const first = group.first?.filter((n) => this.names.includes(n)) ?? [], seen = new Set((first.length ? first : this.names).slice(0, SHOWN));
    this.hidden = new Set(group.phase ? [] : this.names.filter((n) => !seen.has(n)));
    this.build();
  }

  /** Columns of the series that are shown, with four points for each pixel at most but in portraits; behind them those of the motion that is kept beside. */
  data() {
    const { track, beside } = this.page, { phase } = this.group, parts = phase ? Infinity : Math.ceil(PARTS * ((this.plot ?? this.size()).width - AXIS - ROOM) * devicePixelRatio), t = track.t.subarray(0, track.rows);
    const seen = (l) => phase || !this.hidden.has(l.name), times = instants(t, parts);
    const kept = beside && !phase ? this.lines.map((l) => (seen(l) ? Array.from(times, (at) => beside.value(l.name, at)) : [])) : [];
    return [times, ...this.lines.map((l) => (seen(l) ? extremes(track.column(l.name), parts) : [])), ...kept];
  }

  build() {
    this.plot?.destroy();
    for (const x of [...this.legend.children]) if (x !== this.search) x.remove();
    if (!this.long) this.search.remove();
    else if (!this.search.isConnected) this.legend.append(this.search);
    const { page, group } = this;
    this.lines = (group.phase ?? this.names).map((name, i) => ({ name, colour: COLOURS[i % COLOURS.length], unit: printed(page.units[name]) }));
    const ink = css("--soft"), font = `11px ${css("--font")}`;
    const axis = { stroke: ink, font, grid: { stroke: css("--grid"), width: 1 }, ticks: { show: false }, gap: 4 };
    const between = (x) => {
      if (!x.length) return [-1, 1];
      const low = x.reduce((a, b) => Math.min(a, b)), high = x.reduce((a, b) => Math.max(a, b)), room = 0.06 * (high - low) || 1;
      return [low - room, high + room];
    };
    const phase = Boolean(group.phase);
    // What stands beside the plot, or above it, takes its room first.
    if (phase) this.choices();
    else this.chips();
    if (page.beside) this.legend.append(el("p", "note", "dashed: the motion that is kept"));
    this.body.setAttribute("aria-label", phase ? `${group.phase[1]} over ${group.phase[0]}` : `${group.title} over time`);
    const along = (k) => [...this.values[k + 1], ...(page.beside?.column(this.lines[k].name) ?? [])];
    const shown = (l) => !phase && !this.hidden.has(l.name), kept = page.beside && !phase ? this.lines : [];
    // A value that never changes lies in the middle of its own size.
    const flat = (x) => 0.1 * Math.abs(x) || 1;
    const scales = phase
      ? { x: { time: false, range: () => between(along(0)) }, y: { range: () => between(along(1)) } }
      : { x: { time: false, range: () => [page.span[0], page.end] }, y: { range: (_, low, high) => (low === high && low !== null ? [low - flat(low), low + flat(low)] : uPlot.rangeNum(low, high, 0.1, true)) } };
    this.values = this.data();
    this.plot = plainly(() => new uPlot(
      {
        ...this.size(),
        legend: { show: false }, padding: [10, ROOM, 0, 0], scales,
        cursor: { points: { show: false }, x: false, y: false, drag: { x: false, y: false } },
        axes: [{ ...axis, size: 22, values: (_, v, axis, space, step) => ticks(v, step).map((x, k) => x + (!phase && k === v.length - 1 ? " s" : "")) }, { ...axis, size: AXIS, values: (_, v, axis, space, step) => ticks(v, step) }],
        series: [{}, ...this.lines.map((l) => ({ stroke: l.colour, width: 1.6, pxAlign: 0, show: shown(l), points: { show: false } })), ...kept.map((l) => ({ stroke: l.colour, width: 1.2, alpha: 0.7, dash: [4, 3], pxAlign: 0, show: shown(l), points: { show: false } }))],
        hooks: { draw: [(u) => {
          if (phase) this.portrait(u);
          if (this.plot === u) this.point();
        }] },
      },
      this.values, this.body,
    ));
    // What moves with the time lies over the plot, which is then not drawn again.
    this.line = el("div", phase ? "" : "now");
    this.plot.over.append(this.line);
    this.spots = (phase ? [COLOURS[0]] : this.lines.map((l) => l.colour)).map((colour) => {
      const made = el("div", "spot");
      made.style.background = colour;
      this.line.append(made);
      return made;
    });
    this.seek();
    this.point();
    this.numbers();
  }

  /** The time, and the values at it. */
  point() {
    const { page, plot, group } = this, put = (x, made, y) => { made.style.transform = `translate(${x}px, ${y}px)`; };
    const value = (l) => page.track.value(l.name, page.t) ?? NaN, across = (x) => plot.valToPos(x, "x"), up = (y) => plot.valToPos(y, "y");
    if (group.phase) {
      const [a, b] = this.lines.map(value);
      this.spots[0].hidden = !Number.isFinite(a + b);
      put(across(a), this.spots[0], up(b));
      return;
    }
    const x = across(page.t);
    put(x, this.line, 0);
    this.lines.forEach((l, i) => {
      const y = value(l);
      this.spots[i].hidden = !plot.series[i + 1].show || !Number.isFinite(y);
      if (!this.spots[i].hidden) put(0, this.spots[i], up(y));
    });
  }

  /** One series over another, and of the motion that is kept beside. */
  portrait(u) {
    const [, a, b] = this.values, { ctx } = u, [x, y] = this.lines.map((l) => this.page.beside?.column(l.name));
    const path = (a, b) => {
      ctx.beginPath();
      for (let i = 0; i < a.length; i++) ctx.lineTo(u.valToPos(a[i], "x", true), u.valToPos(b[i], "y", true));
      ctx.stroke();
    };
    ctx.save();
    ctx.lineWidth = 1.4 * devicePixelRatio;
    ctx.strokeStyle = COLOURS[0];
    ctx.globalAlpha = 0.8;
    path(a, b);
    if (x && y) {
      ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.strokeStyle = COLOURS[1];
      path(x, y);
    }
    ctx.restore();
  }

  /** What lies along the axes of a portrait. */
  choices() {
    ["across", "up"].forEach((word, i) => {
      const label = el("label", "choice", word), list = el("select");
      for (const name of this.page.track.names) {
        const option = el("option", "", name);
        option.value = name;
        list.append(option);
      }
      list.value = this.group.phase[i];
      list.onchange = () => {
        this.group.phase[i] = list.value;
        this.build();
      };
      label.append(list);
      this.legend.append(label);
    });
    this.chosen = [];
  }

  /** The unit of what is shown, and others among which one chooses. */
  scales() {
    const row = el("div", "unit"), { units } = this.group;
    for (const unit of units) {
      const made = el(units.length > 1 ? "button" : "span", unit === this.unit ? "on" : "", unit ? `[${unit}]` : units.length > 1 ? "[1]" : "");
      if (units.length > 1) {
        made.setAttribute("aria-pressed", String(unit === this.unit));
        made.onclick = () => {
          this.unit = unit;
          this.choose();
        };
      }
      row.append(made);
    }
    for (const [word, sign] of [["min", -1], ["max", 1]]) {
      const made = el("button", "", word);
      made.title = `To the time at which ${sign > 0 ? "the largest" : "the smallest"} of these series is ${sign > 0 ? "largest" : "smallest"}`;
      made.onclick = () => this.extreme(sign);
      row.append(made);
    }
    this.legend.append(row);
  }

  /** To the time of the largest value, or with -1 of the smallest, of the series that are shown, which is told. @param {number} sign */
  extreme(sign) {
    const { page } = this, { track } = page, lines = this.lines.filter((l) => !this.hidden.has(l.name));
    if (!lines.length || !track.rows) return;
    const of = (l) => sign * track.column(l.name)[track.utmost(l.name, sign)], line = lines.reduce((a, b) => (of(b) > of(a) ? b : a));
    page.play(false);
    page.seek(page.recorded ? track.t[track.utmost(line.name, sign)] : page.run.extreme(line.name, sign));
    page.settle();
    page.announce(`${line.name} is ${sign > 0 ? "largest" : "smallest"} at ${digits(page.t, 6)} s: ${digits(track.value(line.name, page.t), 7)}${line.unit ? ` ${line.unit}` : ""}`);
  }

  chips() {
    this.scales();
    this.chosen = this.lines.map((l, i) => {
      const chip = el("button", "chip"), dot = el("span", "dot"), value = el("span", "num");
      dot.style.background = l.colour;
      chip.append(dot, pretty(l.name), value);
      chip.title = l.unit ? `${l.name} [${l.unit}]` : l.name;
      chip.classList.toggle("off", this.hidden.has(l.name));
      chip.setAttribute("aria-pressed", String(!this.hidden.has(l.name)));
      chip.onclick = () => {
        const on = this.plot.series[i + 1].show;
        this.hidden[on ? "add" : "delete"](l.name);
        for (const k of [i + 1, i + 1 + this.lines.length]) if (this.plot.series[k]) this.plot.setSeries(k, { show: !on });
        if (!on) this.draw();
        this.point();
        chip.classList.toggle("off", on);
        chip.setAttribute("aria-pressed", String(!on));
      };
      this.legend.append(chip);
      return value;
    });
  }

  /** Pointing at a plot is pointing at a time. */
  seek() {
    const { over } = this.plot;
    if (this.group.phase) return;
    const to = (e) => this.page.seek(this.plot.posToVal(e.clientX - over.getBoundingClientRect().left, "x"));
    over.onpointerdown = (e) => {
      over.setPointerCapture(e.pointerId);
      to(e);
      over.onpointermove = to;
    };
    over.onpointerup = () => { over.onpointermove = null; };
  }

  /** The series have changed. */
  draw() {
    this.stale = false;
    this.values = this.data();
    this.plot.setData(this.values);
  }

  /** The time has changed. */
  numbers() {
    const { track, t } = this.page;
    this.chosen.forEach((value, i) => {
      const x = track.value(this.lines[i].name, t) ?? NaN;
      value.textContent = digits(x);
      value.title = String(x);
    });
  }

  /** Room for the plot [px]. */
  size() {
    return { width: Math.max(110, this.body.clientWidth), height: Math.max(90, this.body.clientHeight) };
  }

  resize() {
    this.plot.setSize(this.size());
  }
}

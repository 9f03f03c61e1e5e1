// Ground of a given height: surfaces around where the machine goes, with lines that stay where they are.
import * as THREE from "three";
import { data } from "./data.js";
import { cell, corners } from "./stage.js";

const scene = data.scene;
/** The ground that the model has, in the order in which its heights are computed. */
export const fields = scene.solids.filter((s) => s.kind === "field");
/** Width of a margin around the motion: in its own span, and at least in reaches of the machine. */
const MARGIN = 0.35, LEAST = 0.9;
/** Finest division of a cell between two lines, largest number of cells, and of those of ground that moves with the time. */
const FINEST = 16, MOST = 60000, MOVING = 8000;
/** How far the middle of a cell may be from it, in sizes of the machine. */
const FINE = 0.002;

export class Ground {
  /** @param {any} page @param {THREE.Box3} all what the motion spans */
  constructor(page, all) {
    const { stage, machine } = page;
    Object.assign(this, { page, group: new THREE.Group(), step: cell(stage.reach), margin: LEAST * stage.reach });
    const earth = new THREE.MeshStandardMaterial({ roughness: 0.95, metalness: 0, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    const ink = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.32 });
    Object.assign(this, { earth, ink });
    stage.world.add(this.group);
    const around = (stage.follow ? machine.box() : all).clone();
    around.expandByScalar(Math.max(this.margin, MARGIN * around.getSize(new THREE.Vector3()).length()));
    this.sheets = fields.map((s, k) => this.sheet(s, k, around));
    this.build();
  }

  /** @param {import("./data.js").Solid} s @param {number} k @param {THREE.Box3} around */
  sheet(s, k, around) {
    const sheet = { s, k, low: [Infinity, Infinity], high: [-Infinity, -Infinity] };
    this.plane(sheet);
    for (const at of corners(around)) {
      this.along(sheet, at).forEach((x, i) => {
        sheet.low[i] = Math.min(sheet.low[i], x);
        sheet.high[i] = Math.max(sheet.high[i], x);
      });
    }
    const made = new THREE.BufferGeometry(), lines = new THREE.BufferGeometry();
    sheet.mesh = new THREE.Mesh(made, this.earth);
    sheet.lines = new THREE.LineSegments(lines, this.ink);
    sheet.mesh.receiveShadow = true;
    this.group.add(sheet.mesh, sheet.lines);
    return sheet;
  }

  /** Origin and axes of the plane of a sheet, which parameters may move. */
  plane(sheet) {
    const { numbers } = this.page.machine, a = sheet.s.numbers.axes.map((k) => numbers[k]);
    sheet.at = new THREE.Vector3(...sheet.s.numbers.at.map((k) => numbers[k]));
    sheet.axes = [0, 3, 6].map((k) => new THREE.Vector3(a[k], a[k + 1], a[k + 2]));
  }

  /** Where a place stands along the two axes of a sheet. @param {THREE.Vector3} place */
  along(sheet, place) {
    const off = place.clone().sub(sheet.at);
    return [off.dot(sheet.axes[0]), off.dot(sheet.axes[1])];
  }

  /** All of the ground anew, as parameters are now. */
  build() {
    for (const sheet of this.sheets) {
      this.plane(sheet);
      this.divide(sheet);
      this.shape(sheet);
    }
    this.shaped = this.page.t;
  }

  /** Cells between lines so fine that the ground is seen smooth. */
  divide(sheet) {
    const { step } = this, { engine, t, values, machine } = this.page, height = engine.ground(t, values.p);
    const first = sheet.low.map((x) => Math.floor(x / step)), count = sheet.high.map((x, i) => Math.max(1, Math.ceil(x / step) - first[i]));
    const each = [1, 1], most = scene.waves ? MOVING : MOST;
    let room = Math.max(1, most / (count[0] * count[1]));
    for (const i of [0, 1]) {
      const uneven = () => {
        let far = 0;
        for (let a = 0; a < count[i] * each[i]; a++) {
          for (const part of [0.13, 0.41, 0.77]) {
            const place = (x) => {
              const at = [0, 0];
              at[i] = step * (first[i] + x / each[i]);
              at[1 - i] = step * (first[1 - i] + part * count[1 - i]);
              return engine.numbers[height(...at) + 3 * sheet.k];
            };
            far = Math.max(far, Math.abs(place(a + 0.5) - (place(a) + place(a + 1)) / 2));
          }
        }
        return far;
      };
      while (each[i] < FINEST && room >= 2 && uneven() > FINE * machine.size) {
        each[i] *= 2;
        room /= 2;
      }
    }
    Object.assign(sheet, { first, each, cells: count.map((n, i) => n * each[i]) });
    const [n, m] = sheet.cells, size = (n + 1) * (m + 1);
    for (const x of [sheet.mesh, sheet.lines]) x.geometry.dispose();
    const position = new THREE.BufferAttribute(new Float32Array(3 * size), 3), lines = [];
    sheet.mesh.geometry = new THREE.BufferGeometry().setAttribute("position", position).setAttribute("normal", new THREE.BufferAttribute(new Float32Array(3 * size), 3));
    sheet.lines.geometry = new THREE.BufferGeometry().setAttribute("position", position);
    const at = (i, j) => i * (m + 1) + j;
    for (let i = 0; i <= n; i++) {
      for (let j = 0; j <= m; j++) {
        if (i < n && j % each[1] === 0) lines.push(at(i, j), at(i + 1, j));
        if (j < m && i % each[0] === 0) lines.push(at(i, j), at(i, j + 1));
      }
    }
    sheet.pairs = lines;
    sheet.mesh.frustumCulled = sheet.lines.frustumCulled = false;
  }

  /** The surface at the time of the page; where the ground has no height, it has a hole. */
  shape(sheet) {
    const { engine, t, values } = this.page, { step } = this, { first, each, cells: [n, m], at, axes: [u, w, up], k } = sheet;
    const height = engine.ground(t, values.p), { numbers } = engine, place = sheet.mesh.geometry.getAttribute("position"), normal = sheet.mesh.geometry.getAttribute("normal");
    const faces = [], whole = new Uint8Array((n + 1) * (m + 1));
    for (let i = 0, c = 0; i <= n; i++) {
      for (let j = 0; j <= m; j++, c++) {
        const a = step * (first[0] + i / each[0]), b = step * (first[1] + j / each[1]), o = height(a, b) + 3 * k;
        const h = numbers[o], ha = numbers[o + 1], hb = numbers[o + 2], long = 1 / Math.hypot(1, ha, hb);
        whole[c] = Number.isFinite(h) ? 1 : 0;
        place.setXYZ(c, at.x + a * u.x + b * w.x + h * up.x, at.y + a * u.y + b * w.y + h * up.y, at.z + a * u.z + b * w.z + h * up.z);
        normal.setXYZ(c, long * (up.x - ha * u.x - hb * w.x), long * (up.y - ha * u.y - hb * w.y), long * (up.z - ha * u.z - hb * w.z));
        const d = c - m - 2;
        if (i && j && whole[c] && whole[c - 1] && whole[d] && whole[d + 1]) faces.push(d, c, d + 1, d, c - 1, c);
      }
    }
    for (let c = 0; c < whole.length; c++) if (!whole[c]) place.setXYZ(c, at.x, at.y, at.z);
    place.needsUpdate = normal.needsUpdate = true;
    if (sheet.mesh.geometry.index?.count === faces.length) return;
    sheet.mesh.geometry.setIndex(faces);
    const pairs = [];
    for (let c = 0; c < sheet.pairs.length; c += 2) if (whole[sheet.pairs[c]] && whole[sheet.pairs[c + 1]]) pairs.push(sheet.pairs[c], sheet.pairs[c + 1]);
    sheet.lines.geometry.setIndex(pairs);
  }

  /** The ground under a machine whose middle is now here. @param {THREE.Vector3} place */
  accompany(place) {
    for (const sheet of this.sheets) {
      const now = this.along(sheet, place), { margin } = this;
      const out = now.some((x, i) => x - 0.5 * margin < sheet.low[i] || x + 0.5 * margin > sheet.high[i]);
      if (out) {
        const { follow } = this.page.stage, half = sheet.high.map((x, i) => (x - sheet.low[i]) / 2);
        now.forEach((x, i) => {
          sheet.low[i] = follow ? x - half[i] : Math.min(sheet.low[i], x - 2 * margin);
          sheet.high[i] = follow ? x + half[i] : Math.max(sheet.high[i], x + 2 * margin);
        });
        this.divide(sheet);
      }
      if (out || (scene.waves && this.shaped !== this.page.t)) this.shape(sheet);
    }
    this.shaped = this.page.t;
  }

  /** Colours of the theme. */
  dress() {
    const dark = document.documentElement.dataset.theme === "dark";
    this.earth.color.set(dark ? "#4a515c" : "#cfd3d8");
    this.ink.color.set(dark ? "#a9b6c8" : "#4a5361");
  }
}

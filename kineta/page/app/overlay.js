// What is drawn over the machine: paths of points, velocities, forces.
import * as THREE from "three";
import { data } from "./data.js";
import { PRESSING } from "./engine.js";

const scene = data.scene;
/** The longest arrow between bodies that may touch each other, in sizes of the machine. */
const LONGEST = 0.7;
/** A force over the size of the machine, in its energy, below which it is rounding. */
const ROUNDING = 1e-10;
/** Seconds of a path behind the present, and points on it. */
const BEHIND = 4, POINTS = 240;

export class Overlay {
  /** @param {any} page */
  constructor(page) {
    this.page = page;
    this.moving = 12 * scene.owners.length + scene.numbers;
    // Of a machine that goes far away, the path tells where it is.
    this.shown = { trail: page.stage.follow, velocity: false, forces: false, cones: false };
    this.group = new THREE.Group();
    page.stage.world.add(this.group);
    // Paths that the model shows, or that of the last body.
    const last = scene.places[scene.bodies[scene.bodies.length - 1]];
    const trails = scene.trails.length
      ? scene.trails.map((x) => (seen) => x.at.map((k) => seen[this.moving + k]))
      : [this.last(last)];
    this.trails = trails.map((at, k) => ({ at, line: this.line(scene.trails.length ? scene.palette[k % scene.palette.length] : "#e4572e") }));
    /** Of every body, made when they are first shown. @type {{at: Function, arrow: THREE.Group}[]} */
    this.velocities = [];
    this.forces = scene.arrows.map((x) => ({ x, arrow: this.arrow("#c8575b") }));
    /** Of pairs of bodies that may touch each other. */
    this.pairs = [];
    this.touches = scene.touches.map((x) => ({ x, arrow: this.arrow("#d9432f"), cone: this.cone() }));
  }

  /** The centre of mass of the body of a frame, or its origin. @param {number} frame */
  last(frame) {
    const solid = scene.solids.find((s) => s.frame === frame && "com" in s.numbers) ?? scene.solids.find((s) => s.frame === frame && s.kind === "rod");
    const places = solid?.numbers.com ?? solid?.numbers.end ?? [];
    return (seen) => {
      const o = 12 * frame, n = 12 * scene.owners.length, x = places.map((k) => seen[n + k]);
      return [0, 1, 2].map((i) => seen[o + 9 + i] + (x.length ? seen[o + 3 * i] * x[0] + seen[o + 3 * i + 1] * x[1] + seen[o + 3 * i + 2] * x[2] : 0));
    };
  }

  line(colour) {
    const made = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: colour, transparent: true, opacity: 0.8 }));
    made.frustumCulled = false;
    this.group.add(made);
    return made;
  }

  arrow(colour) {
    const made = new THREE.Group(), material = new THREE.MeshBasicMaterial({ color: colour, depthTest: false });
    const shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), material);
    const head = new THREE.Mesh(new THREE.ConeGeometry(2.4, 6, 16).translate(0, 3, 0), material);
    for (const x of [shaft, head]) x.renderOrder = 4; // before the bodies, in which forces often act
    made.add(shaft, head);
    this.group.add(made);
    return made;
  }

  /** A cone of friction, from its tip along y. */
  cone() {
    const material = new THREE.MeshBasicMaterial({ color: "#e8a13c", transparent: true, opacity: 0.28, depthWrite: false, side: THREE.DoubleSide });
    const made = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 40, 1, true).rotateX(Math.PI).translate(0, 0.5, 0), material);
    this.group.add(made);
    return made;
  }

  /** @param {THREE.Group} arrow @param {number[]} at @param {THREE.Vector3} by */
  put(arrow, at, by) {
    const length = by.length(), w = 0.45 * this.page.machine.radius, [shaft, head] = arrow.children;
    arrow.visible = length > 2 * w;
    if (!arrow.visible) return;
    arrow.position.set(...at);
    arrow.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), by.clone().divideScalar(length));
    shaft.scale.set(w, length, w);
    head.scale.setScalar(w);
    head.position.y = length;
  }

  /** The forces that are shown. @param {Float64Array} seen */
  acting(seen) {
    return this.forces.map(({ x }) => new THREE.Vector3(...x.force.map((k) => seen[this.moving + k])));
  }

  /** What is seen beside the present state, by rounding of its last digits. */
  beside() {
    const { q, v } = this.page.track.state(this.page.t), { t, engine, values, machine } = this.page;
    const near = (x, k) => x + (k % 2 ? -1 : 1) * 1e-13 * (Math.abs(x) + machine.size);
    return engine.seen(t, q.map(near), v.map(near), values.p);
  }

  /** @param {number} t */
  seen(t) {
    const { q, v } = this.page.track.state(t);
    return this.page.engine.seen(t, q, v, this.page.values.p);
  }

  /** @param {Float64Array} seen now */
  draw(seen) {
    const { page, shown } = this, { t, track } = page, now = seen.slice();
    for (const { line } of this.trails) line.visible = shown.trail && track.rows > 0;
    for (const { arrow } of this.velocities) arrow.visible = false;
    for (const { arrow } of this.forces) arrow.visible = false;
    for (const { arrow, cone } of [...this.touches, ...this.pairs.filter(Boolean)]) arrow.visible = cone.visible = false;
    if (!track.rows) return;
    if (shown.trail) this.paths();
    if (shown.velocity) {
      if (!this.velocities.length) this.velocities = Object.values(scene.places).filter((k) => scene.owners[k]).map((k) => ({ at: this.last(k), arrow: this.arrow("#4f9d69") }));
      const h = 1e-3, before = Math.max(page.span[0], t - h), after = Math.min(track.last, t + h);
      const places = [before, after].map((x) => {
        const s = this.seen(x);
        return this.velocities.map(({ at }) => at(s));
      });
      const speeds = this.velocities.map((_, k) => new THREE.Vector3(...places[1][k]).sub(new THREE.Vector3(...places[0][k])).divideScalar(Math.max(after - before, 1e-12)));
      this.fastest = Math.max(this.fastest ?? 0, ...speeds.map((v) => v.length()), 1e-12);
      this.velocities.forEach(({ at, arrow }, k) => this.put(arrow, at(now), speeds[k].multiplyScalar((0.4 * page.machine.size) / this.fastest)));
    }
    if (shown.forces || shown.cones) this.contacts(now);
    if (shown.forces && this.forces.length) {
      const forces = this.acting(now), moved = this.acting(this.beside());
      // A force that no digit of the state is behind is rounding.
      forces.forEach((f, k) => f.length() < 100 * moved[k].distanceTo(f) && f.setScalar(0));
      this.largest = Math.max(this.largest ?? 0, ...forces.map((f) => f.length()), 1e-12);
      this.forces.forEach(({ x, arrow }, k) => this.put(arrow, x.at.map((i) => now[this.moving + i]), forces[k].multiplyScalar((0.5 * page.machine.size) / this.largest)));
    }
  }

  /** Forces of contacts at the sample before the time, within their cones of friction. @param {Float64Array} now */
  contacts(now) {
    const { track, t, machine } = this.page, k = track.row(t), at = (places) => places.map((i) => now[this.moving + i]);
    const forces = this.touches.map(({ x }) => {
      const axes = at(x.axes), force = new THREE.Vector3();
      if (track.place.has(`lambda.${x.name}.x`)) return force; // a pair among others, shown below by what presses
      ["n", "u", "w"].forEach((row, i) => force.addScaledVector(new THREE.Vector3(...axes.slice(3 * i, 3 * i + 3)), track.column(`lambda.${x.name}.${row}`)?.[k] ?? 0));
      return force;
    });
    this.pressed = this.pressure();
    const scale = (0.45 * machine.size) / this.pressed;
    this.touches.forEach(({ x, arrow, cone }, i) => this.press(arrow, cone, at(x.at), forces[i].multiplyScalar(scale), new THREE.Vector3(...at(x.axes).slice(0, 3)), at(x.friction)[0]));
    const pressing = track.pressing[k] ?? [];
    for (let i = 0; i < pressing.length; i += PRESSING) {
      const x = pressing.subarray(i, i + PRESSING);
      (x[10] ? [1, -1] : [1]).forEach((sign, j) => {
        const { arrow, cone } = this.pair((2 * i) / PRESSING + j);
        const [force, normal] = [3, 6].map((from) => new THREE.Vector3(...x.subarray(from, from + 3)).multiplyScalar(sign));
        // In the step of an impact it is the impulse over the step.
        this.press(arrow, cone, x.subarray(0, 3), force.multiplyScalar(scale).clampLength(0, LONGEST * machine.size), normal, x[9]);
      });
    }
  }

  /** The arrow and the cone of a force between bodies that may touch each other, made when it is first seen. @param {number} k */
  pair(k) {
    return (this.pairs[k] ??= { arrow: this.arrow("#d9432f"), cone: this.cone() });
  }

  /** Show the force of a contact at a place, in the length of its arrow, within its cone about the normal. */
  press(arrow, cone, place, force, normal, friction) {
    const high = 0.8 * force.dot(normal);
    this.put(arrow, place, force);
    cone.visible = this.shown.cones && high > 0 && friction > 0;
    if (!cone.visible) return;
    cone.position.set(...place);
    cone.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
    cone.scale.set(friction * high, high, friction * high);
  }

  /** The largest normal force of a sample of the motion but for its peaks, which arrows would be small beside. */
  pressure() {
    const { track } = this.page, every = Math.ceil(track.rows / 500), sizes = [];
    if (this.weighed?.track === track && this.weighed.rows === track.rows) return this.weighed.size;
    for (const { x } of this.touches) for (let k = 0, c = track.column(`lambda.${x.name}.n`) ?? []; k < c.length; k += every) if (c[k] > 0) sizes.push(c[k]);
    for (let k = 0; k < track.pressing.length && k < track.rows; k += every) {
      const x = track.pressing[k] ?? [];
      for (let i = 0; i < x.length; i += PRESSING) sizes.push(x[i + 3] * x[i + 6] + x[i + 4] * x[i + 7] + x[i + 5] * x[i + 8]);
    }
    const largest = (name, from) => (track.column(name) ?? []).reduce((most, x, _, all) => Math.max(most, Math.abs(x - (from && all[0]))), 0);
    // A force that does no work in the digits of the energy is rounding.
    const least = (ROUNDING * (largest("kinetic_energy", 0) + largest("potential_energy", 1))) / this.page.machine.size;
    const size = Math.max(sizes.sort((a, b) => a - b)[Math.floor(0.97 * sizes.length)] ?? 0, least, 1e-12);
    this.weighed = { track, rows: track.rows, size };
    return size;
  }

  paths() {
    const { t, span } = this.page, from = Math.max(span[0], t - BEHIND);
    const points = this.trails.map(() => new Float32Array(3 * POINTS));
    for (let i = 0; i < POINTS; i++) {
      const seen = this.seen(from + ((t - from) * i) / (POINTS - 1));
      this.trails.forEach(({ at }, k) => points[k].set(at(seen), 3 * i));
    }
    this.trails.forEach(({ line }, k) => line.geometry.setAttribute("position", new THREE.BufferAttribute(points[k], 3)));
  }
}

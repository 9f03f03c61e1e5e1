// What is drawn over the machine: paths of points, velocities, forces.
import * as THREE from "three";
import { data } from "./data.js";

const scene = data.scene;
/** Seconds of a path behind the present, and points on it. */
const BEHIND = 4, POINTS = 240;

export class Overlay {
  /** @param {any} page */
  constructor(page) {
    this.page = page;
    this.moving = 12 * scene.owners.length + scene.numbers;
    // Of a machine that goes far away, the path tells where it is.
    this.shown = { trail: page.stage.follow, velocity: false, forces: false };
    this.group = new THREE.Group();
    page.stage.world.add(this.group);
    // Paths that the model shows, or that of the last body.
    const last = scene.places[scene.bodies[scene.bodies.length - 1]];
    const trails = scene.trails.length
      ? scene.trails.map((x) => (seen) => x.at.map((k) => seen[this.moving + k]))
      : [this.last(last)];
    this.trails = trails.map((at, k) => ({ at, line: this.line(scene.trails.length ? scene.palette[k % scene.palette.length] : "#e4572e") }));
    this.velocities = Object.values(scene.places).filter((k) => scene.owners[k]).map((k) => ({ at: this.last(k), arrow: this.arrow("#4f9d69") }));
    this.forces = scene.arrows.map((x) => ({ x, arrow: this.arrow("#c8575b") }));
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
    const made = new THREE.Group(), material = new THREE.MeshBasicMaterial({ color: colour });
    const shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), material);
    const head = new THREE.Mesh(new THREE.ConeGeometry(2.4, 6, 16).translate(0, 3, 0), material);
    made.add(shaft, head);
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

  /** @param {number} t */
  seen(t) {
    const { q, v } = this.page.track.state(t);
    return this.page.engine.seen(t, q, v, this.page.values.p);
  }

  /** @param {Float64Array} seen now */
  draw(seen) {
    const { page, shown } = this, { t, track } = page, now = Float64Array.from(seen.subarray(0, this.moving + 6 * scene.arrows.length + 3 * scene.trails.length + 3));
    for (const { line } of this.trails) line.visible = shown.trail;
    for (const { arrow } of this.velocities) arrow.visible = false;
    for (const { arrow } of this.forces) arrow.visible = false;
    if (shown.trail) this.paths();
    if (shown.velocity) {
      const h = 1e-3, before = Math.max(page.span[0], t - h), after = Math.min(track.last, t + h);
      const places = [before, after].map((x) => {
        const s = this.seen(x);
        return this.velocities.map(({ at }) => at(s));
      });
      const speeds = this.velocities.map((_, k) => new THREE.Vector3(...places[1][k]).sub(new THREE.Vector3(...places[0][k])).divideScalar(Math.max(after - before, 1e-12)));
      this.fastest = Math.max(this.fastest ?? 0, ...speeds.map((v) => v.length()), 1e-12);
      this.velocities.forEach(({ at, arrow }, k) => this.put(arrow, at(now), speeds[k].multiplyScalar((0.4 * page.machine.size) / this.fastest)));
    }
    if (shown.forces) {
      const forces = this.forces.map(({ x }) => new THREE.Vector3(...x.force.map((k) => now[this.moving + k])));
      this.largest = Math.max(this.largest ?? 0, ...forces.map((f) => f.length()), 1e-12);
      this.forces.forEach(({ x, arrow }, k) => this.put(arrow, x.at.map((i) => now[this.moving + i]), forces[k].multiplyScalar((0.5 * page.machine.size) / this.largest)));
    }
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

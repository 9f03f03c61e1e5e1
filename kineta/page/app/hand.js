// The hand that takes a body by the mouse: a cord from a place of the body to where one points.
import * as THREE from "three";
import { data, live } from "./data.js";
import { $, digits, el } from "./words.js";

/** Frequency [rad/s] and damping ratio of a body on the cord. */
const STIFF = 10, DAMPING = 0.8;
/** The most that is felt, in masses of all bodies: at a dead point of a mechanism, or beside a pivot, nothing gives way. */
const MOST = 10;

export class Hand {
  /** @param {any} page */
  constructor(page) {
    Object.assign(this, { page, ray: new THREE.Raycaster(), plane: new THREE.Plane(), target: new THREE.Vector3(), held: null });
    this.ray.layers.enableAll(); // solids that are drawn as one are met each by itself
    const material = new THREE.MeshBasicMaterial({ color: "#e4572e" });
    this.cord = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), material);
    this.knob = new THREE.Mesh(new THREE.SphereGeometry(1, 12, 8), material);
    this.foot = this.knob.clone();
    this.group = new THREE.Group();
    this.group.add(this.cord, this.knob, this.foot);
    this.group.visible = false;
    page.stage.world.add(this.group);
    if (!live || page.engine.info.order > 2) return;
    const canvas = (this.canvas = page.stage.canvas);
    canvas.addEventListener("pointerdown", (e) => this.take(e), true);
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => this.drop());
  }

  point(e) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    this.ray.setFromCamera(new THREE.Vector2(((e.clientX - left) / width) * 2 - 1, 1 - ((e.clientY - top) / height) * 2), this.page.stage.camera);
  }

  under(e) {
    this.point(e);
    const { machine } = this.page;
    return this.ray.intersectObjects(machine.pickable, false).find((hit) => machine.body(hit) >= 0);
  }

  take(e) {
    const { page } = this, hit = e.button === 0 && !page.filming && this.under(e);
    if (!hit) return;
    e.stopImmediatePropagation();
    page.stage.orbit.enabled = false;
    this.canvas.setPointerCapture(e.pointerId);
    this.grasp(page.machine.body(hit), hit.point);
  }

  /** Take hold of a body at a place in ground axes. @param {number} body @param {THREE.Vector3} place */
  grasp(body, place) {
    const { page } = this, { run, engine, machine } = page;
    if (page.recorded) page.again();
    if (!run.track.rows) return;
    if (run.track.last < page.t && !run.done) run.more(200);
    run.back(run.track.row(page.t));
    page.t = run.track.last;
    const { q, v } = run.track.state(page.t), name = data.scene.bodies[body];
    machine.pose(engine.seen(page.t, q, v, page.values.p));
    const frame = machine.frames[data.scene.places[name]];
    const local = place.clone().applyMatrix4(frame.matrix.clone().invert());
    const weights = data.scene.bodies.map((_, k) => (k === body ? 1 : 0));
    const { mass: there } = engine.felt(page.t, q, v, [...weights, ...local.toArray(), 0, 0, 0, 0, 0]), most = MOST * engine.mass(page.values.p) || Infinity;
    const mass = Number.isFinite(Math.min(there, most)) ? Math.min(there, most) : 1; // of bodies without mass, held where nothing gives way
    this.target.copy(place);
    this.plane.setFromNormalAndCoplanarPoint(page.stage.camera.getWorldDirection(new THREE.Vector3()), place);
    this.held = { local, frame, weights, stiffness: mass * STIFF ** 2, damping: 2 * DAMPING * STIFF * mass, owed: 0 };
    this.canvas.classList.add("holding");
    this.pulls = el("b"); // which changes too fast to be read aloud
    this.pulls.setAttribute("aria-hidden", "true");
    $("told").replaceChildren(`${name} in hand · ${there > most ? "it hardly gives way there" : `${digits(there, 3)} kg felt there`} · `, this.pulls);
    page.dirty = true;
  }

  move(e) {
    if (this.held) {
      this.point(e);
      this.ray.ray.intersectPlane(this.plane, this.target);
    } else if (e.buttons === 0) this.canvas.classList.toggle("over", Boolean(this.under(e)));
  }

  /** Follow the hand for so many seconds, within so many milliseconds. @param {number} seconds @param {number} slice */
  pull(seconds, slice) {
    const { page, held } = this, { run, engine } = page, began = performance.now();
    held.owed = Math.min(held.owed + seconds, 0.1);
    // What would end behind the slice, as the last part tells, is left to the next frame.
    for (let at = began, part = 0; (run.pulling || held.owed >= run.dt) && at + part - began < slice; part = performance.now() - at, at += part) {
      if (!run.pulling) {
        const t = run.track.last, { q, v } = run.track.state(t);
        const grip = [...held.weights, ...held.local.toArray(), ...this.target.toArray(), held.stiffness, held.damping];
        const { forces, pull } = engine.hand(t, q, v, grip);
        held.force = Math.hypot(...pull);
        run.pull(forces);
        held.owed -= run.dt;
      }
      if (!run.pulling || !run.follow()) {
        this.drop();
        break;
      }
    }
    page.t = run.track.last;
  }

  /** What is read of it. */
  read() {
    if (this.held) this.pulls.textContent = `pulls with ${digits(this.held.force ?? 0, 3)} N`;
  }

  drop() {
    if (!this.held) return;
    const { page } = this, { run } = page;
    while (run.pulling && run.follow());
    const failed = run.track.message;
    this.held = null;
    this.group.visible = false;
    page.stage.orbit.enabled = true;
    this.canvas.classList.remove("holding");
    if (failed) page.run.done = true;
    else page.run.letGo();
    page.fresh();
    page.play(true);
  }

  draw() {
    this.group.visible = Boolean(this.held);
    if (!this.held) return;
    const a = this.held.local.clone().applyMatrix4(this.held.frame.matrix), d = this.target.clone().sub(a), n = d.length(), w = 0.01 * this.page.stage.reach;
    this.cord.position.copy(a);
    this.cord.scale.set(0.5 * w, Math.max(n, 1e-9), 0.5 * w);
    if (n > 1e-12) this.cord.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), d.divideScalar(n));
    this.foot.position.copy(a);
    this.foot.scale.setScalar(1.5 * w);
    this.knob.position.copy(this.target);
    this.knob.scale.setScalar(1.9 * w);
  }
}

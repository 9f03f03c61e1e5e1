// The machine in three dimensions: solids on frames, and what moves them. What solids look like follows kineta.scene.construction.
import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { crowds } from "./crowd.js";
import { data } from "./data.js";
import { software } from "./graphics.js";
import { along, principal } from "./linear.js";
import { LEVELS } from "./governor.js";
import { rails, track } from "./rails.js";
import * as shapes from "./shapes.js";

const scene = data.scene;
const Y = new THREE.Vector3(0, 1, 0), PLACE = new THREE.Vector3(), A = new THREE.Vector3(), D = new THREE.Vector3();
/** Bodies beyond which a machine has many. */
const MANY = 20;
/** Cells whose vertices are one in coarse meshes, in sizes of the machine, where the picture has a point for each of the window; they grow as what a point covers. */
const CELL = 0.014;
/** Straight parts of a rope that is slack. */
const LINKS = 16;
/** Thickness of a thin disk, and length beyond which a cylinder is marked along its side, in its radii; sum of channels below which a colour is dark. */
const THIN = 0.06, LONG = 2, DARK = 300;
/** Sides of a box on which other bodies hang, level and vertical, in those of a cube of its moment. */
const LEVEL = 1.35, LOW = 0.42;
/** Sides of what slides on the rail of a loop, in radii of a rod. */
const BLOCK = [4, 4, 6.4];
/** Largest length that is drawn [m]. */
const LARGEST = 1e15;
/** The layer of solids that are met by a ray and not drawn. */
const UNSEEN = 1;

/** @typedef {import("./data.js").Solid} Solid */

/** Where a solid between two frames begins and ends. @typedef {{mesh: THREE.Mesh, from: number, start: THREE.Vector3, to: number, end: THREE.Vector3, part: [number, number], rope?: number}} Between rope: the length to which it is slack */

export class Machine {
  constructor() {
    this.root = new THREE.Group();
    this.frames = scene.owners.map(() => {
      const group = new THREE.Group();
      group.matrixAutoUpdate = false;
      this.root.add(group);
      return group;
    });
    /** @type {Between[]} */
    this.between = [];
    /** @type {THREE.Mesh[]} */
    this.pickable = [];
    this.materials = new Map();
    /** Solids of a crowd, drawn at once. */
    this.crowds = [];
    this.marks = { axes: null, frames: null, centres: null };
    this.shown = { axes: false, frames: false, centres: false };
    [this.level] = LEVELS;
    this.radius = scene.radius;
    this.size = scene.size;
    /** Frames of bodies, and the mean of their origins now. */
    this.carried = Object.values(scene.places).filter((k) => k > 0);
    this.middle = new THREE.Vector3();
    this.bodies = new Map(scene.bodies.map((name, k) => [name, k]));
    this.slides = new Map();
    this.bars = new Map();
    for (const s of scene.solids) {
      if (s.kind === "rail" || s.kind === "slide") this.slides.set(`${s.owner} ${s.to}`, s);
      if (s.kind === "rod") this.bars.set(s.frame, [...(this.bars.get(s.frame) ?? []), s]);
    }
    this.rods = {};
    for (const s of scene.solids) if (s.part === "body" && !["inertia", "mesh"].includes(s.kind)) this.rods[s.owner] = (this.rods[s.owner] ?? 0) + 1;
  }

  /** @param {string} colour @param {string} finish */
  material(colour, finish = "body") {
    const key = `${colour} ${finish}`;
    if (!this.materials.has(key)) {
      const metal = { body: [0.52, 0.06], joint: [0.42, 0.2], element: [0.4, 0.12], ground: [0.7, 0.1] }[finish] ?? [0.52, 0.06];
      this.materials.set(key, new THREE.MeshStandardMaterial({ color: colour, roughness: metal[0], metalness: metal[1], side: finish === "skin" ? THREE.DoubleSide : THREE.FrontSide }));
    }
    return this.materials.get(key);
  }

  /** @param {Solid} s */
  colour(s) {
    const k = this.bodies.get(s.owner) ?? -1;
    const finish = s.skin && !s.skin.closed ? "skin" : "body";
    if (s.colour) return this.material(s.colour, finish);
    if (s.part === "body" && k >= 0) return this.material(scene.palette[k % scene.palette.length], finish);
    return this.material(scene.colours[s.part] ?? scene.colours.ground, s.part);
  }

  get joint() {
    return this.material(scene.colours.joint, "joint");
  }

  /** Numbers of a solid by name, a vector where there are three. @param {Solid} s @param {string} name */
  value(s, name) {
    const found = s.numbers[name].map((k) => this.numbers[k]);
    return found.length === 3 ? new THREE.Vector3(...found) : found;
  }

  // -- building -----------------------------------------------------------------------------------------------------------

  /** All solids anew, from what was seen (frames, numbers). @param {Float64Array} seen */
  build(seen) {
    const first = 12 * this.frames.length;
    this.numbers = seen.slice(first, first + scene.numbers);
    for (const frame of this.frames) {
      for (const child of [...frame.children]) {
        for (const x of [child.geometry, child.userData.whole?.geometry]) x?.dispose();
        frame.remove(child);
      }
    }
    for (const x of this.between) {
      x.mesh.geometry.dispose();
      this.root.remove(x.mesh);
    }
    for (const x of this.crowds) this.root.remove(x.mesh);
    for (const x of this.crowds) x.dispose();
    this.between = [];
    this.pickable = [];
    this.crowds = [];
    this.marks = { axes: null, frames: null, centres: null };
    const up = new THREE.Vector3(...scene.up.map((k) => this.numbers[k]));
    this.up = up.lengthSq() > 0 ? up.normalize() : new THREE.Vector3();
    this.first = seen.slice(0, first);
    this.rails = rails(this, scene.solids, seen);
    for (const s of scene.solids) {
      if (s.to < 0 || s.kind === "rail") (this[`_${s.kind}`] ?? this._sized).call(this, s);
      if (s.to >= 0 && s.kind !== "rail") this.stretch(s);
    }
    if (shapes.crowded) this.crowd();
    else this.merge();
    this.show();
    this.detail(this.level);
  }

  /** Draw solids with this detail. Without gloss a processor draws those of few bodies as one, too. @param {{whole: boolean, gloss: boolean, points: number}} level */
  detail(level) {
    this.level = level;
    if (shapes.crowded) {
      for (const x of this.crowds) x.detail(level);
      return;
    }
    const together = software() && !level.gloss, solids = [];
    this.root.traverse((x) => { if (x.isMesh && !x.renderOrder && !x.userData.crowd) solids.push(x); });
    for (const x of solids) {
      const { geometry, material } = (x.userData.whole ??= { geometry: x.geometry, material: x.material });
      x.geometry = level.whole ? geometry : this.coarse(geometry, (CELL * this.size) / level.points ** 2);
      x.material = level.gloss ? material : this.dull(material);
      x.layers.set(together ? UNSEEN : 0);
    }
    if (together && !this.crowds.length) this.crowd();
    for (const x of this.crowds) {
      x.mesh.visible = together;
      x.detail(level);
    }
  }

  /** A geometry with one vertex in each cell, made when it is first wanted. @param {THREE.BufferGeometry} geometry @param {number} cell */
  coarse(geometry, cell) {
    const { userData } = geometry;
    return userData.skin ? ((userData.coarse ??= {})[cell] ??= shapes.clustered(geometry, cell)) : geometry;
  }

  /** A material without gloss. @param {THREE.Material} material */
  dull(material) {
    if (!material.isMeshStandardMaterial) return material;
    const { color, side, flatShading } = material;
    material.userData.dull ??= new THREE.MeshLambertMaterial({ side, flatShading });
    material.userData.dull.color.copy(color);
    return material.userData.dull;
  }

  /** @param {Solid} s */
  add(s, geometry, material = this.colour(s), place = null, turn = null) {
    const made = new THREE.Mesh(geometry, material);
    if (place) made.position.copy(place);
    if (turn) made.quaternion.copy(turn);
    made.castShadow = made.receiveShadow = true;
    made.userData.body = this.bodies.get(s.owner) ?? -1;
    // A shape that the model gives the ground under gravity: a road is no measure of a car.
    made.userData.scenery = s.part === "ground" && "axes" in s.numbers && this.up.lengthSq() > 0;
    this.frames[s.frame].add(made);
    if (made.userData.body >= 0) this.pickable.push(made);
    return made;
  }

  /** @param {Solid} s @param {THREE.Vector3} a @param {THREE.Vector3} b */
  bar(s, a, b, radius, material = this.colour(s), tip = radius) {
    const d = b.clone().sub(a);
    if (!(d.length() > 0)) return;
    this.add(s, shapes.cylinder(radius, d.length(), tip, 24), material, a.clone().addScaledVector(d, 0.5), along(d));
  }

  _rod(s) {
    const a = this.value(s, "start"), b = this.value(s, "end"), d = b.clone().sub(a), r = this.radius;
    if (d.length() > 1e-9 * this.size) this.add(s, shapes.capsule(r, d.length()), this.colour(s), a.clone().addScaledVector(d, 0.5), along(d));
  }

  _hinge(s) {
    const at = this.value(s, "at"), r = this.radius;
    this.add(s, shapes.cylinder(1.5 * r, 3.2 * r), this.joint, at, along(this.value(s, "axis")));
    this.foot(s, at);
  }

  _ball(s) {
    const at = this.value(s, "at");
    this.add(s, shapes.sphere(1.7 * this.radius), this.joint, at);
    this.foot(s, at);
  }

  /** A stand for a joint that is fixed to the ground. */
  foot(s, at) {
    const weight = this.up.lengthSq() > 0, r = this.radius;
    if (s.frame !== 0 || (scene.normal !== null && !weight)) return;
    const up = weight ? this.up : new THREE.Vector3(0, 0, 1);
    const ground = { ...s, owner: "" };
    this.add(ground, shapes.cylinder(2.6 * r, 2.4 * r, 1.5 * r), this.material(scene.colours.ground, "ground"), at.clone().addScaledVector(up, -2.4 * r), along(up));
  }

  _pin(s) { this.knob(s, 1.35); }
  _tip(s) { this.knob(s, 1.25); }
  _dot(s) {
    this.knob(s, 0.8);
    this.beside(s, this.value(s, "at"));
  }

  knob(s, size) {
    this.add(s, shapes.sphere(size * this.radius), this.joint, this.value(s, "at"));
  }

  /** A thin bar from a place beside the rods of its body to the nearest of them. */
  beside(s, place) {
    let best = new THREE.Vector3(), least = Infinity;
    for (const other of this.bars.get(s.frame) ?? []) {
      const line = new THREE.Line3(this.value(other, "start"), this.value(other, "end"));
      const foot = line.closestPointToPoint(place, true, new THREE.Vector3()), far = foot.distanceTo(place);
      if (far < least) [best, least] = [foot, far];
    }
    if (least === Infinity) least = place.length();
    if (least > 1.2 * this.radius) this.bar(s, best, place, 0.5 * this.radius);
  }

  _rail(s) {
    const { ends } = this.rails.get(track(s));
    if (!ends) return;
    this.bar({ ...s, owner: "" }, ...ends, 0.4 * this.radius, this.material(scene.colours.element, "element"));
    Object.assign(this.frames[s.frame].children.at(-1).userData, { rail: true, trifle: shapes.crowded });
  }

  _hull(s) {
    const places = s.numbers.points.map((k) => this.numbers[k]), com = this.value(s, "com"), n = scene.normal;
    let points = Array.from({ length: places.length / 3 }, (_, k) => new THREE.Vector3(...places.slice(3 * k, 3 * k + 3)));
    const span = new THREE.Box3().setFromPoints(points).getSize(new THREE.Vector3());
    if (this.flat(points)) points = [...points, ...points.map((p) => com.clone().multiplyScalar(2).sub(p))];
    if (n !== null && !(span.getComponent(n) > 0)) {
      const thick = new THREE.Vector3().setComponent(n, 0.25 * Math.max(span.x, span.y, span.z));
      points = [...points.map((p) => p.clone().sub(thick)), ...points.map((p) => p.clone().add(thick))];
    }
    const material = this.material(this.colour(s).color.getStyle(), "body").clone();
    material.flatShading = true;
    this.add(s, shapes.hull(points), material);
  }

  /** Whether points lie in a plane; in a plane motion, on a line. */
  flat(points) {
    const [origin, ...rest] = points, least = 1e-9 * this.size;
    const a = rest.map((p) => p.clone().sub(origin)).find((d) => d.length() > least);
    const normal = a && rest.map((p) => p.clone().sub(origin).cross(a)).find((d) => d.length() > least * this.size);
    if (!normal) return true;
    if (scene.normal !== null) return false;
    normal.normalize();
    return rest.every((p) => Math.abs(p.clone().sub(origin).dot(normal)) <= least);
  }

  _bead(s) {
    const radius = 1.8 * this.radius, up = this.value(s, "axis").normalize().multiplyScalar(radius);
    this.add(s, shapes.sphere(radius), this.colour(s), this.value(s, "at").add(up));
  }

  /** What slides on the rail of a loop. */
  _block(s) {
    this.add(s, shapes.box(...BLOCK.map((x) => x * this.radius)), this.colour(s), this.value(s, "at"), along(this.value(s, "axis")));
  }

  /** A plane that moves with its frame, as a round plate; that of the ground is the floor. */
  _plane(s) {
    if (s.frame === 0 || scene.normal !== null) return;
    const axis = this.value(s, "axis").normalize(), thick = 0.6 * this.radius;
    const at = this.value(s, "at").addScaledVector(axis, -thick / 2);
    this.add(s, shapes.disk(0.75 * this.size, thick), this.colour(s), at, along(axis));
  }

  _triad(s) {
    const length = 0.3 * this.size, r = this.radius;
    for (let k = 0; k < 3; k++) {
      const axis = new THREE.Vector3().setComponent(k, 1), material = this.material(scene.triad[k]);
      this.bar(s, new THREE.Vector3(), axis.clone().multiplyScalar(length), 0.6 * r, material);
      this.bar(s, axis.clone().multiplyScalar(length), axis.clone().multiplyScalar(1.27 * length), 1.6 * r, material, 0);
    }
  }

  /** A body that its mass alone describes: a cart, a weight, a top, a cylinder, or a box of the same inertia. */
  _inertia(s) {
    const [mass] = this.value(s, "mass"), com = this.value(s, "com"), r = this.radius;
    if (!(mass > 0)) return;
    const { moments, axes } = principal(s.numbers.tensor.map((k) => this.numbers[k]));
    const big = moments[2], rods = this.rods[s.owner] ?? 0, far = com.length();
    const slide = this.slides.get(`${s.owner} ${s.frame}`);
    if (slide && !rods) {
      const turn = along(this.value(slide, "axis"));
      this.add(s, slide.kind === "rail" ? shapes.box(3.6 * r, 3.6 * r, this.rails.get(track(slide)).cart) : shapes.cylinder(2.6 * r, 4.4 * r), this.colour(s), com, turn);
      return;
    }
    const axial = scene.bodies.length === 1 && scene.solids.some((x) => x.kind === "ball") ? this.axial(moments, axes, com) : null;
    if (axial !== null) {
      const radius = Math.sqrt((10 * axial) / (3 * mass)), tip = com.clone().multiplyScalar(4 / 3);
      this.bar(s, new THREE.Vector3(), tip, 0.02 * radius, this.colour(s), radius);
      this.bar(s, tip, com.clone().multiplyScalar(1.7), 0.08 * radius, this.joint);
    } else if (!(big > 0) || rods) {
      if (rods) this.beside(s, com);
      else if (far > 1e-6 * this.size) this.bar(s, new THREE.Vector3(), com, r);
      if (far > 1e-6 * this.size || !(big > 0)) this.add(s, shapes.sphere((big > 0 ? 1.6 : 2.6) * r), this.colour(s), com);
    } else if (!this.value(s, "complete")[0]) {
      this.add(s, shapes.box(...this.sides(s, mass, big)), this.colour(s), com);
    } else {
      if (far > 3 * r) this.bar(s, new THREE.Vector3(), com, 0.8 * r);
      this.equivalent(s, mass, moments, axes, com);
    }
  }

  /** Sides of a box of which one moment is known: thinner across its plane beside other bodies; one on which these hang is long and low, so that they are seen. */
  sides(s, mass, moment) {
    const half = Math.min(Math.max(Math.sqrt((1.5 * moment) / mass), 2 * this.radius), 0.45 * this.size), sides = [1.9 * half, 1.9 * half, 1.9 * half], normal = scene.normal ?? 2;
    if (scene.bodies.length < 2) return sides;
    sides[normal] *= 0.55;
    const up = this.up.clone().transformDirection(this.frame(this.first, s.frame).transpose()).toArray().map(Math.abs), vertical = up.indexOf(Math.max(...up));
    if (this.up.lengthSq() === 0 || vertical === normal) return sides;
    return sides.map((x, k) => (k === normal ? x : x * (k === vertical ? LOW : LEVEL)));
  }

  /** The moment about the line to the centre of mass, where those across it are equal; else none. */
  axial(moments, axes, com) {
    for (const [i, j, k] of [[0, 1, 2], [1, 2, 0]]) {
      if (Math.abs(moments[i] - moments[j]) < 0.004 * moments[2] && axes[k].clone().cross(com).length() < 1e-9) return com.length() > 0 ? moments[k] : null;
    }
    return null;
  }

  /** A cylinder, or else a box or ellipsoid, with these principal moments. */
  equivalent(s, mass, moments, axes, com) {
    const total = (moments[0] + moments[1] + moments[2]) / 2, thin = 0.35 * this.radius, many = scene.bodies.length > MANY;
    const pairs = [[0, 1, 2], [1, 2, 0]].filter(([i, j]) => moments[j] - moments[i] < 0.004 * moments[2]);
    const turn = new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(...axes));
    if (pairs.length === 1 && !many) {
      const [i, , k] = pairs[0], radius = Math.sqrt((2 * moments[k]) / mass);
      const height = Math.sqrt(Math.max((12 * moments[i]) / mass - 3 * radius ** 2, (0.08 * radius) ** 2));
      if (radius > 0.03 * height) {
        const axis = along(axes[k]);
        this.add(s, shapes.cylinder(radius, height, radius, 64), this.colour(s), com, axis);
        this.add(s, shapes.cylinder(0.12 * radius, height * 1.01 + 0.02 * radius), this.joint, com.clone().addScaledVector(axes[i], 0.66 * radius), axis);
        return;
      }
    }
    const halves = moments.map((m) => Math.min(Math.sqrt(Math.max(((total - m) * (many ? 3.4 : 3)) / mass, thin ** 2)), 0.5 * this.size));
    this.add(s, many ? shapes.ellipsoid(...halves) : shapes.box(...halves.map((h) => 2 * h)), this.colour(s), com, turn);
  }

  /** A solid with sizes: about its axis, turned, or along the axes of its frame. */
  _sized(s) {
    if (!(s.kind in shapes.SOLIDS)) return;
    const sizes = s.numbers.sizes.map((k) => this.numbers[k]), turn = this.turn(s);
    if (!sizes.every((x) => x > 0 && x < LARGEST)) return;
    if ("start" in s.numbers) {
      const a = this.value(s, "start"), d = this.value(s, "end").sub(a);
      this.add(s, shapes.SOLIDS[s.kind](sizes[0], d.length()), this.colour(s), a.addScaledVector(d, 0.5), along(d));
      this.markings(s, [sizes[0], d.length()], a, along(d));
      return;
    }
    const at = this.value(s, "at");
    if (shapes.crowded && s.kind === "sphere") {
      this.add(s, shapes.marked(...sizes), this.colour(s), at, turn);
      return;
    }
    this.add(s, shapes.SOLIDS[s.kind](...sizes), this.colour(s), at, turn);
    this.markings(s, sizes, at, turn);
  }

  /** Marks by which one sees a round body turn, dark ones on light and light ones on dark. @param {Solid} s @param {number[]} sizes */
  markings(s, [r, other], at, turn) {
    if (s.part !== "body" || shapes.crowded) return;
    const channels = [1, 3, 5].map((k) => parseInt(s.colour.slice(k, k + 2), 16)), dark = channels.reduce((a, b) => a + b, 0) < DARK;
    const mark = (geometry, place, own = turn) => this.add(s, geometry, dark ? this.material(scene.colours.mark, "joint") : this.joint, at.clone().add(new THREE.Vector3(...place).applyQuaternion(turn)), own);
    if (s.kind === "disk" || s.kind === "cylinder") {
      const length = other ?? THIN * r;
      if (length <= LONG * r) mark(shapes.cylinder(0.1 * r, 1.01 * length + 0.015 * r), [0.62 * r, 0, 0]);
      else mark(shapes.cylinder(0.14 * r, 0.98 * length), [0.92 * r, 0, 0]);
    } else if (s.kind === "torus") mark(shapes.sphere(1.06 * other), [r, 0, 0]);
    else if (s.kind === "sphere") {
      for (const [k, sign] of [[0, 1], [0, -1], [1, 1], [1, -1], [2, 1], [2, -1]]) {
        const axis = new THREE.Vector3().setComponent(k, sign);
        mark(shapes.cylinder(0.16 * r, 0.012 * r), axis.clone().multiplyScalar(0.987 * r).toArray(), along(axis.applyQuaternion(turn)));
      }
    }
  }

  turn(s) {
    const turn = "axis" in s.numbers ? along(this.value(s, "axis")) : new THREE.Quaternion();
    if (!("axes" in s.numbers)) return turn;
    const R = s.numbers.axes.map((k) => this.numbers[k]);
    const matrix = new THREE.Matrix4().set(R[0], R[1], R[2], 0, R[3], R[4], R[5], 0, R[6], R[7], R[8], 0, 0, 0, 0, 1);
    return new THREE.Quaternion().setFromRotationMatrix(matrix).multiply(turn);
  }

  _mesh(s) {
    if (s.skin) this.add(s, shapes.mesh(s.skin, this.value(s, "scale")), this.colour(s), this.value(s, "at"), this.turn(s));
  }

  /** A solid between two frames. @param {Solid} s */
  stretch(s) {
    const r = this.radius, start = this.value(s, "start" in s.numbers ? "start" : "at");
    const end = "end" in s.numbers ? this.value(s, "end") : new THREE.Vector3();
    if (s.kind.endsWith("_on_rail")) {
      const axis = this.value(s, "axis").normalize();
      start.addScaledVector(axis, -this.rails.get(track(s)).wall);
      this.add(s, shapes.box(5 * r, 5 * r, 0.8 * r), this.material(scene.colours.ground, "ground"), start.clone().addScaledVector(axis, -0.4 * r), along(axis)).userData.trifle = shapes.crowded;
    }
    const steel = this.material(scene.colours.element, "element");
    const place = (geometry, part) => {
      const mesh = new THREE.Mesh(geometry, s.part === "joint" ? this.joint : steel);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.userData.body = -1;
      this.root.add(mesh);
      this.between.push({ mesh, from: s.frame, start, to: s.to, end, part });
    };
    const rod = shapes.post;
    const kind = s.kind.replace("_on_rail", "");
    if (kind === "spring") place(shapes.coil(1.6 * r, 0.24 * r), [0, 1]);
    else if (kind === "damper") {
      place(rod(0.9 * r), [0, 0.6]);
      place(rod(0.4 * r), [0.6, 1]);
    } else if (kind === "rope") {
      const made = this.between.length, [length] = this.value(s, "length");
      for (let k = 0; k < LINKS; k++) place(rod(0.3 * r), [k / LINKS, (k + 1) / LINKS]);
      for (const x of this.between.slice(made)) x.rope = length;
    } else place(rod((kind === "slide" || kind === "link" ? 0.6 : 0.3) * r), [0, 1]);
  }

  // -- marks --------------------------------------------------------------------------------------------------------------

  /** Marks of a kind, made when they are first shown. */
  mark(name) {
    const made = [], put = (frame, mark) => {
      mark.renderOrder = 3;
      this.frames[frame].add(mark);
      made.push(mark);
    };
    const own = { axes: this.axis, centres: this.centre }[name];
    if (own) for (const s of scene.solids) own.call(this, s, put);
    else for (const body of new Set([...scene.bodies, ...Object.keys(this.rods)])) if (body in scene.places) put(scene.places[body], this.triad());
    return made;
  }

  /** The axis of a joint. @param {Solid} s */
  axis(s, put) {
    if (!("axis" in s.numbers) || !["hinge", "rail", "slide"].includes(s.kind)) return;
    const at = this.value(s, "at"), axis = this.value(s, "axis").normalize().multiplyScalar(0.22 * this.size);
    const geometry = new THREE.BufferGeometry().setFromPoints([at.clone().sub(axis), at.clone().add(axis)]);
    this.dashes ??= new THREE.LineDashedMaterial({ color: "#c8575b", dashSize: this.radius, gapSize: 0.6 * this.radius, depthTest: false });
    put(s.frame, new THREE.Line(geometry, this.dashes).computeLineDistances());
  }

  /** A centre of mass. @param {Solid} s */
  centre(s, put) {
    if (!("com" in s.numbers) || ("mass" in s.numbers && !(this.value(s, "mass")[0] > 0))) return;
    this.ink ??= new THREE.MeshBasicMaterial({ color: "#e4572e", depthTest: false });
    const made = new THREE.Mesh(new THREE.SphereGeometry(0.7 * this.radius, 16, 12), this.ink);
    made.position.copy(this.value(s, "com"));
    put(s.frame, made);
  }

  /** The axes of a frame. */
  triad() {
    const made = new THREE.AxesHelper(0.16 * this.size);
    made.setColors(...scene.triad.map((c) => new THREE.Color(c)));
    made.material.depthTest = false;
    return made;
  }

  show() {
    for (const name of Object.keys(this.marks)) {
      if (this.shown[name]) this.marks[name] ??= this.mark(name);
      for (const x of this.marks[name] ?? []) x.visible = this.shown[name];
    }
  }

  // -- crowds -------------------------------------------------------------------------------------------------------------

  /** Few objects of the renderer for all solids; beyond a hundred bodies they are all that there is. */
  crowd() {
    const members = [];
    this.frames.forEach((frame, k) => {
      for (const child of frame.children) {
        if (!child.isMesh || child.renderOrder) continue;
        child.updateMatrix();
        members.push({ mesh: child, frame: k, own: child.matrix });
      }
      if (shapes.crowded) frame.clear();
    });
    for (const x of this.between) {
      members.push({ mesh: x.mesh, between: x });
      if (shapes.crowded) this.root.remove(x.mesh);
    }
    this.crowds = crowds(members);
    if (shapes.crowded) this.pickable = this.crowds.map((x) => x.mesh);
    for (const x of this.crowds) this.root.add(x.mesh);
  }

  /** One mesh for all solids of a material on a frame. */
  merge() {
    for (const frame of this.frames) {
      const groups = new Map();
      for (const child of frame.children) {
        if (!child.isMesh || child.renderOrder || child.userData.rail) continue;
        const key = `${child.material.uuid} ${child.userData.body} ${child.userData.scenery}`;
        groups.set(key, [...(groups.get(key) ?? []), child]);
      }
      for (const list of groups.values()) {
        if (list.length < 2) continue;
        const placed = list.map((x) => {
          x.updateMatrix();
          const own = x.geometry.clone();
          if (!own.index) own.setIndex(Array.from({ length: own.getAttribute("position").count }, (_, k) => k));
          for (const name of Object.keys(own.attributes)) if (name !== "position" && name !== "normal") own.deleteAttribute(name);
          return own.applyMatrix4(x.matrix);
        });
        const made = new THREE.Mesh(mergeGeometries(placed), list[0].material);
        made.geometry.userData.skin = list.some((x) => x.geometry.userData.skin);
        made.castShadow = made.receiveShadow = true;
        made.userData = list[0].userData;
        for (const x of list) {
          frame.remove(x);
          x.geometry.dispose();
        }
        this.pickable = this.pickable.filter((x) => !list.includes(x));
        if (made.userData.body >= 0) this.pickable.push(made);
        frame.add(made);
      }
    }
  }

  // -- moving -------------------------------------------------------------------------------------------------------------

  /** Where a frame is seen. @param {Float64Array} F frames, 12 numbers each @param {number} k @param {THREE.Matrix4} to */
  frame(F, k, to = new THREE.Matrix4()) {
    const o = 12 * k;
    return to.set(F[o], F[o + 1], F[o + 2], F[o + 9], F[o + 3], F[o + 4], F[o + 5], F[o + 10], F[o + 6], F[o + 7], F[o + 8], F[o + 11], 0, 0, 0, 1);
  }

  /** Put all solids where they are seen. @param {Float64Array} F frames, 12 numbers each */
  pose(F) {
    this.frames.forEach((group, k) => {
      this.frame(F, k, group.matrix);
      group.matrixWorldNeedsUpdate = true;
    });
    const middle = new THREE.Vector3();
    for (const k of this.carried) middle.add(PLACE.set(F[12 * k + 9], F[12 * k + 10], F[12 * k + 11]));
    middle.divideScalar(this.carried.length || 1);
    if (Number.isFinite(middle.x + middle.y + middle.z)) this.middle.copy(middle);
    const crowded = this.crowds.length > 0;
    for (const { mesh, from, start, to, end, part, rope } of this.between) {
      const a = A.copy(start).applyMatrix4(this.frames[from].matrix), d = D.copy(end).applyMatrix4(this.frames[to].matrix).sub(a);
      // A rope that is slack lies about on a parabola of its length.
      const far = d.length(), sag = rope === undefined ? 0 : 0.25 * Math.sqrt(Math.max((rope - far) * (4 * rope + 2 * far), 0)), [s, e] = part;
      mesh.position.copy(a).addScaledVector(d, s);
      d.multiplyScalar(e - s);
      if (sag > 0 && sag < LARGEST) {
        mesh.position.addScaledVector(this.up, -4 * sag * s * (1 - s));
        d.addScaledVector(this.up, -4 * sag * (e * (1 - e) - s * (1 - s)));
      }
      const length = d.length();
      mesh.scale.set(1, Math.max(length, 1e-9), 1);
      if (length > 1e-12) mesh.quaternion.setFromUnitVectors(Y, d.divideScalar(length));
      mesh.visible = length > 1e-9 * this.size;
      if (crowded) mesh.updateMatrix();
    }
    const lights = this.root.parent?.children.filter((x) => x.isLight) ?? [];
    for (const x of this.crowds) if (x.mesh.visible) x.pose(this.frames, lights);
  }

  /** Leave out what an eye does not see. @param {THREE.Vector3} eye */
  face(eye) {
    for (const x of this.crowds) if (x.mesh.visible) x.face(eye);
  }

  /** The number of the body that a ray has met. @param {THREE.Intersection} hit */
  body(hit) {
    const { body, crowd } = hit.object.userData;
    return crowd ? crowd.list[crowd.member(hit)].mesh.userData.body : body;
  }

  /** What is seen of the machine now, or else of the scenery around it. @param {boolean} scenery */
  box(scenery = false) {
    this.root.updateMatrixWorld(true);
    const found = new THREE.Box3();
    this.root.traverse((x) => {
      if (x.isMesh && !x.userData.rail && !x.renderOrder && (shapes.crowded || !x.userData.crowd) && Boolean(x.userData.scenery) === scenery) found.expandByObject(x);
    });
    if (scenery) return found;
    return found.isEmpty() ? new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1)) : found;
  }
}

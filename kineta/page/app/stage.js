// The stage: floor, light, camera and the views of it.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { data } from "./data.js";
import { crowded } from "./shapes.js";
import { drawn, software } from "./graphics.js";

const scene = data.scene;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
/** Angles of view: in perspective, and almost without. */
const WIDE = 30, NARROW = 1.5;
/** How far over the ground the middle of the machine goes, and what its motion spans in all, in its sizes, beyond which the eye goes with it. */
const FAR = 1.5, FARTHEST = 9;
/** Room around what is in view at first. */
const ROUND = 1.1;
/** Room around a machine with which the eye goes. */
const ROOM = 1.25;
/** How far from the center, in the reach of the machine, it is no longer in view. */
const LEFT = 1.35;
/** Part of the picture from its middle to its edge, behind which a machine leaves it. */
const EDGE = 0.92;
/** Distances in which the lines of the floor fade, and to which shadows fall, in the reach of the machine. */
const LINES = 9, SHADOWS = 3.7;

/** The corners of a box. @param {THREE.Box3} box */
export const corners = ({ min, max }) => [0, 1, 2, 3, 4, 5, 6, 7].map((k) => new THREE.Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z));

export class Stage {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    // What a processor draws is smoothed by more points at rest, instead of in each frame.
    this.rough = crowded || software();
    /** Without WebGL there is none, and nothing is drawn. @type {THREE.WebGLRenderer | null} */
    this.renderer = drawn() ? new THREE.WebGLRenderer({ canvas, antialias: !this.rough }) : null;
    if (this.renderer) {
      this.renderer.shadowMap.enabled = !crowded;
      this.renderer.shadowMap.type = THREE.PCFShadowMap;
      this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
      this.renderer.toneMappingExposure = 1.12;
    }
    this.world = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(WIDE, 1, 0.01, 1000);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.enableDamping = true;
    this.orbit.dampingFactor = 0.14;
    this.changed = true;
    this.orbit.addEventListener("change", () => { this.changed = true; });
    this.orbit.addEventListener("start", () => { this.from = null; });
  }

  /** Floor, light and the first view of a machine. @param {import("./machine.js").Machine} machine @param {THREE.Box3} all what its motion spans @param {THREE.Box3} way where its middle goes @param {number | null} height of a floor that the model has */
  furnish(machine, all, way, height) {
    const own = machine.box(), size = own.getSize(new THREE.Vector3()).length(), span = all.getSize(new THREE.Vector3());
    const heavy = machine.up.lengthSq() > 0;
    this.up = heavy ? machine.up.clone() : new THREE.Vector3().setComponent(scene.normal === 2 ? 1 : 2, 1);
    const { up } = this, ends = (box) => {
      const heights = corners(box).map((c) => c.dot(up));
      return [Math.min(...heights), Math.max(...heights)];
    };
    const [low, high] = ends(all), [first, last] = ends(own);
    const gone = way.getSize(new THREE.Vector3()), [down, top] = ends(way);
    const far = (heavy && gone.lengthSq() - (top - down) ** 2 > (FAR * size) ** 2) || span.length() > FARTHEST * size;
    /** Whether the eye that goes along stays at its height, from which all heights are seen. */
    this.steady = heavy && high - low < FARTHEST * size;
    this.heights = [down, top];
    const seen = far ? own.clone() : all.clone().union(machine.box(true));
    // A machine that goes may turn around.
    if (far) for (const c of corners(own)) seen.expandByPoint(machine.middle.clone().multiplyScalar(2).sub(c).addScaledVector(up, 2 * (c.dot(up) - machine.middle.dot(up))));
    if (far && this.steady) for (const c of corners(own)) for (const by of [low - first, high - last]) seen.expandByPoint(c.addScaledVector(up, by));
    const reach = far ? Math.max(1.6 * size, 0.5 * seen.getSize(new THREE.Vector3()).length()) : 0.5 * Math.max(seen.getSize(new THREE.Vector3()).length(), size);
    const center = seen.getCenter(new THREE.Vector3());
    Object.assign(this, { reach, center, size, follow: far });
    /** Where the middle of the machine was when the eye last looked there. */
    this.seen = far ? machine.middle.clone() : center.clone();
    this.corners = this.framed = corners(seen).map((c) => c.sub(center).multiplyScalar(far ? ROOM : 1));
    /** Where the eye looks beside the place at which it looked at first. */
    this.beside = new THREE.Vector3();
    const ground = height ?? low - 0.04 * size;
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    // As far as lines are seen, and as far as shadows fall: what is not seen takes its time, too.
    this.floor = new THREE.Mesh(new THREE.CircleGeometry(LINES * reach, 64), grid(reach));
    this.shade = new THREE.Mesh(new THREE.CircleGeometry(SHADOWS * reach, 48), new THREE.ShadowMaterial({ opacity: 0.2 }));
    for (const x of [this.floor, this.shade]) {
      x.quaternion.copy(turn);
      x.position.copy(center).addScaledVector(up, ground - center.dot(up));
      x.visible = (heavy || height !== null) && !scene.solids.some((s) => s.kind === "field");
      this.world.add(x);
    }
    this.shade.position.addScaledVector(up, 1e-3 * reach);
    this.shade.receiveShadow = true;
    this.sky = new THREE.HemisphereLight("#ffffff", "#b9b4aa", 1.5);
    this.sky.position.copy(up);
    this.sun = new THREE.DirectionalLight("#fff6e8", 2.6);
    const side = Math.abs(up.z) > 0.5 ? new THREE.Vector3(0.5, -0.75, 0) : new THREE.Vector3(0.45, 0, 0.8);
    this.sun.position.copy(center).addScaledVector(up, 3.2 * reach).addScaledVector(side, 2.6 * reach);
    this.sun.target.position.copy(center);
    this.sun.castShadow = !crowded;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 2.5;
    this.sun.shadow.bias = -4e-4;
    this.sun.shadow.normalBias = 0.01 * reach;
    Object.assign(this.sun.shadow.camera, { left: -2.6 * reach, right: 2.6 * reach, top: 2.6 * reach, bottom: -2.6 * reach, near: 0.01 * reach, far: 12 * reach });
    const fill = new THREE.DirectionalLight("#dfe9ff", 0.7);
    fill.position.copy(center).addScaledVector(side, -3 * reach).addScaledVector(up, reach);
    this.world.add(this.sky, this.sun, this.sun.target, fill);
    this.camera.up.copy(up);
    this.view();
  }


  /** Where one looks from at first: along the normal of a plane, else from the right, the front and above. */
  first() {
    const { up } = this, n = scene.normal;
    if (scene.towards.length) return new THREE.Vector3(...scene.towards);
    const from = new THREE.Vector3();
    if (n !== null && Math.abs(up.getComponent(n)) < 0.5) {
      from.setComponent(n, n === 1 ? -1 : 1);
      const across = [0, 1, 2].find((k) => k !== n && Math.abs(up.getComponent(k)) < 0.5);
      return from.addScaledVector(up, 0.16).add(new THREE.Vector3().setComponent(across, 0.2));
    }
    if (Math.abs(up.z) > 0.5) return from.set(0.62, -1, 0.45).multiply(new THREE.Vector3(1, 1, Math.sign(up.z)));
    return from.set(0.5, 0.3 * Math.sign(up.y || 1), 1);
  }

  /** Heights of what stands over the picture, above and below, and the width of what stands on its right [px]. */
  covered() {
    const { top, bottom, right } = this.canvas.getBoundingClientRect(), found = [0, 0, 0];
    for (const x of document.querySelectorAll(".tools, #told")) {
      const own = x.getBoundingClientRect(), low = own.top + own.bottom > top + bottom;
      if (own.height > own.width) found[2] = Math.max(found[2], right - own.left);
      else if (own.height) found[Number(low)] = Math.max(found[Number(low)], low ? bottom - own.top : own.bottom - top);
    }
    return found;
  }

  /** Look at the machine from a direction, by default as at first; where a body has left what was in view then, at all of them. @param {import("./machine.js").Machine} machine @param {THREE.Vector3} [from] */
  look(machine, from) {
    this.shift(this.beside.clone().negate());
    this.framed = this.corners;
    const first = new THREE.Box3().setFromPoints(this.corners.map((c) => c.clone().add(this.center)));
    const left = machine.carried.some((k) => first.distanceToPoint(new THREE.Vector3().setFromMatrixPosition(machine.frames[k].matrix)) > 0.25 * this.reach);
    const all = machine.box();
    this.beside = left ? all.getCenter(new THREE.Vector3()).sub(this.center) : new THREE.Vector3();
    this.shift(this.beside);
    if (left) this.framed = corners(all).map((c) => c.sub(this.center).multiplyScalar(ROOM));
    this.view(from);
  }

  /** Let eye, light and floor go by so much. @param {THREE.Vector3} move */
  shift(move) {
    for (const x of [this.orbit.target, this.camera.position, this.sun.position, this.sun.target.position, this.center]) x.add(move);
    const along = move.clone().addScaledVector(this.up, -move.dot(this.up));
    for (const x of [this.floor, this.shade]) x.position.add(along);
    this.floor.material.uniforms.shift.value.add(this.local(along));
  }

  /** Look from a direction, by default as at first. @param {THREE.Vector3} [from] */
  view(from = this.first()) {
    /** Where the view comes from, until somebody turns or zooms it. */
    this.from = from;
    const tangent = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2));
    if (from.clone().normalize().cross(this.up).length() < 1e-3) from = from.clone().addScaledVector(new THREE.Vector3(0.3, -1, 0.2).cross(this.up), 1e-3);
    // So far away that all corners are seen, between what stands over the picture.
    const { width, height } = this.canvas.getBoundingClientRect(), [above, below, beside] = this.covered();
    const high = (ROUND * height) / Math.max(height - above - below, 0.4 * height), wide = (ROUND * width) / Math.max(width - beside, 0.4 * width);
    if (height) this.camera.setViewOffset(width, height, beside / 2, (below - above) / 2, width, height);
    const back = from.clone().normalize(), right = this.up.clone().cross(back).normalize(), over = back.clone().cross(right);
    const far = Math.max(...this.framed.map((c) => c.dot(back) + Math.max((wide * Math.abs(c.dot(right))) / this.camera.aspect, high * Math.abs(c.dot(over))) / tangent));
    this.camera.near = Math.max(far - 40 * this.reach, 0.02 * this.reach);
    this.camera.far = far + 60 * this.reach;
    this.camera.updateProjectionMatrix();
    this.orbit.target.copy(this.center);
    this.camera.position.copy(this.center).addScaledVector(from.clone().normalize(), far);
    this.orbit.update();
    this.changed = true;
  }

  /** Perspective, or lines that stay parallel to the eye. @param {boolean} on */
  perspective(on) {
    const from = this.camera.position.clone().sub(this.orbit.target);
    const ratio = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2));
    this.camera.fov = on ? WIDE : NARROW;
    from.multiplyScalar(ratio / Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2)));
    const far = from.length();
    this.camera.near = Math.max(far - 40 * this.reach, 0.02 * this.reach);
    this.camera.far = far + 60 * this.reach;
    this.camera.position.copy(this.orbit.target).add(from);
    this.camera.updateProjectionMatrix();
    this.orbit.update();
    this.changed = true;
  }

  /** Let eye, light and floor go with the middle of the machine, if its motion is long, or it leaves what is in view. @param {THREE.Vector3} place */
  accompany(place) {
    this.follow ||= place.distanceTo(this.seen) > LEFT * this.reach || (this.from !== null && this.outside(place));
    if (!this.follow) return;
    const move = place.clone().sub(this.seen);
    if (this.steady) move.addScaledVector(this.up, -move.dot(this.up));
    this.seen.add(move);
    if (move.lengthSq() > 0) this.shift(move);
    // What is carried away upwards is followed upwards.
    const height = place.dot(this.up), [down, top] = this.heights;
    if (this.steady && (height > top + LEFT * this.reach || height < down - LEFT * this.reach || (this.from !== null && this.outside(place)))) this.steady = false;
  }

  /** Whether a place is not in the picture, or close to its edge. @param {THREE.Vector3} place */
  outside(place) {
    this.camera.updateMatrixWorld();
    const { x, y } = place.clone().project(this.camera);
    return Math.max(Math.abs(x), Math.abs(y)) > EDGE;
  }

  local(move) {
    const own = move.clone().applyQuaternion(this.floor.quaternion.clone().invert());
    return new THREE.Vector2(own.x, own.y);
  }

  /** Colours of the theme. */
  dress() {
    const dark = document.documentElement.dataset.theme === "dark", back = css("--stage");
    this.world.background = new THREE.Color(back);
    const { uniforms } = this.floor.material;
    uniforms.ink.value.set(dark ? "#a9b6c8" : "#4a5361");
    uniforms.strength.value = dark ? 0.3 : 0.3;
    this.shade.material.opacity = dark ? 0.42 : 0.17;
    this.sky.intensity = dark ? 1.15 : 1.75;
    this.sky.groundColor.set(dark ? "#3b4048" : "#c9c4ba");
    this.changed = true;
  }

  /** Whether the picture has another size now, for which it is drawn at once: a canvas is empty after that. */
  resize() {
    if (!this.renderer) return;
    const { width, height } = this.canvas.parentElement.getBoundingClientRect(), size = this.renderer.getSize(new THREE.Vector2());
    if (!width || !height || (size.x === Math.floor(width) && size.y === Math.floor(height))) return;
    this.renderer.setSize(Math.floor(width), Math.floor(height), false);
    this.camera.aspect = width / height;
    if (this.from) this.view(this.from); // all of the machine in a window of another shape, too
    this.camera.updateProjectionMatrix();
    if (this.up) this.render();
    this.changed = true;
  }

  /** Draw with this detail. @param {{shadows: boolean, points: number}} level */
  detail(level) {
    this.sun.castShadow = level.shadows && !crowded;
    this.shade.visible = this.sun.castShadow && this.floor.visible;
    this.points(level);
    this.changed = true;
  }

  /** Points of the picture for one of the window. @param {{points: number}} level */
  points({ points }) {
    this.renderer?.setPixelRatio(this.rough ? points : Math.min(points, devicePixelRatio * Math.min(1, points)));
  }

  /** Let the picture be drawn, at once and beside the script: without a fence it would begin at the end of the frame, for which the script would wait. */
  render() {
    if (!this.renderer) return;
    this.renderer.render(this.world, this.camera);
    const gl = this.renderer.getContext(), fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    gl.deleteSync(fence);
  }
}

/** The distance of lines on the ground, a round number. @param {number} reach */
export function cell(reach) {
  const size = 0.8 * reach, power = 10 ** Math.floor(Math.log10(size)), lead = size / power;
  return power * (lead > 4 ? 2 : lead > 2 ? 1 : 0.5);
}

/** Lines of a floor that fade with the distance. @param {number} reach */
function grid(reach) {
  return new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, side: THREE.DoubleSide,
    uniforms: { cell: { value: cell(reach) }, ink: { value: new THREE.Color() }, reach: { value: LINES * reach }, strength: { value: 0.3 }, shift: { value: new THREE.Vector2() } },
    vertexShader: "varying vec2 p; void main() { p = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: `varying vec2 p; uniform float cell, reach, strength; uniform vec3 ink; uniform vec2 shift;
      float lines(vec2 x, float w) { vec2 g = abs(fract(x - 0.5) - 0.5) / fwidth(x); return 1.0 - min(min(g.x, g.y) / w, 1.0); }
      void main() { float d = length(p) / reach, fade = 1.0 - smoothstep(0.15, 1.0, d); vec2 x = p + shift;
        float a = max(0.45 * lines(x / cell, 1.0), lines(x / cell / 5.0, 1.2)) * fade * strength;
        vec2 w = fwidth(x) / cell; a *= 1.0 - smoothstep(0.15, 0.7, max(w.x, w.y));
        gl_FragColor = vec4(ink, a); }`,
  });
}

// Geometries of solids, about the origin and along z.
import * as THREE from "three";
import { ConvexGeometry } from "three/examples/jsm/geometries/ConvexGeometry.js";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import { mergeGeometries, mergeVertices, toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { data } from "./data.js";

/** Bodies beyond which a machine is a crowd, whose solids are plain, and each of equal sizes is made once. */
const CROWD = 100;
export const crowded = data.scene.bodies?.length > CROWD;
const AROUND = crowded ? 8 : 40, OVER = crowded ? 6 : 24;
const made = new Map();

/** A geometry by its sizes, in a crowd the same for equal ones. @template {number[]} A @param {(...sizes: A) => THREE.BufferGeometry} make @returns {(...sizes: A) => THREE.BufferGeometry} */
function shared(make) {
  return (...sizes) => {
    if (!crowded) return make(...sizes);
    const key = `${make.name} ${sizes.map((x) => x.toPrecision(7)).join(" ")}`;
    if (!made.has(key)) made.set(key, make(...sizes));
    return made.get(key);
  };
}

/** A geometry with a plainer one, for a crowd whose frames come late. */
function plainer(geometry, plain) {
  if (crowded) geometry.userData.plain = plain();
  return geometry;
}

export const sphere = shared(function sphere(r) {
  return plainer(new THREE.SphereGeometry(r, AROUND, OVER), () => new THREE.SphereGeometry(r, 5, 3));
});
/** A ball of a crowd with two dark meridians, by which one sees it turn. */
export const marked = shared(function marked(r) {
  const shaded = (around, over) => {
    const made = new THREE.SphereGeometry(r, around, over), { array: p } = made.getAttribute("position");
    return made.setAttribute("color", new THREE.BufferAttribute(Float32Array.from(p, (_, k) => (p[k - (k % 3)] * p[k - (k % 3) + 2] < -0.1 * r * r ? 0.4 : 1)), 3));
  };
  return plainer(shaded(AROUND, OVER), () => shaded(5, 3));
});
export const cylinder = shared(function cylinder(r, length, tip = r, around = AROUND) {
  const long = length > 4 * Math.max(r, tip); // whose ends are not missed
  return plainer(new THREE.CylinderGeometry(tip, r, length, crowded ? AROUND : around).rotateX(Math.PI / 2), () => new THREE.CylinderGeometry(tip, r, length, long ? 3 : 6, 1, long).rotateX(Math.PI / 2));
});
export const box = shared(function box(x, y, z) {
  return crowded ? new THREE.BoxGeometry(x, y, z) : new RoundedBoxGeometry(x, y, z, 3, 0.06 * Math.min(x, y, z));
});
export const ellipsoid = shared(function ellipsoid(x, y, z) {
  return plainer(new THREE.SphereGeometry(1, AROUND, OVER).scale(x, y, z), () => new THREE.SphereGeometry(1, 5, 3).scale(x, y, z));
});
export const torus = shared(function torus(r, tube) {
  return new THREE.TorusGeometry(r, tube, crowded ? 8 : 20, 2 * AROUND);
});
export const capsule = shared(function capsule(r, length) {
  const made = crowded ? new THREE.CylinderGeometry(r, r, length + r, 6) : new THREE.CapsuleGeometry(r, length, 10, 24);
  return plainer(made.rotateX(Math.PI / 2), () => new THREE.CylinderGeometry(r, r, length + r, 3, 1, true).rotateX(Math.PI / 2));
});
/** A rod from the origin to (0, 1, 0), to be stretched. */
export const post = shared(function post(r) {
  return plainer(new THREE.CylinderGeometry(r, r, 1, crowded ? 5 : 20, 1, crowded).translate(0, 0.5, 0), () => new THREE.CylinderGeometry(r, r, 1, 3, 1, true).translate(0, 0.5, 0));
});
export const disk = (r, thickness = 0.06 * r) => cylinder(r, thickness, r, 64);

/** A spoked wheel. */
export function wheel(r) {
  const parts = [torus(0.965 * r, 0.035 * r), cylinder(0.09 * r, 0.16 * r)];
  for (let k = 0; k < 9; k++) {
    const spoke = new THREE.CylinderGeometry(0.014 * r, 0.014 * r, 0.95 * r, 8).translate(0, 0.475 * r, 0);
    parts.push(spoke.rotateZ((2 * Math.PI * k) / 9));
  }
  return mergeGeometries(parts);
}

/** A helical spring from the origin to (0, 1, 0), to be stretched. */
export const coil = shared(function coil(radius, wire, turns = crowded ? 5 : 8) {
  const points = [], each = crowded ? 5 : 20, n = turns * each;
  for (let k = 0; k <= n; k++) {
    const s = k / n, r = radius * Math.min(1, 9 * Math.min(s, 1 - s)), a = 2 * Math.PI * turns * s;
    points.push(new THREE.Vector3(r * Math.cos(a), s, r * Math.sin(a)));
  }
  return plainer(new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), n, wire, crowded ? 3 : 7), () => post(0.6 * radius).userData.plain);
});

/** The convex hull of points; of points in a plane or a line a ball. @param {THREE.Vector3[]} points */
export function hull(points) {
  const found = new ConvexGeometry(points);
  return found.getAttribute("position")?.count ? found : sphere(0);
}

/** A mesh of a file, its edges sharp, its vertices each once. @param {import("./data.js").Skin} skin @param {THREE.Vector3} scale which may mirror it */
export function mesh(skin, scale) {
  const from = skin.vertices, position = new Float32Array(from.length);
  for (let k = 0; k < from.length; k++) position[k] = from[k] / 65535;
  const made = new THREE.BufferGeometry();
  made.setAttribute("position", new THREE.BufferAttribute(position, 3));
  made.setIndex(new THREE.BufferAttribute(skin.triangles, 1));
  const whole = mergeVertices(toCreasedNormals(made, 0.6), 1e-5); // less than a step of 16 bits
  if (scale.x * scale.y * scale.z < 0) whole.getIndex().array.reverse();
  whole.userData.skin = true;
  return whole.scale(skin.size, skin.size, skin.size).translate(...skin.low).scale(scale.x, scale.y, scale.z);
}

/** A mesh of fewer vertices: those in a cell of this size are one, with a normal for each side of it. @param {THREE.BufferGeometry} geometry @param {number} cell */
export function clustered(geometry, cell) {
  const at = geometry.getAttribute("position"), normal = geometry.getAttribute("normal"), index = geometry.getIndex(), room = new THREE.Box3().setFromBufferAttribute(at), { min } = room;
  const cells = new Map(), corners = new Map(), corner = new Uint32Array(at.count), of = [], place = [], upright = [];
  const whole = (x, low) => Math.floor((x - low) / cell);
  for (let k = 0; k < at.count; k++) {
    const x = [at.getX(k), at.getY(k), at.getZ(k)], n = [normal.getX(k), normal.getY(k), normal.getZ(k)];
    const key = (whole(x[0], min.x) * 8192 + whole(x[1], min.y)) * 8192 + whole(x[2], min.z);
    if (!cells.has(key)) {
      cells.set(key, place.length);
      place.push([0, 0, 0, 0]);
    }
    const c = cells.get(key), sum = place[c], sizes = n.map(Math.abs), axis = sizes.indexOf(Math.max(...sizes));
    for (let i = 0; i < 3; i++) sum[i] += x[i];
    sum[3]++;
    const side = 6 * c + 2 * axis + Number(n[axis] < 0);
    if (!corners.has(side)) {
      corners.set(side, of.length);
      of.push(c);
      upright.push([0, 0, 0]);
    }
    corner[k] = corners.get(side);
    for (let i = 0; i < 3; i++) upright[corner[k]][i] += n[i];
  }
  const faces = [], known = new Set(); // of faces that have become one, the first
  for (let k = 0; k < index.count; k += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => corner[index.getX(k + i)]), at = [of[a], of[b], of[c]];
    if (new Set(at).size < 3) continue;
    const first = at.indexOf(Math.min(...at)), key = [0, 1, 2].map((i) => at[(first + i) % 3]).join(" ");
    if (known.has(key)) continue;
    known.add(key);
    faces.push(a, b, c);
  }
  if (!faces.length) {
    const { x, y, z } = room.getSize(new THREE.Vector3());
    return new THREE.BoxGeometry(x, y, z).translate(...room.getCenter(new THREE.Vector3()).toArray());
  }
  if (of.length > 0.7 * at.count) return geometry;
  const made = new THREE.BufferGeometry().setIndex(faces);
  made.setAttribute("position", new THREE.Float32BufferAttribute(of.flatMap((c) => place[c].slice(0, 3).map((x) => x / place[c][3])), 3));
  made.setAttribute("normal", new THREE.Float32BufferAttribute(upright.flatMap((n) => n.map((x) => x / (Math.hypot(...n) || 1))), 3));
  return made;
}

/** Solids by kind, from their sizes. */
export const SOLIDS = { box, sphere, cylinder, capsule, ellipsoid, disk, wheel, torus };

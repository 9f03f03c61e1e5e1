// Geometries of solids, about the origin and along z.
import * as THREE from "three";
import { ConvexGeometry } from "three/examples/jsm/geometries/ConvexGeometry.js";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import { mergeGeometries, toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { bytes } from "./data.js";

const AROUND = 40;

export const sphere = (r) => new THREE.SphereGeometry(r, AROUND, 24);
export const cylinder = (r, length, tip = r, around = AROUND) => new THREE.CylinderGeometry(tip, r, length, around).rotateX(Math.PI / 2);
export const box = (x, y, z) => new RoundedBoxGeometry(x, y, z, 3, 0.06 * Math.min(x, y, z));
export const ellipsoid = (x, y, z) => new THREE.SphereGeometry(1, AROUND, 28).scale(x, y, z);
export const torus = (r, tube) => new THREE.TorusGeometry(r, tube, 20, 80);
export const capsule = (r, length) => new THREE.CapsuleGeometry(r, length, 10, 24).rotateX(Math.PI / 2);
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
export function coil(radius, wire, turns = 8) {
  const points = [], n = turns * 20;
  for (let k = 0; k <= n; k++) {
    const s = k / n, r = radius * Math.min(1, 9 * Math.min(s, 1 - s)), a = 2 * Math.PI * turns * s;
    points.push(new THREE.Vector3(r * Math.cos(a), s, r * Math.sin(a)));
  }
  return new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), n, wire, 7);
}

/** The convex hull of points; of points in a plane or a line a ball. @param {THREE.Vector3[]} points */
export function hull(points) {
  const found = new ConvexGeometry(points);
  return found.getAttribute("position")?.count ? found : sphere(0);
}

/** A mesh of a file. @param {{low: number[], size: number, vertices: string, triangles: string}} skin */
export function mesh(skin) {
  const words = (text) => new Uint16Array(bytes(text).buffer);
  const from = words(skin.vertices), position = new Float32Array(from.length);
  for (let k = 0; k < from.length; k++) position[k] = skin.low[k % 3] + (from[k] / 65535) * skin.size;
  const made = new THREE.BufferGeometry();
  made.setAttribute("position", new THREE.BufferAttribute(position, 3));
  made.setIndex(new THREE.BufferAttribute(words(skin.triangles), 1));
  return toCreasedNormals(made, 0.6);
}

/** Solids by kind, from their sizes. */
export const SOLIDS = { box, sphere, cylinder, capsule, ellipsoid, disk, wheel, torus };

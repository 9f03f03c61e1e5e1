// Many solids as few objects of the renderer, and what a processor that draws them is spared.
import * as THREE from "three";
import { software } from "./graphics.js";

const A = new THREE.Vector3();

/** A solid on a frame, or between two. @typedef {{mesh: THREE.Mesh, frame?: number, own?: THREE.Matrix4, between?: object}} Member */

/** Where a solid is now; one that is not seen has no size. @param {Member} member @param {THREE.Group[]} frames @param {THREE.Matrix4} to */
function placed({ mesh, frame, own, between }, frames, to) {
  if (!between) return to.multiplyMatrices(frames[frame].matrix, own);
  return mesh.visible ? mesh.matrix : to.makeScale(0, 0, 0);
}

/** Solids of equal shape, which a graphics card draws at once; they have neither gloss nor shadows. */
class Instances {
  /** @param {Member[]} list */
  constructor(list) {
    const [{ mesh }] = list;
    this.list = list;
    this.whole = mesh.geometry;
    this.material = new THREE.MeshLambertMaterial({ side: mesh.material.side, vertexColors: "color" in mesh.geometry.attributes });
    this.mesh = new THREE.InstancedMesh(mesh.geometry, this.material, list.length);
    this.mesh.frustumCulled = false;
    list.forEach((x, k) => this.mesh.setColorAt(k, x.mesh.material.color));
    this.matrix = new THREE.Matrix4();
  }

  /** @param {{whole: boolean}} level */
  detail({ whole }) {
    this.mesh.geometry = whole ? this.whole : this.whole.userData.plain ?? this.whole;
  }

  /** @param {THREE.Group[]} frames */
  pose(frames) {
    this.list.forEach((x, k) => this.mesh.setMatrixAt(k, placed(x, frames, this.matrix)));
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.boundingSphere = null;
    this.mesh.computeBoundingBox();
  }

  /** A graphics card leaves out what shows its back by itself. */
  face() {}

  /** The number in the list of what a ray has met. @param {THREE.Intersection} hit */
  member(hit) {
    return hit.instanceId;
  }

  dispose() {
    this.mesh.dispose();
    this.material.dispose();
  }
}

/** Solids of any shape as one mesh, whose vertices the script places and lights: a program that stands in for a graphics card draws equal
 * solids one by one, and lights all points of the picture. */
class Gathered {
  /** @param {Member[]} list */
  constructor(list) {
    this.list = list;
    this.material = new THREE.MeshBasicMaterial({ side: list[0].mesh.material.side, vertexColors: true });
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), this.material);
    this.mesh.frustumCulled = false;
    this.matrix = new THREE.Matrix4();
    this.parts = list.map(({ mesh }) => mesh.geometry);
    this.gather();
  }

  /** @param {{whole: boolean, trifles: boolean}} level */
  detail({ whole, trifles }) {
    const parts = this.list.map(({ mesh }) => {
      if (mesh.userData.trifle && !trifles) return null;
      return whole ? mesh.geometry : mesh.geometry.userData.plain ?? mesh.geometry;
    });
    if (parts.every((x, k) => x === this.parts[k])) return;
    this.parts = parts;
    this.gather();
  }

  /** Room for the vertices of all solids, and their triangles. */
  gather() {
    const count = (x) => x?.getAttribute("position").count ?? 0, corners = (x) => (x ? x.getIndex()?.count ?? count(x) : 0);
    const vertices = this.parts.reduce((sum, x) => sum + count(x), 0), all = this.parts.reduce((sum, x) => sum + corners(x), 0);
    /** Of each solid where it is, its first vertex, and its first corner among those that are drawn. */
    this.places = new Float64Array(16 * this.parts.length);
    this.base = [];
    this.first = [];
    let base = 0;
    for (const part of this.parts) {
      this.base.push(base);
      base += count(part);
    }
    this.mesh.geometry.dispose();
    const made = (this.mesh.geometry = new THREE.BufferGeometry());
    made.setIndex(new THREE.BufferAttribute(new Uint32Array(all), 1).setUsage(THREE.DynamicDrawUsage));
    for (const name of ["position", "color"]) made.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * vertices), 3).setUsage(THREE.DynamicDrawUsage));
  }

  /** @param {THREE.Group[]} frames @param {THREE.Light[]} lights */
  pose(frames, lights) {
    const { geometry } = this.mesh, { array: place } = geometry.getAttribute("position"), { array: colour } = geometry.getAttribute("color");
    const shine = lit(lights);
    let w = 0;
    this.parts.forEach((part, k) => {
      if (!part) return;
      const { mesh, between } = this.list[k], { elements: m } = placed(this.list[k], frames, this.matrix), { array: p } = part.getAttribute("position");
      this.places.set(m, 16 * k);
      shine(m, Boolean(between), part, mesh.material.color, colour, w);
      for (let i = 0; i < p.length; i += 3, w += 3) {
        for (let j = 0; j < 3; j++) place[w + j] = m[j] * p[i] + m[4 + j] * p[i + 1] + m[8 + j] * p[i + 2] + m[12 + j];
      }
    });
    for (const name of ["position", "color"]) geometry.getAttribute(name).needsUpdate = true;
    geometry.boundingSphere = geometry.boundingBox = null;
  }

  /** Draw the triangles that show their front to an eye: the others take their time, too. @param {THREE.Vector3} eye */
  face(eye) {
    const { geometry } = this.mesh, index = geometry.getIndex(), { array } = index, both = this.material.side !== THREE.FrontSide;
    let at = 0;
    this.parts.forEach((part, k) => {
      this.first[k] = at;
      if (!part) return;
      const own = this.matrix.fromArray(this.places, 16 * k), seen = own.determinant() > 0, { x, y, z } = A.copy(eye).applyMatrix4(own.invert()), { planes, corners } = triangles(part), base = this.base[k];
      for (let i = 0, j = 0; seen && i < planes.length; i += 4, j += 3) {
        if (!both && planes[i] * x + planes[i + 1] * y + planes[i + 2] * z <= planes[i + 3]) continue;
        array[at++] = base + corners[j];
        array[at++] = base + corners[j + 1];
        array[at++] = base + corners[j + 2];
      }
    });
    geometry.setDrawRange(0, at);
    index.clearUpdateRanges();
    index.addUpdateRange(0, at);
    index.needsUpdate = true;
  }

  /** @param {THREE.Intersection} hit */
  member(hit) {
    let low = 0, high = this.first.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.first[middle] <= 3 * hit.faceIndex) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  dispose() {
    this.mesh.geometry.dispose();
    this.material.dispose();
  }
}

/** The plane of each triangle of a geometry (normal, distance from the origin), and its corners. @param {THREE.BufferGeometry} part */
function triangles(part) {
  return (part.userData.triangles ??= (() => {
    const at = part.getAttribute("position"), corners = part.getIndex()?.array ?? Uint32Array.from({ length: at.count }, (_, k) => k), planes = new Float64Array((4 * corners.length) / 3);
    for (let k = 0; k < corners.length; k += 3) {
      const [a, b, c] = [0, 1, 2].map((i) => new THREE.Vector3().fromBufferAttribute(at, corners[k + i]));
      const n = b.sub(a).cross(c.sub(a));
      planes.set([n.x, n.y, n.z, n.dot(a)], (4 * k) / 3);
    }
    return { planes, corners };
  })());
}

/** A function that writes the colours of a dull solid in the light of the scene, as Lambert's law and the renderer have it, from its matrix, whether that
 * stretches it, its geometry, whose vertices may have shades of their own, and its colour. @param {THREE.Light[]} lights */
function lit(lights) {
  const sky = lights.find((x) => x.isHemisphereLight), half = sky ? sky.intensity / (2 * Math.PI) : 0, white = new THREE.Color(1, 1, 1), black = new THREE.Color(0, 0, 0);
  const above = sky ? sky.color.clone().multiplyScalar(half) : white.clone().multiplyScalar(0.5), below = sky ? sky.groundColor.clone().multiplyScalar(half) : above;
  // The sky is the mean of its two colours and half their difference along its axis; a sun gives nothing from behind.
  const mean = above.clone().add(below), sides = above.clone().sub(below);
  const from = [{ d: sky ? sky.position.clone().normalize() : new THREE.Vector3(), c: sky ? sides : black, least: -1 }];
  for (const x of lights.filter((x) => x.isDirectionalLight)) from.push({ d: x.position.clone().sub(x.target.position).normalize(), c: x.color.clone().multiplyScalar(x.intensity / Math.PI), least: 0 });
  /** Directions to the lights in axes of the solid. */
  const own = new Float64Array(3 * from.length);
  return (m, stretched, part, tint, to, at) => {
    const { array: n } = part.getAttribute("normal"), shades = part.getAttribute("color")?.array;
    from.forEach(({ d }, l) => { for (let j = 0; j < 3; j++) own[3 * l + j] = m[4 * j] * d.x + m[4 * j + 1] * d.y + m[4 * j + 2] * d.z; });
    for (let i = 0; i < n.length; i += 3) {
      const x = n[i], y = n[i + 1], z = n[i + 2];
      // Of what is stretched along its length the sides keep their normals.
      const size = stretched ? Math.hypot(m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z) || 1 : 1;
      let { r, g, b } = mean;
      for (let l = 0; l < from.length; l++) {
        const { c, least } = from[l], along = (own[3 * l] * x + own[3 * l + 1] * y + own[3 * l + 2] * z) / size;
        if (along > least) {
          r += along * c.r;
          g += along * c.g;
          b += along * c.b;
        }
      }
      const shade = shades ? shades[i] : 1;
      to[at + i] = r * tint.r * shade;
      to[at + i + 1] = g * tint.g * shade;
      to[at + i + 2] = b * tint.b * shade;
    }
  };
}

/** Solids as few objects. @param {Member[]} members @returns {(Instances | Gathered)[]} */
export function crowds(members) {
  const gathered = software(), groups = new Map();
  for (const member of members) {
    const { geometry, material, userData } = member.mesh, key = [gathered || geometry.uuid, Boolean(userData.rail), material.side].join(" ");
    if (groups.has(key)) groups.get(key).push(member);
    else groups.set(key, [member]);
  }
  return [...groups.values()].map((list) => {
    const made = new (gathered ? Gathered : Instances)(list);
    made.mesh.userData = { rail: list[0].mesh.userData.rail, crowd: made };
    return made;
  });
}

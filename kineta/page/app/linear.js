// Small linear algebra, and the median.
import * as THREE from "three";

/** Principal moments and right-handed axes of a symmetric tensor xx yy zz xy xz yz, by Jacobi's rotations; moments rise. */
export function principal([a, b, c, ab, ac, bc]) {
  const A = [[a, ab, ac], [ab, b, bc], [ac, bc, c]], V = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 20; sweep++) {
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(A[p][q]) <= 1e-15 * (Math.abs(A[p][p]) + Math.abs(A[q][q]))) continue;
      const angle = (A[q][q] - A[p][p]) / (2 * A[p][q]);
      const t = Math.sign(angle || 1) / (Math.abs(angle) + Math.hypot(angle, 1)), cos = 1 / Math.hypot(t, 1), sin = t * cos;
      for (const M of [A, V]) {
        for (let k = 0; k < 3; k++) {
          const x = M[k][p], y = M[k][q];
          M[k][p] = cos * x - sin * y;
          M[k][q] = sin * x + cos * y;
        }
      }
      for (let k = 0; k < 3; k++) {
        const x = A[p][k], y = A[q][k];
        A[p][k] = cos * x - sin * y;
        A[q][k] = sin * x + cos * y;
      }
    }
  }
  const order = [0, 1, 2].sort((i, j) => A[i][i] - A[j][j]);
  const axes = order.map((i) => new THREE.Vector3(V[0][i], V[1][i], V[2][i]));
  if (axes[0].clone().cross(axes[1]).dot(axes[2]) < 0) axes[2].negate();
  return { moments: order.map((i) => A[i][i]), axes };
}

/** The turn that brings z to a direction. @param {THREE.Vector3} direction */
export function along(direction) {
  const z = direction.lengthSq() > 0 ? direction.clone().normalize() : new THREE.Vector3(0, 0, 1);
  return new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), z);
}

/** The middle of numbers in order, of an even count the mean of the two. @param {number[]} x */
export function median(x) {
  const all = x.toSorted((a, b) => a - b), half = all.length >> 1;
  return all.length % 2 ? all[half] : 0.5 * (all[half - 1] + all[half]);
}

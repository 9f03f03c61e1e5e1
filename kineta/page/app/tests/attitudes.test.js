// Attitudes as angles.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Euler, Quaternion, Vector3 } from "three";
import { Attitude, SERIES, attitudes } from "../attitudes.js";

const near = (a, b, slack = 1e-12) => assert.ok(Math.abs(a - b) <= slack, `${a} is not ${b}`);
const ENDS = Object.keys(SERIES), FULL = 2 * Math.PI;
/** The series of attitudes, by the ends of their names. @param {Quaternion[]} turns */
function found(turns) {
  const columns = ["w", "x", "y", "z"].map((axis) => Float64Array.from(turns, (q) => q[axis])), made = new Attitude();
  return Object.fromEntries(ENDS.map((end, k) => [end, made.column(k, columns, turns.length)]));
}
const about = (axis, angle) => new Quaternion().setFromAxisAngle(new Vector3(...axis), angle);
const same = (a, b, slack = 1e-12) => near(Math.abs(a.dot(b)), 1, slack);

test("angles of all kinds rebuild the attitude", () => {
  for (let k = 0; k < 200; k++) {
    const q = new Quaternion().random(), x = Object.fromEntries(Object.entries(found([q])).map(([end, [value]]) => [end, value]));
    same(new Quaternion().setFromEuler(new Euler(x.roll, x.pitch, x.yaw, "ZYX")), q);
    same(about([0, 0, 1], x.precession).multiply(about([1, 0, 0], x.nutation)).multiply(about([0, 0, 1], x.spin)), q);
    same(about([x.axis_x, x.axis_y, x.axis_z], x.angle), q);
    assert.ok(x.angle >= 0 && x.angle <= Math.PI && x.nutation >= 0);
  }
});

test("where two turns are about one axis the first stays as it was", () => {
  for (const [pitch, nutation] of [[Math.PI / 2, 0], [-Math.PI / 2, Math.PI]]) {
    const bryan = (roll, yaw) => new Quaternion().setFromEuler(new Euler(roll, pitch, yaw, "ZYX"));
    const a = found([new Quaternion().setFromEuler(new Euler(0.4, 0.9 * pitch, 0.7, "ZYX")), bryan(0.4, 0.7), bryan(0.4, 0.9)]);
    [0.7, 0.7, 0.9].forEach((yaw, k) => near(a.yaw[k], yaw, 1e-7));
    near(a.roll[2], 0.4, 1e-7);
    const euler = (spin, tilt) => about([0, 0, 1], 0.3).multiply(about([1, 0, 0], tilt)).multiply(about([0, 0, 1], spin));
    const b = found([euler(0.2, nutation ? 3 : 0.1), euler(0.2, nutation), euler(0.5, nutation)]);
    [0.2, 0.2, 0.5].forEach((spin, k) => near(b.spin[k], spin, 1e-7));
    near(b.precession[2], 0.3, 1e-7);
  }
});

test("turns go on beyond half a turn, about an axis that keeps its sense", () => {
  const axis = new Vector3(1, -2, 2).normalize().toArray(), angles = Array.from({ length: 90 }, (_, k) => 0.2 * k);
  for (const sign of [1, -1]) {
    const x = found(angles.map((angle) => about(axis, sign * angle)));
    angles.forEach((angle, k) => near(x.angle[k], angle, 1e-10));
    assert.deepEqual([x.axis_x[50], x.axis_y[50]].map((a) => Number((sign * a).toFixed(9))), axis.slice(0, 2).map((a) => Number(a.toFixed(9))));
    near(x.axis_z[0], sign * axis[2]); // before it has turned, that about which it will
  }
  const yaw = found(angles.map((angle) => about([0, 0, 1], angle))).yaw;
  near(yaw.at(-1), 0.2 * 89, 1e-10);
  near(yaw.at(-1) % FULL, (0.2 * 89) % FULL, 1e-10);
});

test("samples are found as they come, and names that are taken are left", () => {
  const q = new Quaternion().random(), columns = ["w", "x", "y", "z"].map((axis) => new Float64Array(4).fill(q[axis])), made = new Attitude();
  assert.equal(made.column(2, columns, 1).length, 1);
  assert.equal(made.column(2, columns, 4)[3], made.column(2, columns, 1)[0]);
  const [{ body, places, series }] = attitudes(["x", "B.qw", "B.qx", "B.qy", "B.qz"], ["B.angle"]);
  assert.deepEqual([body, places, series.map((s) => s.name).includes("B.angle"), series.length], ["B", [1, 2, 3, 4], false, ENDS.length - 1]);
});

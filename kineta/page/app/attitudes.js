// Attitudes that are quaternions, as angles that are read: those of sliders, Euler's, and the turn about one axis.

/** Series of an attitude by the ends of their names, with their units: turns about the axes of the body that lead to it, about z, then the new y, then
 * the new x; about z, then the new x, then the new z; by an angle about an axis. */
export const SERIES = { roll: "rad", pitch: "rad", yaw: "rad", precession: "rad", nutation: "rad", spin: "rad", angle: "rad", axis_x: "", axis_y: "", axis_z: "" };
const ENDS = Object.keys(SERIES);
/** Of these, those that go on beyond half a turn. */
const ROUND = ENDS.map((end) => SERIES[end] === "rad" && end !== "pitch" && end !== "nutation");
/** Sines of angles below which two of the turns are about one axis. */
const SINGULAR = 1e-7;
const TURN = 2 * Math.PI;

/** Roll, pitch and yaw. @param {number[]} quaternion w, x, y, z @param {number[] | null} before the angles a sample earlier */
function bryan([w, x, y, z], before) {
  const sine = 2 * (w * y - z * x), across = w * w + x * x - y * y - z * z, up = 2 * (w * z + x * y), cosine = Math.hypot(across, up), pitch = Math.atan2(sine, cosine);
  if (cosine > SINGULAR) return [Math.atan2(2 * (w * x + y * z), w * w - x * x - y * y + z * z), pitch, Math.atan2(up, across)];
  const roll = before?.[0] ?? 0, both = 2 * Math.atan2(x, w); // of which there is one turn only
  return [roll, pitch, sine > 0 ? roll - both : both - roll];
}

/** Precession, nutation and spin. @param {number[]} quaternion w, x, y, z @param {number[] | null} before the angles a sample earlier */
function euler([w, x, y, z], before) {
  const across = Math.hypot(x, y), along = Math.hypot(w, z), nutation = 2 * Math.atan2(across, along);
  const sum = 2 * Math.atan2(z, w), difference = 2 * Math.atan2(y, x), first = before?.[0] ?? 0;
  if (across < SINGULAR) return [first, nutation, sum - first];
  if (along < SINGULAR) return [first, nutation, first - difference];
  return [(sum + difference) / 2, nutation, (sum - difference) / 2];
}

/** The angle and the axis, which goes on as a sample earlier. @param {number[]} quaternion w, x, y, z @param {number[]} axis a sample earlier */
function turn([w, x, y, z], axis) {
  const size = Math.hypot(x, y, z);
  if (!(size > SINGULAR)) return [w < 0 ? TURN : 0, ...axis];
  const sign = x * axis[0] + y * axis[1] + z * axis[2] < 0 ? -1 : 1;
  return [2 * Math.atan2(sign * size, w), ...[x, y, z].map((a) => (sign * a) / size)];
}

/** The axis of the first attitude that is turned, about which it is turned by less than half a turn. @param {Float64Array[]} columns of w, x, y, z @param {number} rows */
function firstAxis([w, ...across], rows) {
  for (let k = 0; k < rows; k++) {
    const size = Math.hypot(...across.map((x) => x[k]));
    if (size > SINGULAR) return across.map((x) => (Math.sign(w[k]) || 1) * (x[k] / size));
  }
  return [0, 0, 1];
}

/** Series of the attitude of a body along a motion, in the order of {@link SERIES}, found sample by sample as they are asked for. */
export class Attitude {
  constructor() {
    Object.assign(this, { rows: 0, columns: ENDS.map(() => new Float64Array(0)) });
  }

  /** A column as long as the motion. @param {number} place @param {Float64Array[]} quaternion columns of w, x, y, z @param {number} rows */
  column(place, quaternion, rows) {
    if (this.columns[0].length < rows) this.columns = this.columns.map((old) => {
      const made = new Float64Array(Math.max(rows, 2 * old.length));
      made.set(old);
      return made;
    });
    for (; this.rows < rows; this.rows++) this.put(quaternion, rows);
    return this.columns[place].subarray(0, rows);
  }

  /** The series of a quaternion that follows the values before it, or begins about an axis. */
  found(now, before, axis = before.slice(7)) {
    const all = [...bryan(now, before), ...euler(now, before?.slice(3, 6)), ...turn(now, axis)];
    return all.map((x, i) => (ROUND[i] ? x + TURN * Math.round(((before?.[i] ?? 0) - x) / TURN) : x));
  }

  put(quaternion, rows) {
    const k = this.rows, now = quaternion.map((x) => x[k]), before = k ? this.columns.map((x) => x[k - 1]) : null;
    this.found(now, before, before ? before.slice(7) : firstAxis(quaternion, rows)).forEach((x, i) => { this.columns[i][k] = x; });
  }

  /** A series at a quaternion behind a sample whose series are known. @param {number} place @param {number[]} quaternion w, x, y, z @param {number} row */
  at(place, quaternion, row) {
    return this.found(quaternion, this.columns.map((x) => x[row]))[place];
  }
}

/** Bodies whose attitudes are quaternions, with their series, those of names that nothing else has. @param {string[]} q coordinates @param {string[]} taken names of other series */
export function attitudes(q, taken = []) {
  return q.filter((name) => name.endsWith(".qw")).map((name) => {
    const body = name.slice(0, -3), places = [..."wxyz"].map((axis) => q.indexOf(`${body}.q${axis}`));
    const series = ENDS.map((end, place) => ({ name: `${body}.${end}`, unit: SERIES[end], place })).filter((x) => !taken.includes(x.name));
    return { body, places, series };
  });
}

// Lines of many samples with as many points as are seen.

/** The first row of each of some parts of so many rows, and their number behind them. @param {number} rows @param {number} parts */
const bounds = (rows, parts) => Uint32Array.from({ length: parts + 1 }, (_, k) => Math.floor((k * rows) / parts));

/** Times of a line: of all samples, or where there are more than two for each of some parts, of the first and the middle one of each. @param {Float64Array} t @param {number} parts */
export function instants(t, parts) {
  if (t.length <= 2 * parts) return t.slice();
  const ends = bounds(t.length, parts);
  return Float64Array.from({ length: 2 * parts }, (_, k) => t[k % 2 ? (ends[k >> 1] + ends[(k >> 1) + 1]) >> 1 : ends[k >> 1]]);
}

/** Values of a line at these times: of all samples, or the smallest and the largest of each part in their order, so that no peak is lost. @param {Float64Array} x @param {number} parts */
export function extremes(x, parts) {
  if (x.length <= 2 * parts) return x.slice();
  const ends = bounds(x.length, parts), made = new Float64Array(2 * parts);
  for (let k = 0; k < parts; k++) {
    let low = ends[k], high = low;
    for (let i = low + 1; i < ends[k + 1]; i++) {
      if (x[i] < x[low]) low = i;
      else if (x[i] > x[high]) high = i;
    }
    made[2 * k] = x[Math.min(low, high)];
    made[2 * k + 1] = x[Math.max(low, high)];
  }
  return made;
}

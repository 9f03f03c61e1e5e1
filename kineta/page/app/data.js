// What Python has put into the page.

/**
 * @typedef {{low: number[], size: number, closed: boolean, vertices: Uint16Array | number, triangles: Uint16Array | number}} Skin numbers of them in the page, then they
 *   themselves
 * @typedef {{kind: string, frame: number, to: number, owner: string, part: string, name: string, colour: string,
 *   numbers: Record<string, number[]>, skin: Skin | null}} Solid
 * @typedef {{bodies: string[], owners: string[], places: Record<string, number>, solids: Solid[], surfaces: string, normal: number | null,
 *   up: number[], towards: number[], waves: boolean, trails: {name: string, at: number[]}[], arrows: {name: string, at: number[], force: number[]}[],
 *   touches: {name: string, at: number[], axes: number[], friction: number[]}[],
 *   hinges: Record<string, number>, numbers: number, radius: number, size: number, palette: string[], triad: string[],
 *   colours: Record<string, string>}} SceneData
 * @typedef {{rows: number, columns: Record<string, [number, number, number]>, codes: string}} Samples least and largest value of each series, and the order
 *   of the differences of which its codes consist, -1 where all values are equal
 * @typedef {{name: string, sample: number, place: number[], normal: number[], friction: number, body: number, sign: number}} Pressed
 * @typedef {{pairs: [string, number, number, number, number][], low: number[], size: number, codes: string}} Pressing
 * @typedef {{samples: Samples, series: Map<string, Float64Array>, pressing: Pressing | null, pressed: Pressed[], changes: [number, string][], message: string, thinned: string,
 *   steps: number, balance: number, failed: boolean}} Recorded
 */

/** @type {{model: string, wasm: string, q: string[], states: string[], v: string[], units: Record<string, string>, t: [number, number], fit: boolean,
 *   labels: Record<string, string>, start: {q: number[], v: number[]}, parameters: {name: string, value: number, unit: string}[], scene: SceneData,
 *   module: {known: any, arena: Record<string, number>}, recorded: Recorded | null, why: string, notes: string[]}} */
export const data = JSON.parse(document.getElementById("data").textContent);

/** Whether the run is computed in the page. */
export const live = data.why === "";

/** Steps of a recorded series from its least to its largest value, and bytes of its codes. */
const STEPS = 2 ** 40 - 2, CODE = 6;

/** What is compressed in a text in base 64. @param {string} text @returns {Promise<Uint8Array>} */
export async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());
}

/** The series of a recorded run by name. @param {Samples} samples @param {Uint8Array} codes @returns {Map<string, Float64Array>} */
export function series({ rows, columns }, codes) {
  let at = 0;
  return new Map(Object.entries(columns).map(([name, [low, high, order]]) => {
    const x = new Float64Array(rows);
    if (order < 0) return [name, x.fill(low)];
    for (let k = 0; k < rows; k++) {
      let code = 0;
      for (let b = CODE - 1; b >= 0; b--) code = 256 * code + codes[at + b * rows + k];
      x[k] = code % 2 ? -(code + 1) / 2 : code / 2;
    }
    at += CODE * rows;
    for (let d = 0; d < order; d++) for (let k = 1; k < rows; k++) x[k] += x[k - 1];
    return [name, x.map((code) => (code ? low * (1 - (code - 1) / STEPS) + high * ((code - 1) / STEPS) : NaN))];
  }));
}

/** Rows of so many numbers of 16 bits, of whose differences the lower bytes stand before the upper ones, from a place on. @param {Uint8Array} codes @param {number} at @param {number} rows @param {number} width */
function differences(codes, at, rows, width) {
  const found = new Uint16Array(width * rows);
  for (let i = 0; i < width; i++, at += 2 * rows) for (let k = 0, last = 0; k < rows; k++) found[width * k + i] = last += codes[at + k] + 256 * codes[at + rows + k];
  return found;
}

/** Vertices and triangles of meshes, from all of them one after the other. @param {Skin[]} skins @param {Uint8Array} surfaces */
export function dressed(skins, surfaces) {
  let at = 0;
  const rows = (n) => {
    const found = differences(surfaces, at, n, 3);
    at += 6 * n;
    return found;
  };
  for (const skin of skins) Object.assign(skin, { vertices: rows(skin.vertices), triangles: rows(skin.triangles) });
}

/** Where pairs of bodies press, by pairs. @param {Pressing} pressing @param {Uint8Array} codes @returns {Pressed[]} */
export function pressed({ pairs, low, size }, codes) {
  const rows = codes.length / 14, found = differences(codes, 0, rows, 7);
  let k = 0;
  return pairs.flatMap(([name, count, friction, body, sign]) => Array.from({ length: count }, () => {
    const [sample, ...own] = found.subarray(7 * k, 7 * ++k);
    return { name, sample, place: own.slice(0, 3).map((x, i) => low[i] + (size * x) / 65535), normal: own.slice(3).map((x) => (2 * x) / 65535 - 1), friction, body, sign };
  }));
}

/** Unpack what is compressed. */
export async function unpack() {
  const { recorded, scene } = data, skins = scene.solids.map(({ skin }) => skin).filter(Boolean);
  if (skins.length) dressed(skins, await unpacked(scene.surfaces));
  if (!recorded) return;
  recorded.series = series(recorded.samples, await unpacked(recorded.samples.codes));
  recorded.pressed = recorded.pressing ? pressed(recorded.pressing, await unpacked(recorded.pressing.codes)) : [];
}

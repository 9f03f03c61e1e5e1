// What Python has put into the page.

/**
 * @typedef {{kind: string, frame: number, to: number, owner: string, part: string, name: string, colour: string,
 *   numbers: Record<string, number[]>, skin: {low: number[], size: number, vertices: string, triangles: string} | null}} Solid
 * @typedef {{bodies: string[], owners: string[], places: Record<string, number>, solids: Solid[], normal: number | null,
 *   up: number[], towards: number[], waves: boolean, trails: {name: string, at: number[]}[], arrows: {name: string, at: number[], force: number[]}[],
 *   touches: {name: string, at: number[], axes: number[], friction: number[]}[],
 *   hinges: Record<string, number>, numbers: number, radius: number, size: number, palette: string[], triad: string[],
 *   colours: Record<string, string>}} SceneData
 * @typedef {{t: string, columns: Record<string, string>, changes: [number, string][], message: string, thinned: string,
 *   steps: number, balance: number}} Recorded
 */

/** @type {{model: string, wasm: string, q: string[], states: string[], v: string[], units: Record<string, string>, t: [number, number], fit: boolean,
 *   start: {q: number[], v: number[]}, parameters: {name: string, value: number, unit: string}[], scene: SceneData,
 *   module: {known: any, arena: Record<string, number>}, recorded: Recorded | null, why: string, notes: string[]}} */
export const data = JSON.parse(document.getElementById("data").textContent);

/** Whether the run is computed in the page. */
export const live = data.why === "";

/** The bytes of a text in base 64. @param {string} text @returns {Uint8Array} */
export const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** What is compressed in a text in base 64. @param {string} text @returns {Promise<ArrayBuffer>} */
export const unpacked = (text) => new Response(new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();

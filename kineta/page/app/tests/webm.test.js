import assert from "node:assert/strict";
import { test } from "node:test";
import { webm } from "../webm.js";

/** Elements in a row: their names, and what they hold. */
function elements(x) {
  const found = [];
  for (let at = 0; at < x.length;) {
    const long = Math.clz32(x[at]) - 23, name = [...x.subarray(at, at + long)].reduce((sum, b) => 256 * sum + b, 0);
    const size = [...x.subarray(at + long + 1, at + long + 8)].reduce((sum, b) => 256 * sum + b, 0);
    found.push([name, x.subarray(at + long + 8, at + long + 8 + size)]);
    at += long + 8 + size;
  }
  return found;
}

test("a film holds its frames at their times, in groups that begin with a key frame", async () => {
  const frames = [0, 1, 2, 3, 4].map((k) => ({ ms: 400 * k, key: k % 3 === 0, content: Uint8Array.of(k, k, k) }));
  const file = new Uint8Array(await webm({ codec: "V_VP8", width: 320, height: 200, each: 400 }, frames).arrayBuffer());
  const [[head], [segment, content]] = elements(file), within = elements(content);
  assert.deepEqual([head, segment], [0x1a45dfa3, 0x18538067]);
  const lasts = elements(within[0][1]).find(([name]) => name === 0x4489)[1];
  assert.equal(new DataView(lasts.buffer, lasts.byteOffset).getFloat64(0), 2000);
  const found = within.filter(([name]) => name === 0x1f43b675).map(([, cluster]) => elements(cluster).map(([name, x]) => (name === 0xe7 ? x.reduce((sum, b) => 256 * sum + b, 0) : [...x])));
  assert.deepEqual(found, [
    [0, [0x81, 0, 0, 0x80, 0, 0, 0], [0x81, 1, 0x90, 0, 1, 1, 1], [0x81, 3, 0x20, 0, 2, 2, 2]],
    [1200, [0x81, 0, 0, 0x80, 3, 3, 3], [0x81, 1, 0x90, 0, 4, 4, 4]],
  ]);
});

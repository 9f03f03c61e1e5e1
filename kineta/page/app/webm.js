// A film as a file of WebM, from frames that a codec has packed.

/** The bytes of a number, without zeros before it. @param {number} x */
function bytes(x) {
  const found = [];
  for (let rest = x; rest > 0; rest = Math.floor(rest / 256)) found.unshift(rest % 256);
  return Uint8Array.from(found.length ? found : [0]);
}

const text = (x) => new TextEncoder().encode(x);

/** A number of 64 bits. @param {number} x */
function real(x) {
  const made = new DataView(new ArrayBuffer(8));
  made.setFloat64(0, x);
  return new Uint8Array(made.buffer);
}

/** An element: its name, its length in eight bytes, its content. @param {number} name @param {...Uint8Array} content */
function element(name, ...content) {
  const head = bytes(name), long = content.reduce((sum, x) => sum + x.length, 0), made = new Uint8Array(head.length + 8 + long);
  made.set(head);
  made[head.length] = 1;
  let at = head.length + 8;
  made.set(bytes(long), at - bytes(long).length);
  for (const x of content) {
    made.set(x, at);
    at += x.length;
  }
  return made;
}

/** A packed frame at its time. @typedef {{ms: number, key: boolean, content: Uint8Array}} Frame */

/** The file of a film. @param {{codec: "V_VP8" | "V_VP9", width: number, height: number, each: number}} of each: milliseconds of a frame @param {Frame[]} frames of which the first is a key frame */
export function webm({ codec, width, height, each }, frames) {
  /** Frames from a key frame on. @type {Frame[][]} */
  const groups = [];
  for (const x of frames) {
    if (x.key) groups.push([]);
    groups.at(-1).push(x);
  }
  const head = element(0x1a45dfa3, element(0x4286, bytes(1)), element(0x42f7, bytes(1)), element(0x42f2, bytes(4)), element(0x42f3, bytes(8)), element(0x4282, text("webm")), element(0x4287, bytes(4)), element(0x4285, bytes(2)));
  const info = element(0x1549a966, element(0x2ad7b1, bytes(1e6)), element(0x4489, real(frames.length * each)), element(0x4d80, text("kineta")), element(0x5741, text("kineta")));
  const picture = element(0xe0, element(0xb0, bytes(width)), element(0xba, bytes(height)));
  const track = element(0x1654ae6b, element(0xae, element(0xd7, bytes(1)), element(0x73c5, bytes(1)), element(0x9c, bytes(0)), element(0x83, bytes(1)), element(0x86, text(codec)), element(0x23e383, bytes(Math.round(1e6 * each))), picture));
  const clusters = groups.map((group) => {
    const from = Math.round(group[0].ms), block = ({ ms, key, content }) => {
      const after = Math.round(ms) - from;
      return element(0xa3, Uint8Array.of(0x81, after >> 8, after & 255, key ? 0x80 : 0), content);
    };
    return element(0x1f43b675, element(0xe7, bytes(from)), ...group.map(block));
  });
  return new Blob([head, element(0x18538067, info, track, ...clusters)], { type: "video/webm" });
}

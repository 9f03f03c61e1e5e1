// What can be taken from a page: the state as text, the series as a table, a film.
import { data } from "./data.js";
import { webm } from "./webm.js";
import { $, save } from "./words.js";

/** The state at the present time as a statement of a model, behind a comment with the time and the parameters that are not those of the model. @param {any} page */
export function initial(page) {
  const { q, v } = page.track.state(page.t), other = data.parameters.flatMap(({ name, value }, k) => (page.values.p[k] === value ? [] : [`${name} = ${page.values.p[k]}`]));
  const values = [...data.q.map((name, k) => [name, q[k]]), ...data.v.map((name, k) => [name, v[k]])];
  return `# t = ${page.t} s${other.length ? `, with ${other.join(", ")}` : ""}\ninitial ${values.map(([name, x]) => `${name} = ${x}`).join(", ")};`;
}

/** All samples as a table. @param {import("./track.js").Track} track */
export function csv(track) {
  const columns = [track.t.subarray(0, track.rows), ...track.names.map((name) => track.column(name))];
  const lines = [["t", ...track.names].join(",")];
  for (let k = 0; k < track.rows; k++) lines.push(columns.map((x) => x[k]).join(","));
  return `${lines.join("\n")}\n`;
}

/** Frames of a second of a film, frames from one that stands by itself to the next, and bits of a second. */
const RATE = 30, ALONE = 60, BITS = 8e6;
/** Codecs, and their names in a file; frames that one may have before it at once. */
const CODECS = [["vp09.00.51.08", "V_VP9"], ["vp8", "V_VP8"]], WAITING = 4;

/** A film of the motion from its start to its end, or until it is stopped: each frame is drawn for its own time, as long as that takes. @param {any} page @param {string} name */
export async function film(page, name) {
  if (page.filming) {
    page.filming.stopped = true;
    return;
  }
  const { canvas } = page.stage, button = $("webm"), { loop, detail } = page, filming = (page.filming = { stopped: false });
  page.detailed(0);
  const size = [canvas.width, canvas.height], width = canvas.width - (canvas.width % 2), height = canvas.height - (canvas.height % 2), shape = { width, height, bitrate: BITS, framerate: RATE };
  const found = await Promise.all(CODECS.map(async ([codec]) => Boolean((await window.VideoEncoder?.isConfigSupported({ codec, ...shape }).catch(() => null))?.supported)));
  const [codec, label] = CODECS[found.indexOf(true)] ?? [];
  if (!codec) {
    page.filming = null;
    $("told").textContent = "This browser records no films; kineta writes them, too: result.animate().";
    return;
  }
  button.classList.add("on");
  page.loop = false;
  page.play(true);
  const frames = [], turn = () => new Promise((go) => { setTimeout(go); });
  const encoder = new VideoEncoder({
    output: (x) => {
      const content = new Uint8Array(x.byteLength);
      x.copyTo(content);
      frames.push({ ms: x.timestamp / 1000, key: x.type === "key", content });
    },
    error: (e) => {
      filming.stopped = true;
      page.announce(`The film ends early: ${e.message}`);
    },
  });
  encoder.configure({ codec, ...shape });
  const [from] = page.span, each = 1000 / RATE, at = (k) => from + (page.speed * k) / RATE;
  for (let k = 0; !filming.stopped; k++) {
    while (!page.recorded && !page.run.done && page.track.last < at(k)) {
      page.run.more(40);
      await turn();
    }
    if (at(k) > page.track.last + 1e-9 || canvas.width !== size[0] || canvas.height !== size[1]) break;
    page.t = at(k);
    page.show();
    const frame = new VideoFrame(canvas, { timestamp: 1000 * k * each, duration: 1000 * each, visibleRect: { x: 0, y: 0, width, height } });
    encoder.encode(frame, { keyFrame: k % ALONE === 0 });
    frame.close();
    do await turn(); while (encoder.state === "configured" && encoder.encodeQueueSize > WAITING);
  }
  if (encoder.state === "configured") await encoder.flush();
  page.filming = null;
  Object.assign(page, { loop });
  page.play(false);
  page.detailed(detail);
  page.fresh();
  button.classList.remove("on");
  if (frames.length) save(webm({ codec: label, width, height, each }, frames), `${name}.webm`);
}

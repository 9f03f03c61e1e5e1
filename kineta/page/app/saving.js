// What can be taken from a page: the state as text, the series as a table, a film.
import { data } from "./data.js";
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

/** A film of the motion from its start, as it is played. @param {any} page @param {string} name */
export function film(page, name) {
  const button = $("webm"), type = ["video/webm;codecs=vp9", "video/webm"].find((x) => window.MediaRecorder?.isTypeSupported(x));
  if (!type) {
    $("told").textContent = "This browser records no films; kineta writes them, too: result.animate().";
    return;
  }
  if (page.filming) {
    page.filming.stop();
    return;
  }
  const recorder = new MediaRecorder(page.stage.canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: 8e6 }), parts = [];
  recorder.ondataavailable = (e) => parts.push(e.data);
  const { loop } = page;
  recorder.onstop = () => {
    clearInterval(watch);
    page.filming = null;
    page.loop = loop;
    button.classList.remove("on");
    save(new Blob(parts, { type }), `${name}.webm`);
  };
  page.filming = recorder;
  page.loop = false;
  button.classList.add("on");
  page.seek(page.span[0]);
  page.play(true);
  recorder.start();
  const watch = setInterval(() => {
    if (!page.playing && recorder.state === "recording") recorder.stop();
  }, 100);
}

// The playground: a text, and the page of its machine.
import { Editor, place } from "./editor.js";
import { asked, fragment } from "./link.js";

const $ = (id) => document.getElementById(id);
/** Milliseconds without a key after which a text is taken for written. */
const PAUSE = 350;
/** The example that is shown at first. */
const FIRST = "cart_pendulum";

const editor = new Editor($("text"), $("shade"), $("lines"));
/** @type {Record<string, {text: string, about: string}>} */
let examples = {};
let worker = null, latest = 0, busy = false, waiting = null;
/** The text of the machine that is shown, and the number of its page. */
let current = { id: 0, text: "" }, sent = "";

/** @param {string[]} sentences @param {boolean} mistake */
function tell(sentences, mistake = false) {
  const told = $("told");
  told.className = mistake ? "mistake" : "";
  told.replaceChildren(...sentences.map((text) => {
    const made = document.createElement("p");
    if (mistake && editor.wrong) {
      const to = document.createElement("button");
      to.textContent = text;
      to.title = "Go to the place";
      to.onclick = () => editor.visit();
      made.append(to);
    } else made.textContent = text;
    return made;
  }));
}

/** Ask for the page of the present text; one that is computed meanwhile is left to end. */
function make() {
  if (!worker) return;
  if (busy) {
    waiting = editor.text;
    return;
  }
  busy = true;
  waiting = null;
  sent = editor.text;
  worker.postMessage({ id: ++latest, text: sent });
  $("told").setAttribute("aria-busy", "true");
}

function shown({ data: found }) {
  if (found.failed) {
    tell([`Python did not start: ${found.failed}`], true);
    $("poster").hidden = false;
    $("start").disabled = true;
    return;
  }
  if (found.equations !== undefined) {
    if (found.id === current.id) $("page").contentWindow.postMessage({ equations: found.equations }, "*");
    return;
  }
  if (found.ready) {
    $("poster").dataset.ready = found.ready;
    tell([`Python is here after ${(found.ready / 1000).toFixed(1)} s.`]);
    return;
  }
  busy = false;
  $("told").removeAttribute("aria-busy");
  window.made = { id: found.id, milliseconds: found.milliseconds, mistake: found.mistake };
  if (waiting !== null) {
    make();
    return;
  }
  if (found.mistake) {
    editor.mark(place(editor.text, found.line, found.column));
    tell([found.line ? `Line ${found.line}: ${found.mistake}` : found.mistake], true);
    return;
  }
  editor.mark(null);
  current = { id: found.id, text: sent };
  $("page").srcdoc = found.page;
  $("poster").hidden = true;
  tell([`Derived and compiled in this page in ${(found.milliseconds / 1000).toFixed(2)} s.`, ...found.notes]);
}

function start() {
  $("start").disabled = true;
  tell(["Python is being loaded."]);
  try {
    worker = new Worker("worker.js", { type: "module" });
  } catch (error) {
    tell([`Python cannot be started in this browser: ${error.message}`], true);
    return;
  }
  worker.onmessage = shown;
  worker.onerror = (error) => tell([`Python did not start: ${error.message || "worker.js cannot be loaded"}.`], true);
  make();
}

/** @param {string} name */
function example(name) {
  if (!examples[name]) return false;
  editor.text = examples[name].text;
  $("examples").value = name;
  return true;
}

async function read() {
  const found = await asked(location.hash);
  if (found.error) {
    if (!editor.text) example(FIRST);
    tell([found.error], true);
    return;
  }
  if (found.text !== undefined) {
    editor.text = found.text;
    $("examples").value = "";
  } else if (!(found.example && example(found.example))) {
    if (found.example) tell([`There is no example '${found.example}'.`], true);
    example(FIRST);
  }
  make();
}

/** @param {string} name @param {Blob} blob */
function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function furnish() {
  if (typeof WebAssembly === "undefined" || typeof CompressionStream === "undefined") {
    tell(["This browser has no WebAssembly, or no streams that compress. Browsers since 2023 have both."], true);
    $("start").disabled = true;
  }
  examples = await (await fetch("examples.json")).json();
  const none = new Option("own text", "");
  none.hidden = true;
  $("examples").append(none, ...Object.entries(examples).map(([name, { about }]) => {
    const option = new Option(name.replaceAll("_", " "), name);
    option.title = about;
    return option;
  }));
  await read();
  let pause;
  $("text").addEventListener("input", () => {
    $("examples").value = "";
    clearTimeout(pause);
    pause = setTimeout(make, PAUSE);
  });
  $("text").addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) make();
  });
  $("examples").onchange = () => {
    example($("examples").value);
    history.replaceState(null, "", `#example=${encodeURIComponent($("examples").value)}`);
    make();
  };
  $("start").onclick = start;
  $("share").onclick = async () => {
    history.replaceState(null, "", await fragment(editor.text));
    try {
      await navigator.clipboard.writeText(location.href);
      tell([`The link is copied; it has ${location.href.length} characters, and carries the whole text.`]);
    } catch {
      tell(["The link stands in the address line, and carries the whole text."]);
    }
  };
  $("save").onclick = () => {
    const name = /^\s*model\s+([\p{L}\p{N}_]+)/mu.exec(editor.text)?.[1] ?? "model";
    save(`${name}.kin`, new Blob([editor.text], { type: "text/plain" }));
  };
  $("open").onchange = async () => {
    const [file] = $("open").files;
    if (!file) return;
    editor.text = await file.text();
    $("open").value = "";
    $("examples").value = "";
    make();
  };
  addEventListener("hashchange", read);
  addEventListener("message", ({ source, data: { wanted } }) => {
    if (source === $("page").contentWindow && wanted === "equations") worker.postMessage({ id: current.id, equations: current.text });
  });
}

furnish();

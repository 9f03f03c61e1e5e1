// Python beside the page: it makes pages from texts, and the text stays writable meanwhile.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const began = performance.now();
/** @type {any} */
let browser;

async function start() {
  const [python, packed] = await Promise.all([
    loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href }),
    fetch(new URL("./kineta.zip", import.meta.url)).then((found) => {
      if (!found.ok) throw new Error(`kineta.zip: ${found.status} ${found.statusText}`);
      return found.arrayBuffer();
    }),
  ]);
  python.FS.mkdirTree("/site");
  python.unpackArchive(packed, "zip", { extractDir: "/site" });
  python.runPython("import sys; sys.path.insert(0, '/site')");
  browser = python.pyimport("kineta.playground.browser");
  browser.prepare();
  postMessage({ ready: performance.now() - began });
}

const started = start().catch((error) => postMessage({ failed: String(error.message ?? error).split("\n").at(-1) }));

/** The sentence of an error of Python. @param {Error} error */
const fault = (error) => `This is a fault of kineta: ${String(error.message).trim().split("\n").at(-1)}`;

/** What becomes of a text. @param {string} text */
function made(text) {
  const from = performance.now();
  try {
    const found = browser.page(text), told = found.toJs({ dict_converter: Object.fromEntries });
    found.destroy();
    return { ...told, milliseconds: performance.now() - from };
  } catch (error) {
    return { mistake: fault(error), line: 0, column: 0 };
  }
}

/** @param {string} text */
function written(text) {
  try {
    return browser.equations(text);
  } catch (error) {
    return `<p class="note">${fault(error).replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</p>`;
  }
}

onmessage = async ({ data: { id, text, equations } }) => {
  await started;
  if (!browser) return;
  if (equations === undefined) postMessage({ id, ...made(text) });
  else postMessage({ id, equations: written(equations) });
};

// Links that carry a model: its text, deflated, in the fragment, which browsers send to no server.

/** @param {Uint8Array} bytes @param {"deflate-raw"} format @param {boolean} packing */
async function through(bytes, format, packing) {
  const stream = packing ? new CompressionStream(format) : new DecompressionStream(format);
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** The fragment of a text. @param {string} text */
export async function fragment(text) {
  const packed = await through(new TextEncoder().encode(text), "deflate-raw", true);
  const letters = btoa(Array.from(packed, (x) => String.fromCharCode(x)).join(""));
  return `#model=${letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** What a fragment asks for: a text, or the name of an example; an error for one that is damaged. @param {string} found */
export async function asked(found) {
  const [, kind, value] = /^#(model|example)=(.+)$/.exec(found) ?? [];
  if (kind === "example") return { example: decodeURIComponent(value) };
  if (kind !== "model") return {};
  try {
    const packed = Uint8Array.from(atob(value.replaceAll("-", "+").replaceAll("_", "/")), (x) => x.charCodeAt(0));
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(await through(packed, "deflate-raw", false)) };
  } catch {
    return { error: "The link is damaged: no model can be read from it. Ask for the whole link, from # to its end." };
  }
}

// What draws the picture.

/** Renderers that are programs on the processor, and what hides the name of one. */
const PROGRAMS = /swiftshader|llvmpipe|softpipe|software|basic render/i, HIDDEN = "WebKit WebGL";

/** The renderer's name; "" without WebGL 2. */
function renderer() {
  const context = document.createElement("canvas").getContext("webgl2");
  if (!context) return "";
  let name = context.getParameter(context.RENDERER);
  if (name === HIDDEN) {
    const more = context.getExtension("WEBGL_debug_renderer_info");
    if (more) name = context.getParameter(more.UNMASKED_RENDERER_WEBGL);
  }
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return name || HIDDEN;
}

let found;
const known = () => (found ??= renderer());

/** Whether there is WebGL 2. */
export const drawn = () => known() !== "";

/** Whether the processor draws, for which all points and edges take their time. */
export const software = () => PROGRAMS.test(known());

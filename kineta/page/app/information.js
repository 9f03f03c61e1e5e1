// What the loader of an exported run is told, here by the page: `templates/run.mjs` has these words in capitals.

const known = JSON.parse(document.getElementById("data").textContent).module.known;

export const INFORMATION = known.INFORMATION;
export const OUTCOMES = known.OUTCOMES;
export const SENTENCES = known.SENTENCES;
export const VERBS = known.VERBS;

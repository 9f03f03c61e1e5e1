import assert from "node:assert/strict";
import test from "node:test";
import { coloured, place } from "../editor.js";
import { asked, fragment } from "../link.js";

test("a link carries a text, letters of all scripts included", async () => {
  for (const text of ["", "model Нога;\n# 𝜑 = ½\n", "x".repeat(20000)]) assert.deepEqual(await asked(await fragment(text)), { text });
  assert.ok((await fragment("x".repeat(20000))).length < 100);
});

test("a damaged link is said, and other fragments ask for nothing", async () => {
  assert.match((await asked("#model=AAAA")).error, /damaged/);
  assert.match((await asked("#model=ä")).error, /damaged/);
  assert.deepEqual(await asked("#example=four%5Fbar"), { example: "four_bar" });
  assert.deepEqual([await asked(""), await asked("#elsewhere")], [{}, {}]);
});

test("colours leave the text as it is", () => {
  const text = "model a; # one\nspring k = 3.5e-2 N/m on q1;\n";
  assert.equal(coloured(text).map(([, part]) => part).join(""), text);
  assert.deepEqual(coloured(text).filter(([kind]) => kind).map(([kind, part]) => kind + part), ["kmodel", "c# one", "kspring", "n3.5e-2", "kon"]);
});

test("a mistake is marked around its word, by characters", () => {
  const text = "model a;\n𝜑𝜑 ~ Crat | Rx(q);\n", at = (line, column) => text.slice(...Object.values(place(text, line, column)));
  assert.equal(at(2, 6), "Crat");
  assert.equal(at(2, 4), "~");
  assert.equal(at(9, 1), "");
  assert.equal(place(text, 0, 0), null);
});

// The field of text: numbers of lines, colours, and the place of a mistake.

/** Comments, words at the head of a statement, and numbers. */
const WORDS = /(#[^\n]*)|(^[ \t]*[a-z]+\b|\b(?:on|between|and|at|when|from|to)\b)|(\b\d+(?:\.\d+)?(?:e-?\d+)?\b)/gm;

/** Parts of a text with their kind: comment, keyword, number or none. @param {string} text */
export function coloured(text) {
  const parts = [];
  let last = 0;
  for (const m of text.matchAll(WORDS)) {
    if (m.index > last) parts.push(["", text.slice(last, m.index)]);
    parts.push([m[1] ? "c" : m[2] ? "k" : "n", m[0]]);
    last = m.index + m[0].length;
  }
  if (last < text.length) parts.push(["", text.slice(last)]);
  return parts;
}

/** The place of a line and column, both from 1, in a text: from and to, around the word that begins there. */
export function place(text, line, column) {
  if (!line) return null;
  const lines = text.split("\n"), before = lines.slice(0, line - 1).reduce((n, x) => n + x.length + 1, 0);
  // Columns count characters, JavaScript halves of some.
  const own = [...(lines[line - 1] ?? "")], at = own.slice(0, column - 1).join("").length;
  const rest = own.slice(column - 1).join(""), word = /^[\p{L}\p{N}_.']+|^\S|^/u.exec(rest)[0];
  return { from: before + at, to: before + at + Math.max(word.length, rest ? 1 : 0) };
}

export class Editor {
  /** @param {HTMLTextAreaElement} field @param {HTMLElement} shade @param {HTMLElement} lines */
  constructor(field, shade, lines) {
    Object.assign(this, { field, shade, lines, wrong: null });
    field.addEventListener("input", () => this.mark(null));
    field.addEventListener("scroll", () => this.follow());
    this.mark(null);
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    this.field.value = text;
    this.field.scrollTop = 0;
    this.mark(null);
  }

  /** Show the place of a mistake. @param {{from: number, to: number} | null} wrong */
  mark(wrong) {
    const { text } = this, made = [];
    let at = 0;
    for (const [kind, part] of coloured(text)) {
      const span = document.createElement("span");
      span.className = kind;
      const cut = wrong ? [wrong.from - at, wrong.to - at].map((x) => Math.min(part.length, Math.max(0, x))) : [0, 0];
      span.append(part.slice(0, cut[0]));
      if (cut[1] > cut[0]) {
        const mark = document.createElement("mark");
        mark.textContent = part.slice(...cut);
        span.append(mark);
      }
      span.append(part.slice(Math.max(...cut)));
      made.push(span);
      at += part.length;
    }
    this.shade.replaceChildren(...made, "\n\n");
    const line = wrong ? text.slice(0, wrong.from).split("\n").length : 0;
    this.lines.replaceChildren(...text.split("\n").flatMap((_, k) => {
      const number = document.createElement(k + 1 === line ? "b" : "span");
      number.textContent = String(k + 1);
      return [number, "\n"];
    }));
    this.field.setAttribute("aria-invalid", String(Boolean(wrong)));
    this.wrong = wrong;
    this.follow();
  }

  follow() {
    const { scrollLeft, scrollTop } = this.field;
    this.shade.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    this.shade.style.clipPath = `inset(${scrollTop}px -9999px -9999px ${scrollLeft}px)`;
    this.lines.style.transform = `translateY(${-scrollTop}px)`;
  }

  /** Put the caret at the mistake. */
  visit() {
    if (!this.wrong) return;
    this.field.focus();
    this.field.setSelectionRange(this.wrong.from, this.wrong.to);
  }
}

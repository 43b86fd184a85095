// Stores unsent answers in this browser, for a week at most.

const PREFIX = "draft:";
const WEEK = 7 * 24 * 3600 * 1000; // milliseconds
const EMPTY = { values: [], words: "" };

export class Draft {
  constructor(person, question) {
    this.key = `${PREFIX}${person}:${question}`;
  }

  // Returns the form's `values`, and `words`: the same as text for people.
  read() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? EMPTY;
    } catch {
      return EMPTY;
    }
  }

  write(values, words) {
    try {
      if (values.some(Boolean)) localStorage.setItem(this.key, JSON.stringify({ values, words, at: Date.now() }));
      else localStorage.removeItem(this.key);
    } catch { /* the storage is full or not allowed */ }
  }

  remove() {
    this.write([]);
  }
}

function keys() {
  return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
}

export function removeOldDrafts() {
  try {
    for (const key of keys()) {
      const { at } = JSON.parse(localStorage.getItem(key)) ?? {};
      if (!(Date.now() - at < WEEK)) localStorage.removeItem(key);
    }
  } catch { /* without storage there are no drafts */ }
}

export function removeAllDrafts() {
  try {
    for (const key of keys()) localStorage.removeItem(key);
  } catch { /* without storage there are no drafts */ }
}

// Stores unsent answers in this browser, for a week at most. Where it stores nothing, they last as long
// as the page.

const PREFIX = "draft:";
const WEEK = 7 * 24 * 3600 * 1000; // milliseconds
const EMPTY = { values: [], comment: "", words: "" };

const written = new Map(); // what this page has written, by key

export class Draft {
  constructor(person, question) {
    this.key = `${PREFIX}${person}:${question}`;
  }

  // Whether this page has had the form: then the draft is newer than what the server knows.
  get isOfPage() {
    return written.has(this.key);
  }

  // Returns the form's `values` and `comment`, and `words`: the same as text for people.
  read() {
    if (written.has(this.key)) return written.get(this.key);
    try {
      return { ...EMPTY, ...JSON.parse(localStorage.getItem(this.key)) };
    } catch {
      return EMPTY;
    }
  }

  write({ values, comment, words }) {
    written.set(this.key, { values, comment, words });
    try {
      const draft = { values, comment, words, at: Date.now() };
      if (values.some(Boolean) || comment) localStorage.setItem(this.key, JSON.stringify(draft));
      else localStorage.removeItem(this.key);
    } catch { /* the storage is full or not allowed */ }
  }

  remove() {
    this.write(EMPTY);
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

// Keeps a name from right to left in its own place inside a sentence.

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|\ud802|\ud803/;

// Wraps the text in invisible marks (isolates) if it runs from right to left anywhere.
export function isolate(text) {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

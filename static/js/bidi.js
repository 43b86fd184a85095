// Keeps a name from right to left in its own place inside a sentence.

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|\ud802|\ud803/;

// Wraps the text in invisible marks if it, or the page around it, runs from right to left.
export function isolate(text) {
  const isNeeded = document.documentElement.dir === "rtl" || RIGHT_TO_LEFT.test(text);
  return isNeeded ? `\u2068${text}\u2069` : text;
}

// Keeps the focus in its field while a page is replaced with its newer state. What is typed for a field
// that goes acts on nothing else.

import { ignoreTyping, isText, TYPED } from "./keyboard.js";
import { onPageLeft, onPageShown, readQuestion } from "./navigation.js";

let isSent = false; // a form was sent, and nothing was typed since

// Returns which field of which question has the focus, and where in its text.
function readFocus() {
  const field = document.activeElement;
  const { id, selectionStart, selectionEnd } = field ?? {};
  const isTyping = Boolean(field?.matches(TYPED)) && !isSent;
  return { question: readQuestion(), id, selectionStart, selectionEnd, isTyping };
}

// A field with an error has the focus already, but not while somebody types in another.
function restoreFocus({ question, id, selectionStart, selectionEnd, isTyping }) {
  const main = document.getElementById("main");
  if (isTyping && document.activeElement.id !== id) main.focus({ preventScroll: true });
  const hasError = document.activeElement !== main;
  const field = document.getElementById(id);
  const isSame = field?.form?.id === "answer-form" && question === readQuestion();
  if (hasError || !(isSame || field?.closest("[data-sidebar]"))) {
    if (isTyping && !hasError) ignoreTyping();
    return;
  }
  const section = field.closest("details");
  if (section) section.open = true;
  field.focus({ preventScroll: true });
  if (selectionStart != null) field.setSelectionRange(selectionStart, selectionEnd);
}

// Call it after the listeners that move the focus when a page is shown.
export function startFocus() {
  let focus = null;
  document.addEventListener("submit", () => { isSent = true; }, { capture: true });
  document.addEventListener("keydown", (event) => { if (isText(event)) isSent = false; }, { capture: true });
  onPageLeft(() => { focus = readFocus(); });
  onPageShown(() => restoreFocus(focus));
}

// Keeps the focus in its field while the page is replaced with its newer state.

import { ignoreTyping, TYPED } from "./keyboard.js";

// Returns which field has the focus, and where in its text.
export function readFocus() {
  const field = document.activeElement;
  const { id, selectionStart, selectionEnd } = field ?? {};
  return { id, selectionStart, selectionEnd, wasTyping: Boolean(field?.matches(TYPED)) };
}

// Puts the focus back. If the field is gone, the keys still coming are text for it and no shortcuts.
export function restoreFocus({ id, selectionStart, selectionEnd, wasTyping }) {
  const field = id && document.getElementById(id);
  if (field?.form?.id === "answer-form" || field?.closest("[data-beside]")) {
    const folded = field.closest("details");
    if (folded) folded.open = true;
    field.focus({ preventScroll: true });
    if (selectionStart != null) field.setSelectionRange(selectionStart, selectionEnd);
  } else if (wasTyping) {
    ignoreTyping();
  }
}

// Keyboard shortcuts for answering: choose, send, next.

import { isComposing } from "../composing.js";

// Fields that take keys as text, or have a meaning of their own for them.
export const TYPED = "textarea, select, input:not([type=radio], [type=checkbox])";
const LONG_PAUSE = 3_000; // milliseconds
const LINKS = { j: "following", k: "previous", s: "skip", c: "comment" };

// Returns whether single keys work as shortcuts in this browser.
export function keysAreOn() {
  try {
    return localStorage.getItem("keys") !== "off";
  } catch {
    return true;
  }
}

function switchKeys(on) {
  try {
    if (on) localStorage.removeItem("keys");
    else localStorage.setItem("keys", "off");
  } catch { /* no storage: the choice lasts as long as this page */ }
}

// Shows the hints for shortcuts only if they are on.
export function showKeyHints() {
  document.documentElement.toggleAttribute("data-keys-on", keysAreOn());
}

// Shows the buttons that open the list of shortcuts; they need this script.
export function showKeySwitch() {
  showKeyHints();
  for (const each of document.querySelectorAll("[data-keys-open]")) each.hidden = false;
  for (const each of document.querySelectorAll("[data-keys-switch]")) each.checked = keysAreOn();
}

function explain() {
  const dialog = document.querySelector("[data-keys]");
  if (dialog && !dialog.open) dialog.showModal();
}

// Moves to the field that searches the inbox, if it is on the screen.
export function focusSearch(event) {
  const field = document.querySelector("[data-search]");
  if (!field?.checkVisibility()) return;
  event.preventDefault();
  field.select();
  field.focus();
}

// Returns whether the key writes or removes text, or ends a line.
export function isText(event) {
  const { key, ctrlKey, metaKey } = event;
  return !ctrlKey && !metaKey && (key.length === 1 || key === "Enter" || key === "Backspace");
}

let typedAt = -Infinity; // when a key was last pressed that was meant for a text field

// Takes no key for a shortcut until no text was typed for a while, or the pointer is used. Call it
// when a text field goes that somebody is typing in.
export function ignoreTyping() {
  typedAt = performance.now();
}

function isStillTyping(event) {
  const isTyping = performance.now() - typedAt < LONG_PAUSE;
  if (isTyping && isText(event)) ignoreTyping();
  return isTyping;
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isComposing(event) || event.repeat) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.target.closest(TYPED) || isStillTyping(event)) return;
  if (event.key === "?") return explain();
  if (!keysAreOn()) return;
  if (event.key === "/") return focusSearch(event);
  const choices = document.querySelectorAll("#answer-form .choice [name=answer], [data-choice]");
  const number = Number(event.key);
  if (number >= 1 && number <= 9 && choices[number - 1]) {
    choose(choices[number - 1]);
    return event.preventDefault();
  }
  if (event.key === "Enter") return pressEnter(event);
  const target = document.querySelector(`[data-key="${LINKS[event.key.toLowerCase()]}"]`);
  if (!target) return;
  event.preventDefault(); // the key is not typed into a field that opens
  target.click();
}

// A button that sends is only chosen: Enter presses it. A panel opens, and shows its first field.
function choose(choice) {
  choice.focus();
  if (choice.matches("[data-send]")) return;
  const panel = choice.closest("details");
  if (!panel?.open) choice.click();
  panel?.querySelector("input, select, textarea")?.focus();
}

// Leaves Enter alone on a button, link or choice, where it has its own meaning.
function pressEnter(event) {
  if (event.target.closest("a, button, summary, #answer-form")) return;
  const form = document.getElementById("answer-form");
  const field = document.getElementById("answer");
  const link = document.querySelector(".thumb-zone a.btn-primary");
  event.preventDefault();
  const choice = form?.querySelector("[data-choice]");
  if (choice) choice.focus();
  else if (field && !field.value) field.focus();
  else if (form) form.requestSubmit();
  else link?.click();
}

function pressInText(event) {
  if (isComposing(event)) return;
  const isText = event.target.matches?.("textarea") && event.target.form?.id === "answer-form";
  if (isText && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.target.form.requestSubmit(event.target.closest(".panel")?.querySelector("[data-send]"));
  }
}

export function startKeyboard() {
  document.addEventListener("keydown", press);
  document.addEventListener("keydown", pressInText);
  document.addEventListener("pointerdown", () => { typedAt = -Infinity; });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-keys-open]")) explain();
    if (event.target.closest?.("[data-keys-close]")) document.querySelector("[data-keys]").close();
  });
  document.addEventListener("change", (event) => {
    if (!event.target.matches?.("[data-keys-switch]")) return;
    switchKeys(event.target.checked);
    showKeySwitch();
  });
  showKeySwitch();
}

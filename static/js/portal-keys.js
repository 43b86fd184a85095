"use strict";
// One hand on the keyboard: choose, send, next. Switched off, the keys stay so in this browser.

function keysAreOn() {
  try {
    return localStorage.getItem("keys") !== "off";
  } catch {
    return true;
  }
}

function useKeys(on) {
  try {
    if (on) localStorage.removeItem("keys");
    else localStorage.setItem("keys", "off");
  } catch { /* for this page alone, then */ }
  showKeys();
}

function showKeys() {
  document.documentElement.toggleAttribute("data-keys-on", keysAreOn());
  for (const each of document.querySelectorAll("[data-keys-open]")) each.hidden = false;
  for (const each of document.querySelectorAll("[data-keys-switch]")) each.checked = keysAreOn();
}

function explain() {
  const dialog = document.querySelector("[data-keys]");
  if (dialog && !dialog.open) dialog.showModal();
}

const LINKS = { j: "following", k: "previous", s: "skip" };

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  const isTyping = event.target.closest("textarea, select, input:not([type=radio], [type=checkbox])");
  if (isTyping) return;
  if (event.key === "?") return explain();
  if (!keysAreOn()) return;
  const choices = document.querySelectorAll("#answer-form .choice input");
  const number = Number(event.key);
  if (number >= 1 && number <= 9 && choices[number - 1]) {
    choices[number - 1].focus();
    choices[number - 1].click();
    return event.preventDefault();
  }
  if (event.key === "Enter") return enter(event);
  const link = document.querySelector(`[data-key="${LINKS[event.key.toLowerCase()]}"]`);
  if (link) link.click();
}

// On a button, a link or a choice Enter has a meaning of its own.
function enter(event) {
  if (event.target.closest("a, button, summary, #answer-form")) return;
  const form = document.getElementById("answer-form");
  const field = document.getElementById("answer");
  const go = document.querySelector(".thumb-zone a.btn-primary");
  event.preventDefault();
  if (field && !field.value) field.focus();
  else if (form) form.requestSubmit();
  else go?.click();
}

document.addEventListener("keydown", pressed);
document.addEventListener("keydown", (event) => {
  const isText = event.target.matches?.("#answer-form textarea");
  if (isText && event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
});
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-keys-open]")) explain();
  if (event.target.closest?.("[data-keys-close]")) document.querySelector("[data-keys]").close();
});
document.addEventListener("change", (event) => {
  if (event.target.matches?.("[data-keys-switch]")) useKeys(event.target.checked);
});
addEventListener("portal:show", showKeys);
showKeys();

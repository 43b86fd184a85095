"use strict";
// Keeps the inbox true without moving a row: what is gone is marked, who holds what is said, and
// what is new waits behind a pill.

const inbox = document.querySelector("[data-inbox]");
const pill = document.querySelector("[data-pill]");
const rows = [...document.querySelectorAll("[data-row]")];
const MOST_ROWS = 100; // as many as the service tells of
let version = inbox.dataset.version;

function address() {
  const query = new URLSearchParams({ v: version, since: inbox.dataset.since, loop: inbox.dataset.loop });
  return `${inbox.dataset.inbox}?${query}`;
}

async function heard(answer) {
  if (!answer.ok) return;
  const state = await answer.json();
  version = state.version;
  const holders = rows.map((row) => state.rows[row.dataset.row]);
  const isAll = Object.keys(state.rows).length < MOST_ROWS;
  // the order never changes: what would stand before a row that is told of is told of, or gone
  const last = isAll ? rows.length : holders.findLastIndex((holder) => holder !== undefined);
  rows.slice(0, last + 1).forEach((row, at) => mark(row, holders[at]));
  if (!state.new) return void (pill.hidden = true);
  const words = `${state.new}${state.new < MOST_ROWS ? "" : "+"} new`;
  pill.querySelector("[data-pill-text]").textContent = words;
  if (pill.hidden) announce(`${words} in the inbox`);
  pill.hidden = false;
}

// `holder` is nobody's name (empty), or undefined where the row is gone.
function mark(row, holder) {
  const badge = row.querySelector("[data-holder]");
  const words = badge.querySelector("[data-holder-text]");
  const isGone = holder === undefined;
  row.classList.toggle("is-gone", isGone);
  badge.hidden = !isGone && !holder;
  words.textContent = isGone ? "no longer waits" : holder === "you" ? "you hold it" : `${holder} holds it`;
}

new Watch(inbox.dataset.watch, address, heard);
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

document.documentElement.toggleAttribute("data-keys-on", !keysAreOff());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keysAreOff()) return;
  if (event.target.closest("input, textarea, select, dialog")) return;
  const links = rows.map((row) => row.querySelector("a"));
  const at = links.indexOf(document.activeElement);
  const step = { j: 1, k: -1 }[event.key.toLowerCase()];
  if (step) links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
});

function keysAreOff() {
  try {
    return localStorage.getItem("keys") === "off";
  } catch {
    return false;
  }
}

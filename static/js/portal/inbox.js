// Updates the inbox without moving rows: marks handled and claimed rows, and offers new ones with a
// button.

import { announce } from "../announcements.js";
import { isolate } from "../bidi.js";
import { isComposing } from "../composing.js";
import { formatNumber, gettext } from "../words.js";
import { focusSearch, keysAreOn, showKeyHints } from "./keyboard.js";
import { Polling } from "./polling.js";

const MAX_ROWS = 100; // in a response of the service

const inbox = document.querySelector("[data-inbox]");
const pill = document.querySelector("[data-pill]");
const rows = [...document.querySelectorAll("[data-row]")];
let version = inbox.dataset.version;

function buildStateUrl() {
  const { since, loop, type, q } = inbox.dataset;
  const query = new URLSearchParams({ v: version, since, loop, type, q });
  return `${inbox.dataset.inbox}?${query}`;
}

async function receive(response) {
  if (!response.ok) return;
  const state = await response.json();
  version = state.version;
  const holders = rows.map((row) => state.rows[row.dataset.row]);
  const isAll = Object.keys(state.rows).length < MAX_ROWS;
  // the order never changes: a row missing before the last reported one is gone
  const last = isAll ? rows.length : holders.findLastIndex((holder) => holder !== undefined);
  rows.slice(0, last + 1).forEach((row, place) => markRow(row, holders[place]));
  showNew(state.new);
}

// `holder` is '' for an unclaimed request, and undefined if the request is gone.
function markRow(row, holder) {
  const badge = row.querySelector("[data-holder]");
  const words = badge.querySelector("[data-holder-text]");
  const isGone = holder === undefined;
  row.classList.toggle("is-gone", isGone);
  badge.hidden = !isGone && !holder;
  if (isGone) words.textContent = gettext("Already handled");
  else if (holder === "you") words.textContent = gettext("You’re on it");
  else words.textContent = gettext("%(name)s is on it", { name: isolate(holder ?? "") });
}

function showNew(count) {
  if (count) {
    const values = { count: `${formatNumber(count)}${count < MAX_ROWS ? "" : "+"}` };
    const words = gettext("%(count)s new", values);
    pill.querySelector("[data-pill-text]").textContent = words;
    if (pill.hidden) announce(gettext("%(count)s new in the inbox", values));
  }
  pill.hidden = !count;
}

// Moves between the rows with J and K, and to the search with /.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isComposing(event) || !keysAreOn()) return;
  if (event.target.closest("input, textarea, select, dialog")) return;
  if (event.key === "/") return focusSearch(event);
  const links = rows.map((row) => row.querySelector("a"));
  const place = links.indexOf(document.activeElement);
  const step = { j: 1, k: -1 }[event.key.toLowerCase()];
  if (step) links[Math.min(Math.max(place + step, 0), links.length - 1)]?.focus();
});

addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
new Polling(inbox.dataset.watch, buildStateUrl, receive);
showKeyHints();

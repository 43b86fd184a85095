// Keeps the list beside the question where it is while one question follows another: handled
// questions stay, marked, and new ones wait behind a button unless they come last.

import { announce } from "../announcements.js";
import { formatNumber, gettext } from "../words.js";

const rowsOf = (list) => [...list.querySelectorAll("[data-row]")];

// Puts the list on the screen into the page that comes, brought up to date with the page's own. Returns
// what to do once the page is shown.
export function continueList(page) {
  const shown = document.querySelector("[data-sidebar]");
  const fresh = page.querySelector("[data-sidebar]");
  if (!shown?.checkVisibility() || !fresh) return () => {};
  const { scrollTop } = shown;
  update(shown, fresh);
  fresh.replaceWith(shown);
  return () => {
    shown.scrollTop = scrollTop;
    shown.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  };
}

function update(shown, fresh) {
  const rows = rowsOf(shown);
  const coming = rowsOf(fresh);
  const pairs = rows.map((row) => coming.find((each) => each.dataset.row === row.dataset.row));
  // a list that does not begin with the most urgent question says nothing of those before it
  const first = "top" in fresh.dataset ? 0 : pairs.findIndex(Boolean);
  rows.forEach((row, place) => markRow(row, pairs[place], place >= first && first >= 0));
  const last = coming.indexOf(pairs.findLast(Boolean));
  showNew(shown, coming.slice(0, Math.max(0, last)).filter((row) => !pairs.includes(row)).length);
  shown.querySelector("[data-rows]").append(...coming.slice(last + 1));
}

function markRow(row, now, isKnown) {
  const link = row.querySelector("a");
  const isGone = isKnown && !now;
  row.classList.toggle("is-gone", isGone);
  row.querySelector("[data-holder]").hidden = !isGone;
  link.removeAttribute("aria-current");
  const next = now?.querySelector("a");
  if (next) link.href = next.href;
  if (next?.hasAttribute("aria-current")) link.setAttribute("aria-current", "page");
}

function showNew(shown, count) {
  const pill = shown.querySelector("[data-pill]");
  const place = pill.querySelector("[data-pill-text]");
  const values = { count: formatNumber(count) };
  const words = count ? gettext("%(count)s new", values) : "";
  if (words && place.textContent !== words) {
    announce(gettext("%(count)s new in the inbox", values));
  }
  place.textContent = words;
  pill.hidden = !count;
}

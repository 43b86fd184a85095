// Opens one question after another without a reload.

import { revealControls } from "../app.js";
import { continueList } from "./sidebar.js";

const pages = new EventTarget();
let shownPages = 0; // how many pages were shown without a reload
let openings = 0;

// Calls the listener after each page shown without a reload.
export function onPageShown(listener) {
  pages.addEventListener("shown", listener);
}

// Calls the listener before another page replaces this one.
export function onPageLeft(listener, { signal } = {}) {
  pages.addEventListener("left", listener, { signal });
}

// Returns the id of the question on the screen, if any.
export function readQuestion(page = document) {
  return page.querySelector("[data-question]")?.dataset.question;
}

// A document keeps the content security policy that it was loaded with. Only the policy of a page
// with an image allows images of other hosts.
const hasImage = (page) => page.querySelector("[data-zoom]") !== null;
const allowsImages = hasImage(document);

// Replaces the page with the given one, or loads it if it needs another policy. Returns false if it
// is not a question.
export function showPage(html, url, { push = true } = {}) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const frame = page.querySelector(".frame");
  if (!frame || !page.querySelector("[data-question], [data-gone]")) return false;
  if (hasImage(page) !== allowsImages) {
    location.assign(url.split("#")[0]); // with a fragment the browser would only scroll
    return true;
  }
  pages.dispatchEvent(new Event("left"));
  shownPages += 1;
  const settleList = continueList(frame);
  const trouble = document.querySelector("[data-trouble]:not([hidden])");
  if (trouble && readQuestion() === readQuestion(page)) frame.querySelector("[data-trouble]")?.replaceWith(trouble);
  document.querySelector(".frame").replaceWith(document.adoptNode(frame));
  document.title = page.title;
  if (push && url !== location.href) history.pushState({ portal: true }, "", url);
  settleList();
  revealControls(frame);
  pages.dispatchEvent(new Event("shown"));
  return true;
}

// Returns whether this document was opened from another page of the inbox, as by a link there.
export function isReached() {
  const type = performance.getEntriesByType("navigation")[0]?.type;
  const isAgain = type === "reload" || type === "back_forward"; // with the referrer of the first time
  return !isAgain && document.referrer.startsWith(`${location.origin}/inbox/`);
}

// Opens a URL, without a reload if possible; not if another one was opened or shown before it came.
export async function openPage(url) {
  const question = readQuestion();
  const opening = openings += 1;
  const isWanted = () => opening === openings && readQuestion() === question;
  if (!await fetchPage(url, { push: true, isWanted }) && isWanted()) location.assign(url);
}

// Shows the current page again. Returns false and changes nothing without a connection, or if another
// page was shown before the response came.
export function refreshPage() {
  const before = shownPages;
  return fetchPage(location.href, { push: false, isWanted: () => shownPages === before });
}

async function fetchPage(url, { push, isWanted }) {
  try {
    const response = await fetch(url, { cache: "no-store" });
    const html = await response.text();
    return isWanted() && showPage(html, response.url, { push });
  } catch {
    return false;
  }
}

export function startNavigation() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-go]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (event.detail < 2) openPage(link.href); // a double tap skips one question
  });
  onPageShown(() => {
    scrollTo(0, 0);
    const wrong = document.querySelector("[autofocus]");
    (wrong ?? document.getElementById("main")).focus({ preventScroll: true });
    if (wrong?.matches("textarea, [type=text]")) wrong.setSelectionRange(wrong.value.length, wrong.value.length);
    wrong?.closest(".field, .choices").scrollIntoView({ block: "center" });
  });
  addEventListener("popstate", () => location.reload());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

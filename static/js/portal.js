"use strict";
// What the inbox and the questions share: pages that arrive without a reload, and asking again and
// again whether anything has changed.

const ACTIVE = 3_000; // milliseconds between two polls while somebody is at it,
const IDLE = 60_000; // and when nobody has touched anything for as long as that

// Polls while the page is in sight. `heard` is given each answer but 204.
class Watch {
  constructor(token, address, heard) {
    this.token = token;
    this.address = address; // a function
    this.heard = heard;
    this.touched = Date.now();
    this.stops = new AbortController();
    const { signal } = this.stops;
    for (const kind of ["pointerdown", "keydown", "scroll", "input"]) {
      addEventListener(kind, () => this.touch(), { signal, passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => this.plan(document.hidden ? null : 0), { signal });
    addEventListener("online", () => this.plan(0), { signal });
    this.plan(ACTIVE);
  }

  isActive() {
    return Date.now() - this.touched < IDLE;
  }

  touch() {
    const wasActive = this.isActive();
    this.touched = Date.now();
    if (!wasActive) this.plan(0);
  }

  plan(wait) {
    clearTimeout(this.timer);
    if (wait === null || document.hidden || this.stops.signal.aborted) return;
    this.timer = setTimeout(() => this.ask(), wait);
  }

  async ask() {
    let wait = null;
    try {
      const answer = await fetch(this.address(), { headers: { "X-Watch": this.token }, cache: "no-store" });
      if (this.stops.signal.aborted) return;
      if (answer.status === 403) wait = await this.renewed() ? 0 : null;
      else {
        this.isRenewed = false;
        if (answer.status !== 204) await this.heard(answer);
        wait = this.pause();
      }
    } catch {
      wait = this.pause(); // without a connection there is nothing new
    }
    this.plan(wait);
  }

  pause() {
    return this.isActive() ? ACTIVE : IDLE;
  }

  // A token that has run out, or belongs to an earlier sign-in, is read anew from the page, once.
  async renewed() {
    if (this.isRenewed) return false;
    this.isRenewed = true;
    const page = await (await fetch(location.href, { cache: "no-store" })).text();
    const place = new DOMParser().parseFromString(page, "text/html").querySelector("[data-watch]");
    if (place) this.token = place.dataset.watch;
    return Boolean(place);
  }

  stop() {
    this.stops.abort();
    clearTimeout(this.timer);
  }
}

// A page keeps the policy that it was loaded with, and that of a page with an image alone lets
// anything in from elsewhere.
const hasImage = (page) => page.querySelector("[data-zoom]") !== null;
const letsImagesIn = hasImage(document);

// Puts the page that came in place of the one that is shown; one that needs another policy is
// loaded by itself.
function show(html, url, { push = true } = {}) {
  const come = new DOMParser().parseFromString(html, "text/html");
  const frame = come.querySelector(".frame");
  if (!frame || !come.querySelector("[data-question], [data-gone]")) return false;
  if (hasImage(come) !== letsImagesIn) {
    location.assign(url.split("#")[0]); // with it, the same address would only be scrolled to
    return true;
  }
  dispatchEvent(new Event("portal:leave"));
  document.querySelector(".frame").replaceWith(document.adoptNode(frame));
  document.title = come.title;
  if (push && url !== location.href) history.pushState({ portal: true }, "", url);
  wake(frame);
  dispatchEvent(new Event("portal:show"));
  return true;
}

// Opens an address of the portal in this page where that is possible; `stays` where it is only to
// be looked at anew, and the page is better than none.
async function go(url, { stays = false } = {}) {
  try {
    const answer = await fetch(url, { cache: "no-store" });
    if (show(await answer.text(), answer.url, { push: !stays })) return;
  } catch { /* without a connection the browser says so */ }
  if (!stays) location.assign(url);
}

addEventListener("popstate", () => location.reload());

// Polls the service for changes while the page is visible.

import { renewTokens } from "./tokens.js";

const ACTIVE = 3_000; // milliseconds between two polls while somebody uses the page
const IDLE = 60_000; // milliseconds without input until the page is idle; then also between polls

export class Polling {
  // `buildUrl` returns the URL to poll; `receive` gets each response but 204.
  constructor(token, buildUrl, receive) {
    this.token = token;
    this.buildUrl = buildUrl;
    this.receive = receive;
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
    this.timer = setTimeout(() => this.poll(), wait);
  }

  async poll() {
    let wait = this.pause();
    try {
      const response = await fetch(this.buildUrl(), { headers: { "X-Watch": this.token }, cache: "no-store" });
      if (this.stops.signal.aborted) return;
      if (response.status === 403) wait = await this.renewToken(response) ? 0 : IDLE;
      else {
        this.isRenewed = false;
        if (response.status !== 204 && response.status < 500) await this.receive(response);
      }
    } catch { /* no connection: try again later */ }
    this.plan(wait);
  }

  pause() {
    return this.isActive() ? ACTIVE : IDLE;
  }

  // Reads a new token from the page, if the old one has expired or is from an earlier sign-in. Returns
  // false if nobody is signed in, if a new token is refused too, or if what the page shows is gone.
  async renewToken(refusal) {
    const wasRenewed = this.isRenewed;
    this.isRenewed = false;
    if (wasRenewed) return false;
    const fresh = await renewTokens();
    const place = fresh?.querySelector("[data-watch]");
    if (fresh && !place) await this.receive(refusal);
    if (!place) return false;
    this.token = place.dataset.watch;
    this.isRenewed = true;
    return true;
  }

  stop() {
    this.stops.abort();
    clearTimeout(this.timer);
  }
}

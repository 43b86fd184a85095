// Asks the service again and again whether anything has changed, while the page is in sight.

const ACTIVE = 3_000; // milliseconds between two polls while somebody uses the page,
const IDLE = 60_000; // and when nobody has touched anything for as long as that

export class Polling {
  // `address` is a function; `receive` is given each response but 204.
  constructor(token, address, receive) {
    this.token = token;
    this.address = address;
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
    let wait = null;
    try {
      const response = await fetch(this.address(), { headers: { "X-Watch": this.token }, cache: "no-store" });
      if (this.stops.signal.aborted) return;
      if (response.status === 403) wait = await this.renewToken() ? 0 : null;
      else {
        this.isRenewed = false;
        if (response.status !== 204) await this.receive(response);
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

  // A token that has expired, or belongs to an earlier sign-in, is read from the page again, once.
  async renewToken() {
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

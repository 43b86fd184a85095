"use strict";
// A question that stays true and loses nothing: the countdown, the draft, the claim, and sending
// without a reload. All of it works without this script too, only less comfortably.

const WEEK = 7 * 24 * 3600 * 1000;
const NOTHING = { values: [], words: "" };
const drafts = {
  key: (person, question) => `draft:${person}:${question}`,
  read(key) {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? NOTHING;
    } catch {
      return NOTHING;
    }
  },
  write(key, values, words) {
    try {
      if (values.some(Boolean)) localStorage.setItem(key, JSON.stringify({ values, words, at: Date.now() }));
      else localStorage.removeItem(key);
    } catch { /* no room, or not allowed */ }
  },
  sweep() {
    try {
      for (const key of Object.keys(localStorage).filter((name) => name.startsWith("draft:"))) {
        const { at } = JSON.parse(localStorage.getItem(key)) ?? {};
        if (!(Date.now() - at < WEEK)) localStorage.removeItem(key);
      }
    } catch { /* nothing to sweep */ }
  },
};

function spoken(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ""}`;
  if (whole < 86400) {
    const minutes = Math.floor(whole / 60) % 60;
    return `${Math.floor(whole / 3600)} h${minutes ? ` ${minutes} min` : ""}`;
  }
  return `${Math.floor(whole / 86400)} d`;
}

// The tabs of one browser tell each other which question they leave.
const claims = window.BroadcastChannel && new BroadcastChannel("claims");

class Question {
  constructor(place) {
    this.place = place;
    this.data = place.dataset;
    this.form = document.getElementById("answer-form");
    this.key = drafts.key(this.data.person, this.data.question);
    this.stops = new AbortController();
    if (this.form) this.startForm();
    else this.showDraft();
    this.startImage();
    this.startHolding();
    if (this.data.left) this.startCountdown();
    const address = () => `${this.data.state}?${new URLSearchParams({ v: this.data.version })}`;
    this.watch = new Watch(this.data.watch, address, () => this.refresh());
  }

  leave() {
    this.stops.abort();
    this.watch.stop();
    clearInterval(this.ticking);
    clearInterval(this.renewing);
    clearInterval(this.holding);
  }

  // The page anew, with what was typed so far.
  async refresh() {
    this.isStaying = true;
    const { id, selectionStart, selectionEnd } = document.activeElement ?? {};
    const [left, top] = [scrollX, scrollY];
    await go(location.href, { stays: true });
    this.isStaying = false;
    scrollTo(left, top);
    const field = id && document.getElementById(id);
    if (!field?.closest("#answer-form")) return;
    field.focus({ preventScroll: true });
    if (selectionStart != null) field.setSelectionRange(selectionStart, selectionEnd);
  }

  // ---- the form

  values() {
    return new FormData(this.form).getAll("answer").map(String);
  }

  // What was chosen, as it is labelled.
  words() {
    const chosen = this.form.querySelectorAll(".choice:has(:checked) > span");
    return [...chosen].map((label) => label.textContent).join(", ");
  }

  startForm() {
    const { values } = drafts.read(this.key);
    if (values.length && !this.values().some(Boolean)) this.restore(values);
    this.form.addEventListener("input", () => this.changed());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.startNumber();
    this.changed();
    const wrong = this.form.querySelector("[aria-invalid=true]");
    if (wrong) (wrong.querySelector("input") ?? wrong).focus();
  }

  restore(values) {
    for (const field of this.form.querySelectorAll("[name=answer]")) {
      if (field.type === "radio" || field.type === "checkbox") field.checked = values.includes(field.value);
      else field.value = values[0];
    }
  }

  changed() {
    const values = this.values();
    drafts.write(this.key, values, this.words() || values.join(", "));
    const chosen = this.form.querySelector("[data-chosen]");
    if (chosen) this.countChosen(chosen, values.length);
    const text = this.form.querySelector("textarea");
    if (text) this.countLetters(text);
  }

  countChosen(place, count) {
    const [least, most] = [Number(place.dataset.least), Number(place.dataset.most)];
    place.textContent = `${count} chosen${count > most ? `, ${count - most} too many` : ""}`;
    place.classList.toggle("wrong", count > most);
    place.dataset.enough = String(count >= least && count <= most);
  }

  countLetters(text) {
    const counter = this.form.querySelector("[data-counter]");
    const count = [...text.value].length;
    const most = Number(text.dataset.most);
    counter.hidden = false;
    counter.textContent = `${count.toLocaleString("en")} of ${most.toLocaleString("en")}`;
    counter.classList.toggle("wrong", count > most);
  }

  startNumber() {
    const field = this.form.querySelector("input.number");
    if (!field) return;
    const sign = this.form.querySelector("[data-sign]");
    const slider = this.form.querySelector("[data-slider]");
    if (sign) {
      sign.hidden = false;
      field.inputMode = "decimal"; // the button has the sign that some keypads lack
      sign.addEventListener("click", () => {
        field.value = field.value.startsWith("-") ? field.value.slice(1) : `-${field.value}`;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        field.focus();
      });
    }
    if (!slider) return;
    slider.hidden = false;
    const follow = () => { if (field.value.trim()) slider.value = field.value.replace(",", "."); };
    follow();
    slider.addEventListener("input", () => { field.value = slider.value; });
    field.addEventListener("input", follow);
  }

  // ---- sending

  async send() {
    if (this.isSending) return;
    this.isSending = true;
    const button = document.querySelector("[data-send]");
    button.setAttribute("aria-disabled", "true");
    this.trouble("");
    try {
      const answer = await this.post(this.form);
      if (!new URL(answer.url).pathname.startsWith("/inbox/")) return location.assign(answer.url);
      const html = await answer.text();
      if (answer.status >= 500) return this.trouble("The service is away for a moment. Nothing is lost: your answer is kept here. Send it again.");
      if (answer.ok && answer.redirected) drafts.write(this.key, []);
      const url = answer.redirected ? answer.url : location.href;
      if (!show(html, url)) location.assign(answer.url);
      else if (answer.redirected) announce("Sent");
    } catch {
      this.trouble("No connection: your answer was perhaps not sent. It is kept here. Sending it again does no harm.");
    } finally {
      this.isSending = false;
      button.removeAttribute("aria-disabled");
    }
  }

  // A token that has run out is fetched anew, once: somebody signed in again in another tab.
  async post(form) {
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.action, { method: "POST", body });
    if (answer.status !== 403) return answer;
    const page = await (await fetch(location.href, { cache: "no-store" })).text();
    const fresh = new DOMParser().parseFromString(page, "text/html").querySelector("[name=csrfmiddlewaretoken]");
    if (!fresh) return answer;
    body.set("csrfmiddlewaretoken", fresh.value);
    return fetch(form.action, { method: "POST", body });
  }

  trouble(words) {
    const place = document.querySelector("[data-trouble]");
    place.textContent = words;
    place.hidden = !words;
  }

  // ---- what can no longer be sent

  showDraft() {
    const card = document.querySelector("[data-draft-kept]");
    const words = card.querySelector("[data-draft-words]");
    if ("answered" in this.data) drafts.write(this.key, []); // it was sent after all
    else words.textContent ||= drafts.read(this.key).words;
    card.hidden = !words.textContent;
  }

  // ---- time, by the server's clock

  startCountdown() {
    this.ends = performance.now() + (Number(this.data.left) - Number(this.data.now)) * 1000;
    const badge = document.querySelector("[data-countdown]");
    const text = document.querySelector("[data-countdown-text]");
    const tick = () => {
      const left = (this.ends - performance.now()) / 1000;
      text.textContent = `${spoken(left)} left`;
      badge.classList.toggle("badge-error", left <= 60);
      if (left <= 60 && !this.wasWarned) {
        this.wasWarned = true;
        if (left > 0) announce(`Less than a minute left. Then “${this.data.default}” is used.`);
      }
      if (left > -1) return;
      clearInterval(this.ticking);
      this.refresh();
    };
    this.ticking = setInterval(tick, 1000);
    tick();
  }

  // ---- the claim

  startHolding() {
    const held = this.held = document.querySelector("[data-held]");
    const { signal } = this.stops;
    for (const form of document.querySelectorAll("form[data-swap]")) {
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.hold(form);
      }, { signal });
    }
    if (!held) return;
    this.lease = Number(held.dataset.lease) * 1000;
    this.holdsUntil = performance.now() + Number(held.dataset.held) * 1000;
    held.querySelector("[data-held-fixed]").hidden = true;
    held.querySelector("[data-held-live]").hidden = false;
    this.holding = setInterval(() => this.tellHold(held), 1000);
    const keep = () => { if (this.isAttended()) this.renew(held); };
    this.renewing = setInterval(keep, Math.max(5000, this.lease / 4));
    this.tellHold(held);
    // another tab has let go of what this one holds too
    claims?.addEventListener("message", ({ data }) => {
      if (data === this.data.question) this.renew(held);
    }, { signal });
    addEventListener("pagehide", () => this.giveBack(), { signal });
    addEventListener("portal:leave", () => { if (!this.isStaying) this.giveBack(); }, { signal });
  }

  tellHold(held) {
    const left = Math.max(0, this.holdsUntil - performance.now()) / 1000;
    held.querySelector("[data-held-left]").textContent = spoken(left);
  }

  async hold(form) {
    try {
      const answer = await this.post(form);
      this.isStaying = this.isTaken = true;
      if (!show(await answer.text(), answer.url, { push: false })) location.assign(answer.url);
    } catch {
      this.isStaying = this.isTaken = false;
      announce("No connection");
    }
  }

  // Where nobody is at it, the lease runs out.
  isAttended() {
    return !document.hidden && this.watch.isActive();
  }

  async renew(held) {
    const body = new URLSearchParams(new FormData(document.querySelector("[data-release]")));
    try {
      const answer = await fetch(held.dataset.renew, { method: "POST", body });
      if (answer.status !== 204) return;
      held.dataset.until = answer.headers.get("X-Lease");
      this.holdsUntil = performance.now() + this.lease;
    } catch { /* next time, then */ }
  }

  // Only the lease that this page knows of: another page may have renewed it since.
  giveBack() {
    const form = document.querySelector("[data-release]");
    if (!form || this.isSending) return;
    const body = new FormData(form);
    body.set("leaving", this.held.dataset.until);
    navigator.sendBeacon(form.action, body);
    claims?.postMessage(this.data.question);
  }

  // ---- the image

  startImage() {
    const link = document.querySelector("[data-zoom]");
    if (!link) return;
    const image = link.querySelector("img");
    const lost = () => {
      link.hidden = true;
      document.querySelector("[data-image-lost]").hidden = false;
    };
    if (image.complete && !image.naturalWidth) lost();
    image.addEventListener("error", lost);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      view(image);
    });
  }
}

// The image over the whole screen; another click shows it in its own size.
function view(image) {
  const dialog = document.createElement("dialog");
  dialog.className = "viewer";
  dialog.setAttribute("aria-label", image.alt);
  const large = image.cloneNode();
  const close = document.createElement("button");
  close.className = "btn";
  close.textContent = "Close";
  const zoom = document.createElement("button");
  zoom.className = "btn";
  const label = () => { zoom.textContent = dialog.classList.contains("is-large") ? "Fit" : "Zoom in"; };
  const toggle = () => { dialog.classList.toggle("is-large"); label(); };
  label();
  large.addEventListener("click", toggle);
  zoom.addEventListener("click", toggle);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  const bar = document.createElement("div");
  bar.className = "viewer-bar";
  bar.append(zoom, close);
  dialog.append(bar, large);
  document.body.append(dialog);
  dialog.showModal();
}

let question = null;

function begin() {
  const before = question;
  before?.leave();
  question = null;
  const place = document.querySelector("[data-question]");
  if (place) question = new Question(place);
  // the page before this one may have let go of it, unless it has only now taken it
  if (question?.held && question.isAttended() && !before?.isTaken) question.renew(question.held);
  const gone = document.querySelector("[data-gone]");
  if (!gone) return;
  const id = /\/inbox\/([0-9a-f]{24})\//.exec(location.pathname)?.[1];
  const card = document.querySelector("[data-draft-kept]");
  const words = card.querySelector("[data-draft-words]");
  words.textContent ||= drafts.read(drafts.key(gone.dataset.person, id)).words;
  card.hidden = !words.textContent;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-go]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.href);
});
addEventListener("portal:show", () => {
  begin();
  scrollTo(0, 0);
  document.getElementById("main").focus({ preventScroll: true });
});
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
drafts.sweep();
begin();

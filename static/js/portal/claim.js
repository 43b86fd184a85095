// Claims a question for the reviewer, renews the lease while they use the page, and releases it when
// they leave.

import { announce } from "../announcements.js";
import { gettext } from "../words.js";
import { formatTimeLeft } from "./countdown.js";
import { onPageLeft, readQuestion, showPage } from "./navigation.js";
import { postForm } from "./tokens.js";

const MIN_RENEWAL = 5_000; // milliseconds

// Tells the other tabs of this browser which question a tab leaves.
const tabs = window.BroadcastChannel && new BroadcastChannel("claims");

export class Claim {
  // `isAttended` and `isSending` are functions: whether somebody uses the page, and whether its
  // answer is being sent.
  constructor(question, { isAttended, isSending, signal }) {
    this.question = question;
    this.isAttended = isAttended;
    this.isSending = isSending;
    this.isRefreshing = false; // the next page is the same question
    this.isTaken = false; // by this page, with the button
    this.held = document.querySelector("[data-held]");
    for (const form of document.querySelectorAll("form[data-swap]")) {
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.change(form);
      }, { signal });
    }
    if (this.held) this.hold(signal);
  }

  hold(signal) {
    this.lease = Number(this.held.dataset.lease) * 1000;
    this.until = performance.now() + Number(this.held.dataset.held) * 1000;
    this.held.querySelector("[data-held-fixed]").hidden = true;
    this.held.querySelector("[data-held-live]").hidden = false;
    this.showTimeLeft();
    const showing = setInterval(() => this.showTimeLeft(), 1000);
    const renewing = setInterval(() => this.renewIfAttended(), Math.max(MIN_RENEWAL, this.lease / 4));
    signal.addEventListener("abort", () => {
      clearInterval(showing);
      clearInterval(renewing);
    });
    // another tab has released this question: claim it for this tab again
    tabs?.addEventListener("message", ({ data }) => {
      if (data === this.question) this.renew();
    }, { signal });
    addEventListener("pagehide", () => this.release(), { signal });
    onPageLeft(() => { if (!this.isRefreshing) this.release(); }, { signal });
  }

  showTimeLeft() {
    const left = Math.max(0, this.until - performance.now()) / 1000;
    this.held.querySelector("[data-held-left]").textContent = formatTimeLeft(left);
  }

  // Posts the form that claims or releases, and shows the page it returns. A claim that comes after
  // the reader has gone on is released.
  async change(form) {
    try {
      const response = await postForm(form);
      if (!response) return;
      const html = await response.text();
      if (readQuestion() !== this.question) {
        release(new DOMParser().parseFromString(html, "text/html"));
        return;
      }
      this.isRefreshing = this.isTaken = true;
      if (!showPage(html, response.url, { push: false })) location.assign(response.url);
    } catch {
      this.isRefreshing = this.isTaken = false;
      announce(gettext("No connection"));
    }
  }

  // Lets the lease expire if nobody uses the page.
  renewIfAttended() {
    if (this.held && this.isAttended()) this.renew();
  }

  async renew() {
    try {
      const response = await postForm(document.querySelector("[data-release]"), { url: this.held.dataset.renew });
      if (response?.status !== 204) return;
      this.held.dataset.until = response.headers.get("X-Lease");
      this.until = performance.now() + this.lease;
      if (readQuestion() !== this.question) release(this.held.closest(".frame"));
    } catch { /* the next renewal may succeed */ }
  }

  release() {
    if (!this.isSending() && release(document)) tabs?.postMessage(this.question);
  }
}

// Releases only the lease of the page, if any: another page may have renewed it since.
function release(page) {
  const form = page.querySelector("[data-release]");
  if (!form) return false;
  const body = new FormData(form);
  body.set("leaving", page.querySelector("[data-held]").dataset.until);
  navigator.sendBeacon(form.action, body);
  return true;
}

// Sends the answer without a reload. The draft stays until the service has accepted the answer.

import { announce } from "../announcements.js";
import { gettext } from "../words.js";
import { findComment } from "./answer_form.js";
import { readQuestion, showPage } from "./navigation.js";
import { postForm, readForm } from "./tokens.js";

const UNAVAILABLE = gettext("Temporarily unavailable. Your answer is saved here. Please send it again.");
const NO_CONNECTION = gettext("No connection. Your answer may not have been sent. It is saved here, and you can safely send it again.");
const NOT_SENT = gettext("Your answer to an earlier question was not sent.");

// The second tap of a double tap, or the second Enter, was meant for the page before.
const DOUBLE_TAP = 700; // milliseconds

export class Submission {
  // `isNext`: the form has just taken the place of another page, and is not sent untouched at once.
  constructor(form, draft, { isNext }) {
    this.form = form;
    this.draft = draft;
    this.question = readQuestion();
    this.isSending = false;
    this.opensAt = isNext ? performance.now() + DOUBLE_TAP : 0;
    const touch = ({ target }) => { if (!target.closest("[data-send]")) this.opensAt = 0; };
    for (const kind of ["input", "click"]) {
      form.addEventListener(kind, touch);
      findComment()?.addEventListener(kind, touch); // it is outside the form
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(event.submitter);
    });
  }

  async send(pressed) {
    if (this.isSending || performance.now() < this.opensAt) return;
    this.isSending = true;
    const button = pressed ?? document.querySelector("[data-send]");
    button.setAttribute("aria-disabled", "true");
    this.showError("");
    const body = readForm(this.form, pressed);
    const leave = () => navigator.sendBeacon(this.form.action, body); // which outlives the page
    addEventListener("pagehide", leave);
    try {
      const response = await postForm(this.form, { pressed });
      if (response) await this.receive(response);
    } catch {
      this.showError(this.isShown() ? NO_CONNECTION : NOT_SENT);
    } finally {
      removeEventListener("pagehide", leave);
      this.isSending = false;
      button.removeAttribute("aria-disabled");
    }
  }

  // A redirect means that the answer was accepted; any other page has the form with its errors.
  async receive(response) {
    const html = await response.text();
    const isOfInbox = new URL(response.url).pathname.startsWith("/inbox/");
    const isAccepted = isOfInbox && response.ok && response.redirected;
    if (isAccepted) this.draft.remove();
    if (!this.isShown()) return isAccepted ? announce(gettext("Sent")) : this.showError(NOT_SENT);
    if (!isOfInbox) return location.assign(response.url);
    if (response.status >= 500) return this.showError(UNAVAILABLE);
    const url = response.redirected ? response.url : location.href;
    if (!showPage(html, url)) location.assign(response.url);
    else if (response.redirected) announce(gettext("Sent"));
  }

  // Its reader may have gone on to another question before the response came.
  isShown() {
    return readQuestion() === this.question;
  }

  // Only announces it on a page without a button.
  showError(words) {
    const place = document.querySelector("[data-trouble]");
    if (!place) return announce(words);
    place.textContent = words;
    place.hidden = !words;
  }
}

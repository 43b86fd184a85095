// Sends the answer without a reload. The draft stays until the service has accepted the answer.

import { announce } from "../announcements.js";
import { gettext } from "../words.js";
import { showPage } from "./navigation.js";

const UNAVAILABLE = gettext("Temporarily unavailable. Your answer is saved here. Please send it again.");
const NO_CONNECTION = gettext("No connection. Your answer may not have been sent. It is saved here, and you can safely send it again.");

// Posts a form. If its token has expired, as after a new sign-in in another tab, posts it once more
// with a new token.
export async function postForm(form) {
  const body = new URLSearchParams(new FormData(form));
  const response = await fetch(form.action, { method: "POST", body });
  if (response.status !== 403) return response;
  const page = await (await fetch(location.href, { cache: "no-store" })).text();
  const fresh = new DOMParser().parseFromString(page, "text/html").querySelector("[name=csrfmiddlewaretoken]");
  if (!fresh) return response;
  body.set("csrfmiddlewaretoken", fresh.value);
  return fetch(form.action, { method: "POST", body });
}

export class Submission {
  constructor(form, draft) {
    this.form = form;
    this.draft = draft;
    this.isSending = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
  }

  async send() {
    if (this.isSending) return;
    this.isSending = true;
    const button = document.querySelector("[data-send]");
    button.setAttribute("aria-disabled", "true");
    this.showError("");
    try {
      await this.receive(await postForm(this.form));
    } catch {
      this.showError(NO_CONNECTION);
    } finally {
      this.isSending = false;
      button.removeAttribute("aria-disabled");
    }
  }

  // A redirect means that the answer was accepted; any other page has the form with its errors.
  async receive(response) {
    if (!new URL(response.url).pathname.startsWith("/inbox/")) return location.assign(response.url);
    const html = await response.text();
    if (response.status >= 500) return this.showError(UNAVAILABLE);
    if (response.ok && response.redirected) this.draft.remove();
    const url = response.redirected ? response.url : location.href;
    if (!showPage(html, url)) location.assign(response.url);
    else if (response.redirected) announce(gettext("Sent"));
  }

  showError(words) {
    const place = document.querySelector("[data-trouble]");
    place.textContent = words;
    place.hidden = !words;
  }
}

// The page of a question, and of each next one without a reload.

import { announce } from "../announcements.js";
import { Draft, removeOldDrafts } from "../drafts.js";
import { showUnsentDraft, startAnswerForm } from "./answer_form.js";
import { startAnswerZone } from "./answer_zone.js";
import { Claim } from "./claim.js";
import { startCountdown } from "./countdown.js";
import { startFocus } from "./focus.js";
import { showKeySwitch, startKeyboard } from "./keyboard.js";
import { isReached, onPageShown, refreshPage, startNavigation } from "./navigation.js";
import { Polling } from "./polling.js";
import { Submission } from "./submit.js";
import { gettext } from "../words.js";

class Question {
  // `before`: the id of the question shown before
  constructor(place, before) {
    this.data = place.dataset;
    this.stops = new AbortController();
    const { signal } = this.stops;
    const isNext = before ? before !== this.data.question : isReached();
    this.startAnswer(new Draft(this.data.person, this.data.question), { isNext });
    if (document.querySelector("[data-zoom]")) start(import("./image.js"), (script) => script.startImage());
    startAnswerZone(this.data.question, signal);
    this.polling = new Polling(this.data.watch, () => this.buildStateUrl(), () => this.refresh());
    this.claim = new Claim(this.data.question, {
      isAttended: () => !document.hidden && this.polling.isActive(),
      isSending: () => Boolean(this.submission?.isSending),
      signal,
    });
    if (!this.data.left) return;
    startCountdown({
      seconds: Number(this.data.left) - Number(this.data.now),
      defaultAnswer: this.data.default,
      onEnd: () => this.refresh(),
      signal,
    });
  }

  startAnswer(draft, { isNext }) {
    const form = document.getElementById("answer-form");
    if (form) {
      if (form.querySelector("[data-field]")) {
        start(import("./several_fields.js"), (script) => script.startSeveralFields(form, draft));
      } else {
        startAnswerForm(form, draft);
      }
      if (this.data.earlier) start(import("./earlier.js"), (script) => script.offerDraft(this.data));
      this.submission = new Submission(form, draft, { isNext });
      return;
    }
    if ("answered" in this.data) draft.remove();
    showUnsentDraft(draft);
  }

  buildStateUrl() {
    return `${this.data.state}?${new URLSearchParams({ v: this.data.version })}`;
  }

  stop() {
    this.stops.abort();
    this.polling.stop();
  }

  async refresh() {
    this.claim.isRefreshing = true;
    const [left, top] = [scrollX, scrollY];
    const isShown = await refreshPage();
    this.claim.isRefreshing = false;
    if (isShown) scrollTo(left, top);
  }
}

// Says to screen readers what a question has become.
function announceChange(before, now) {
  if (!now || before.question !== now.question || before.version === now.version) return;
  const said = [...document.querySelectorAll("[data-message], [data-spoken]")].map((each) => each.innerText);
  announce(said.join(" ").replace(/\s+/g, " ") || gettext("The question is open again"));
}

// Runs a script that few pages need.
function start(loading, run) {
  loading.then(run, () => {});
}

function offerNotificationsIfAsked() {
  if (document.querySelector("[data-push]")) start(import("../push.js"), (script) => script.offerNotifications());
}

let question = null;

function startPage() {
  const before = question;
  before?.stop();
  question = null;
  const place = document.querySelector("[data-question]");
  if (place) question = new Question(place, before?.data.question);
  if (before) announceChange(before.data, question?.data);
  // the previous page may have released this claim, unless it has just taken it
  if (!before?.claim.isTaken) question?.claim.renewIfAttended();
  const gone = document.querySelector("[data-gone]");
  const id = /\/inbox\/([0-9a-f]{24})\//.exec(location.pathname)?.[1];
  if (gone && before) announce(gone.querySelector("h1").textContent);
  if (gone) showUnsentDraft(new Draft(gone.dataset.person, id));
}

removeOldDrafts();
startPage();
document.documentElement.dataset.guarded = ""; // by Submission, no longer by the style sheet
onPageShown(startPage);
startNavigation();
startFocus();
startKeyboard();
onPageShown(showKeySwitch);
offerNotificationsIfAsked();
onPageShown(offerNotificationsIfAsked);

// Counts down to a question's deadline. The time left comes from the server's clock.

import { announce } from "../announcements.js";
import { isolate } from "../bidi.js";
import { formatNumber, gettext } from "../words.js";

const LAST_MINUTE = 60; // seconds
const PAUSE = 3; // seconds before a page that was opened after the deadline asks again

// Shows seconds in the last minute only: a number that changes every second draws the eye.
export function formatTimeLeft(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < LAST_MINUTE) return gettext("%(count)s s", { count: formatNumber(whole) });
  if (whole < 3600) return formatMinutes(whole / 60);
  if (whole < 86400) {
    const hours = gettext("%(count)s h", { count: formatNumber(Math.floor(whole / 3600)) });
    const minutes = Math.floor(whole / 60) % 60;
    return minutes ? `${hours} ${formatMinutes(minutes)}` : hours;
  }
  return gettext("%(count)s d", { count: formatNumber(Math.floor(whole / 86400)) });
}

function formatMinutes(minutes) {
  return gettext("%(count)s min", { count: formatNumber(Math.floor(minutes)) });
}

// Counts down from `seconds`; after that `defaultAnswer` is used. Calls `onEnd` one second after the
// deadline, when the service has settled the question. A question whose row is locked stays open for
// longer; its page comes here again, and must not ask without a pause.
export function startCountdown({ seconds, defaultAnswer, onEnd, signal }) {
  const end = performance.now() + seconds * 1000;
  const badge = document.querySelector("[data-countdown]");
  const text = document.querySelector("[data-countdown-text]");
  const last = Math.min(-1, seconds - PAUSE);
  let wasWarned = false;
  const tick = () => {
    const left = (end - performance.now()) / 1000;
    text.textContent = gettext("%(left)s left", { left: formatTimeLeft(left) });
    badge.classList.toggle("badge-error", left <= LAST_MINUTE);
    if (left <= LAST_MINUTE && !wasWarned) {
      wasWarned = true;
      if (left > 0) {
        const said = { answer: isolate(defaultAnswer) };
        announce(gettext("Less than a minute left. If nobody answers in time: “%(answer)s”.", said));
      }
    }
    if (left > last) return;
    clearInterval(timer);
    onEnd();
  };
  const timer = setInterval(tick, 1000);
  signal.addEventListener("abort", () => clearInterval(timer));
  tick();
}

// The answer form: draft, counters, comment, sign, slider.

import { formatNumber, gettext } from "../words.js";

export function findComment() {
  return document.getElementById("comment");
}

function valuesOf(form) {
  return new FormData(form).getAll("answer").map(String);
}

export function wordsIn(place) {
  const chosen = place.querySelectorAll(".choice:has(:checked) > span");
  return [...chosen].map((label) => label.textContent).join(", ");
}

function restore(form, values) {
  for (const field of form.querySelectorAll("[name=answer]")) {
    if (field.type === "radio" || field.type === "checkbox") field.checked = values.includes(field.value);
    else field.value = values[0] ?? "";
  }
}

function countChosen(place, count) {
  const [least, most] = [Number(place.dataset.least), Number(place.dataset.most)];
  place.textContent = count > most
    ? gettext("%(count)s chosen, %(excess)s too many", { count, excess: count - most })
    : gettext("%(count)s chosen", { count });
  place.classList.toggle("wrong", count > most);
  place.dataset.enough = String(count >= least && count <= most);
}

function countCharacters(text) {
  const counter = text.closest(".field").querySelector("[data-counter]");
  const count = [...text.value].length;
  const most = Number(text.dataset.most);
  counter.hidden = false;
  counter.textContent = gettext("%(number)s of %(total)s", {
    number: formatNumber(count),
    total: formatNumber(most),
  });
  counter.classList.toggle("wrong", count > most);
}

const MINUS = /^[-\u2212\u2013\uff0d]/;

function startSign(button, field) {
  button.hidden = false;
  field.inputMode = "decimal";
  button.addEventListener("click", () => {
    const typed = field.value.trim();
    field.value = MINUS.test(typed) ? typed.replace(MINUS, "") : `-${typed}`;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
}

function startSlider(slider, field) {
  slider.hidden = false;
  const mark = formatNumber(0.5).slice(1, 2);
  const follow = () => {
    const number = Number(field.value.normalize("NFKC").replace(MINUS, "-").replace(mark, "."));
    if (field.value.trim() && !Number.isNaN(number)) slider.value = number;
  };
  follow();
  slider.addEventListener("input", () => { field.value = slider.value.replace(".", mark); });
  field.addEventListener("input", follow);
}

function startNumber(row) {
  const field = row.querySelector("input.number");
  const sign = row.querySelector("[data-sign]");
  const slider = row.querySelector("[data-slider]");
  if (sign) startSign(sign, field);
  if (slider) startSlider(slider, field);
}

// Opens the comment where the chosen option needs one. `saved` is the draft's.
function startComment({ form, saved, isNewer, onInput }) {
  const place = document.querySelector("[data-comment]");
  const field = findComment();
  if (!place) return;
  const demanding = JSON.parse(place.dataset.demanding);
  if (isNewer || (saved && !field.value)) {
    field.value = saved;
    place.open ||= saved !== "";
  }
  const follow = () => {
    const isNeeded = valuesOf(form).some((value) => demanding.includes(value));
    if (isNeeded) place.open = true;
    place.toggleAttribute("data-needed", isNeeded);
    field.setAttribute("aria-required", String(isNeeded));
    countCharacters(field);
  };
  form.addEventListener("input", follow);
  field.addEventListener("input", () => {
    follow();
    onInput();
  });
  place.querySelector("summary").addEventListener("click", () => {
    setTimeout(() => { if (place.open) field.focus(); });
  });
  follow();
}

export function startAnswerForm(form, draft, fields = { valuesOf, wordsOf: wordsIn, restore }) {
  const update = () => {
    const values = fields.valuesOf(form);
    const comment = findComment()?.value ?? "";
    const words = [fields.wordsOf(form) || values.join(", "), comment.trim()].filter(Boolean).join("\n\n");
    draft.write({ values, comment, words });
    const chosen = form.querySelector("[data-chosen]");
    if (chosen) countChosen(chosen, values.length);
    form.querySelectorAll("textarea[data-most]").forEach(countCharacters);
  };
  const { values, comment } = draft.read();
  const isDrafted = values.some(Boolean);
  const isNewer = draft.isOfPage || ((isDrafted || comment) && document.querySelector("[data-was-saved]"));
  if (isNewer || (isDrafted && !fields.valuesOf(form).some(Boolean))) fields.restore(form, values);
  form.addEventListener("input", update);
  startComment({ form, saved: comment, isNewer, onInput: update });
  form.querySelectorAll(".number-row").forEach(startNumber);
  update();
}

// Shows a draft that can no longer be sent, unless the server has rendered one.
export function showUnsentDraft(draft) {
  const card = document.querySelector("[data-draft-kept]");
  const words = card.querySelector("[data-draft-words]");
  words.textContent ||= draft.read().words;
  card.hidden = !words.textContent;
}

// The answer form: draft, counters, comment, sign, slider.

import { isGiven } from "../drafts.js";
import { formatNumber, gettext } from "../words.js";

const TEXTS = "textarea, input:not([type=radio], [type=checkbox])";

export function findComment() {
  return document.getElementById("comment");
}

// The fields of the answer: `answer`, and those whose name begins with it and a dot.
function valuesOf(form) {
  const pairs = [...new FormData(form)].filter(([name]) => name.split(".")[0] === "answer");
  return pairs.map(([name, value]) => [name, String(value)]);
}

// One line for each field of several, with its label.
function wordsOf(form, values) {
  const fields = [...form.querySelectorAll("[data-field]")];
  if (!fields.length) return wordsIn(form) || values.map(([, value]) => value).join(", ");
  const lines = fields.map((field) => [field.dataset.field, wordsIn(field) || field.querySelector(TEXTS)?.value.trim()]);
  return lines.filter(([, words]) => words).map((line) => line.join(": ")).join("\n");
}

function wordsIn(place) {
  const chosen = place.querySelectorAll(".choice:has(:checked) > span, option:checked:not([value=''])");
  return [...chosen].map((label) => label.textContent).join(", ");
}

function restore(form, values) {
  for (const field of form.querySelectorAll("[name=answer], [name^='answer.']")) {
    const own = values.filter(([name]) => name === field.name).map(([, value]) => value);
    if (field.type === "radio" || field.type === "checkbox") field.checked = own.includes(field.value);
    else field.value = own[0] ?? "";
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

// Opens the comment where the chosen option needs one. `saved` is the comment of the draft, newer than
// the page's if `isNewer`.
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
    const isNeeded = new FormData(form).getAll("answer").some((value) => demanding.includes(value));
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

export function startAnswerForm(form, draft) {
  const update = () => {
    const values = valuesOf(form);
    const comment = findComment()?.value ?? "";
    const words = [wordsOf(form, values), comment.trim()].filter(Boolean).join("\n\n");
    draft.write({ values, comment, words });
    for (const place of form.querySelectorAll("[data-chosen]")) {
      countChosen(place, place.closest("fieldset").querySelectorAll(":checked").length);
    }
    for (const text of form.querySelectorAll("textarea")) countCharacters(text);
  };
  const { values, comment } = draft.read();
  const isDrafted = isGiven(values);
  const isNewer = draft.isOfPage || ((isDrafted || comment) && document.querySelector("[data-was-saved]"));
  const isUntouched = !isGiven(valuesOf(form)) || form.querySelector("[data-defaults]");
  if (isNewer || (isDrafted && isUntouched)) restore(form, values);
  form.addEventListener("input", update);
  startComment({ form, saved: comment, isNewer, onInput: update });
  for (const row of form.querySelectorAll(".number-row")) startNumber(row);
  update();
}

// Shows a draft that can no longer be sent, unless the server has rendered one.
export function showUnsentDraft(draft) {
  const card = document.querySelector("[data-draft-kept]");
  const words = card.querySelector("[data-draft-words]");
  words.textContent ||= draft.read().words;
  card.hidden = !words.textContent;
}

// The answer form with several fields, named `answer.NAME`. A draft has a text of name and value for each
// value that is given.

import { startAnswerForm, wordsIn } from "./answer_form.js";

const TEXTS = "textarea, input:not([type=radio], [type=checkbox])";

const write = (name, value) => `${name}\n${value}`;

function valuesOf(form) {
  const pairs = [...new FormData(form)].filter(([name, value]) => name.split(".")[0] === "answer" && value);
  return pairs.map(([name, value]) => write(name, value));
}

// One line for each field, with its label.
function wordsOf(form) {
  const fields = [...form.querySelectorAll("[data-field]")];
  const lines = fields.map((field) => [field.dataset.field, readWords(field)]);
  return lines.filter(([, words]) => words).map((line) => line.join(": ")).join("\n");
}

function readWords(field) {
  const select = field.querySelector("select");
  if (select) return select.value && select.selectedOptions[0].textContent;
  return wordsIn(field) || field.querySelector(TEXTS)?.value.trim() || (field.querySelector(".check :checked") && "✓");
}

function restore(form, values) {
  for (const field of form.querySelectorAll("[name=answer], [name^='answer.']")) {
    if (field.type === "radio" || field.type === "checkbox") {
      field.checked = values.includes(write(field.name, field.value));
    } else {
      const start = write(field.name, "");
      field.value = values.find((each) => each.startsWith(start))?.slice(start.length) ?? "";
    }
  }
}

// A draft counts more than the defaults of the fields.
export function startSeveralFields(form, draft) {
  const { values } = draft.read();
  if (form.querySelector("[data-defaults]") && values.length) restore(form, values);
  startAnswerForm(form, draft, { valuesOf, wordsOf, restore });
}

// The answer form with several fields, named `answer.NAME`. A draft has a text of name and value for each
// value that is given.

import { startAnswerForm, wordsIn } from "./answer_form.js";

const TEXTS = "textarea, input:not([type=radio], [type=checkbox])";

const write = (name, value) => `${name}\n${value}`;

// Returns whether all of these fields are as a program proposed them: then there is nothing to save.
function areKept(fields) {
  return fields.length > 0 && fields.every((field) => {
    if (!field.matches("[data-kept]")) return false;
    if (field.options) return [...field.options].every((each) => each.selected === each.defaultSelected);
    return field.value === field.defaultValue && field.checked === field.defaultChecked;
  });
}

function valuesOf(form) {
  const named = (name) => [...form.elements].filter((field) => field.name === name);
  const pairs = [...new FormData(form)].filter(([name, value]) => (
    name.split(".")[0] === "answer" && value && !areKept(named(name))
  ));
  return pairs.map(([name, value]) => write(name, value));
}

// One line for each field, with its label.
function wordsOf(form) {
  const fields = [...form.querySelectorAll("[data-field]")].filter((field) => (
    !areKept([...field.querySelectorAll("input, select, textarea")])
  ));
  const lines = fields.map((field) => [field.dataset.field, readWords(field)]);
  return lines.filter(([, words]) => words).map((line) => line.join(": ")).join("\n");
}

function readWords(field) {
  const select = field.querySelector("select");
  if (select) return select.value && select.selectedOptions[0].textContent;
  return wordsIn(field) || field.querySelector(TEXTS)?.value.trim() || (field.querySelector(".check :checked") && "✓");
}

function restore(form, values) {
  for (const field of form.querySelectorAll("[name^='answer.']")) {
    const start = write(field.name, "");
    if (field.matches("[data-kept]") && !values.some((each) => each.startsWith(start))) continue;
    if (field.type === "radio" || field.type === "checkbox") {
      field.checked = values.includes(write(field.name, field.value));
    } else {
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

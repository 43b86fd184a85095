// Selects all rows of a list at once, and says how many are selected.

import { formatNumber, gettext } from "./words.js";

for (const form of document.querySelectorAll("form.selection")) {
  const boxes = [...form.querySelectorAll("[name=selected]")];
  const all = form.querySelector("[data-pick-all]");
  const count = form.querySelector("[data-selected-count]");

  const show = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    all.firstElementChild.checked = chosen > 0 && chosen === boxes.length;
    all.firstElementChild.indeterminate = chosen > 0 && chosen < boxes.length;
    count.textContent = chosen ? gettext("%(count)s selected", { count: formatNumber(chosen) }) : "";
  };
  all.hidden = boxes.length === 0;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.firstElementChild.checked;
    show();
  });
  form.addEventListener("change", show);
  addEventListener("pageshow", show);
}

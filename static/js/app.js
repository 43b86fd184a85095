// Improves every page: copy buttons, dialogs, menus, the appearance, no double submits. All pages
// work without it.

import { announce } from "./announcements.js";
import { showAppearance, startAppearance } from "./appearance.js";
import { isComposing } from "./composing.js";
import { startSignOut } from "./sign_out.js";
import { gettext } from "./words.js";

async function copy(button) {
  const source = button.closest("[data-copy]").querySelector("code");
  const words = button.querySelector("[data-copy-text]");
  try {
    await navigator.clipboard.writeText(source.textContent);
    words.textContent = gettext("Copied");
    announce(gettext("Copied"));
  } catch {
    getSelection().selectAllChildren(source);
    words.textContent = gettext("Selected");
    announce(gettext("Selected. Copy it with your keyboard."));
  }
  setTimeout(() => { words.textContent = gettext("Copy"); }, 2000);
}

// Shows a closed confirmation as a modal dialog. The focus goes to its field, or to the button that
// changes nothing.
function openDialog(details) {
  const panel = details.querySelector(".confirm-panel");
  const dialog = document.createElement("dialog");
  dialog.className = "dialog";
  dialog.append(panel);
  const title = panel.querySelector("h2");
  if (title) dialog.setAttribute("aria-label", title.textContent);
  const text = panel.querySelector("h2 + p");
  if (text) dialog.setAttribute("aria-description", text.textContent);
  for (const each of dialog.querySelectorAll("[data-close]")) each.hidden = false;
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
  });
  dialog.addEventListener("close", () => {
    details.append(panel);
    dialog.remove();
    details.querySelector("summary").focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  const field = dialog.querySelector("input:not([type=hidden]), select, textarea");
  (field ?? dialog.querySelector("[data-close]"))?.focus();
}

// Shows the controls that only work with this script.
export function revealControls(root) {
  for (const each of root.querySelectorAll("[data-copy-button], [data-dismiss]")) each.hidden = false;
  showAppearance();
}

document.addEventListener("click", (event) => {
  const { target } = event;
  if (!(target instanceof Element)) return;
  const button = target.closest("[data-copy-button]");
  if (button) copy(button);
  target.closest("[data-dismiss]")?.closest("[data-message]").remove();
  const summary = target.closest("[data-confirm] > summary");
  if (summary) {
    event.preventDefault();
    openDialog(summary.parentElement);
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || isComposing(event)) return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// Ignores a second submit of a form. After going back in the history it can be sent again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => { delete form.dataset.sent; }, 10000); // after a download the page stays, and its form works again
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

document.addEventListener("htmx:load", (event) => revealControls(event.target));
document.addEventListener("htmx:afterRequest", (event) => { delete event.target.dataset.sent; });
startAppearance();
startSignOut(); // after the listener above, which stops a second submit
revealControls(document);

"use strict";
// Improvements of pages that work without them: copying, asking back, the appearance.

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "loopdark" : systemIsDark.matches;
}

function choose(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try {
    if (theme) localStorage.setItem("theme", theme);
    else localStorage.removeItem("theme");
  } catch { /* for this page alone, then */ }
  showTheme();
}

function showTheme() {
  const dark = isDark();
  for (const each of document.querySelectorAll("[data-theme-switch]")) {
    each.hidden = false;
    each.setAttribute("aria-pressed", String(dark));
    each.querySelector("[data-when-light]").hidden = dark;
    each.querySelector("[data-when-dark]").hidden = !dark;
  }
  const chosen = document.documentElement.dataset.theme ?? "";
  for (const each of document.querySelectorAll("[data-appearance]")) {
    each.hidden = false;
    for (const radio of each.querySelectorAll("input")) radio.checked = radio.value === chosen;
  }
}

async function copy(button) {
  const source = button.closest("[data-copy]").querySelector("code");
  const words = button.querySelector("[data-copy-text]");
  try {
    await navigator.clipboard.writeText(source.textContent);
    words.textContent = "Copied";
    announce("Copied");
  } catch {
    getSelection().selectAllChildren(source);
    words.textContent = "Selected";
    announce("Selected: copy it with your keyboard");
  }
  setTimeout(() => { words.textContent = "Copy"; }, 2000);
}

// A line that screen readers speak.
function announce(text) {
  const place = document.getElementById("spoken");
  if (place) place.textContent = text;
}

// A folded question becomes a dialog over the page.
function ask(details) {
  const panel = details.querySelector(".confirm-panel");
  const dialog = document.createElement("dialog");
  dialog.className = "dialog";
  dialog.append(panel);
  const title = panel.querySelector("h2");
  if (title) dialog.setAttribute("aria-label", title.textContent);
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
}

// What only works with this script shows itself.
function wake(root) {
  for (const each of root.querySelectorAll("[data-copy-button], [data-dismiss]")) each.hidden = false;
  showTheme();
}

document.addEventListener("click", (event) => {
  const { target } = event;
  if (!(target instanceof Element)) return;
  const button = target.closest("[data-copy-button]");
  if (button) copy(button);
  target.closest("[data-dismiss]")?.closest("[data-message]").remove();
  if (target.closest("[data-theme-switch]")) choose(isDark() ? "loop" : "loopdark");
  const summary = target.closest("[data-confirm] > summary");
  if (summary) {
    event.preventDefault();
    ask(summary.parentElement);
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

document.addEventListener("change", (event) => {
  if (event.target.closest?.("[data-appearance]")) choose(event.target.value);
});

// A second tap sends nothing twice. Back from the history, a form may be sent again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => { delete form.dataset.sent; }, 10000); // a download leaves the page as it is
});
// Whoever signs out leaves the next person at this browser nothing that they typed, no
// notification on the screen, and no more of them.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !form.matches("[data-sign-out]")) return;
  try {
    const typed = Object.keys(localStorage).filter((name) => name.startsWith("draft:"));
    for (const key of typed) localStorage.removeItem(key);
  } catch { /* nothing is kept, then */ }
  if (!("serviceWorker" in navigator)) return;
  event.preventDefault();
  const aWhile = new Promise((resolve) => { setTimeout(resolve, 1_000); });
  Promise.race([silence(), aWhile]).catch(() => {}).then(() => form.submit());
});

// The service forgets the device by itself; the browser would show what is on its way.
async function silence() {
  const worker = await navigator.serviceWorker.getRegistration();
  for (const each of await worker?.getNotifications() ?? []) each.close();
  const subscription = await worker?.pushManager?.getSubscription();
  await subscription?.unsubscribe();
}

addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

systemIsDark.addEventListener("change", showTheme);
document.addEventListener("htmx:load", (event) => wake(event.target));
document.addEventListener("htmx:afterRequest", (event) => { delete event.target.dataset.sent; });
wake(document);

// Switches between the light and the dark appearance, and remembers the choice in this browser.

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
  } catch { /* no storage: the choice lasts as long as this page */ }
  showAppearance();
}

// Shows the controls, which need this script, with the current choice.
export function showAppearance() {
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

export function startAppearance() {
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-theme-switch]")) choose(isDark() ? "loop" : "loopdark");
  });
  document.addEventListener("change", (event) => {
    if (event.target.closest?.("[data-appearance]")) choose(event.target.value);
  });
  systemIsDark.addEventListener("change", showAppearance);
}

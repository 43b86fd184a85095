"use strict";
// Before the first paint: the appearance that this browser has stored, if any.
try {
  const stored = localStorage.getItem("theme");
  if (stored === "loop" || stored === "loopdark") {
    document.documentElement.dataset.theme = stored;
  }
} catch { /* no storage: the system decides */ }

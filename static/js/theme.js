"use strict";
// Applies the stored appearance before the first paint.
try {
  const stored = localStorage.getItem("theme");
  if (stored === "loop" || stored === "loopdark") {
    document.documentElement.dataset.theme = stored;
  }
} catch { /* no storage: the system decides */ }

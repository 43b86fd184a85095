// Announces messages to screen readers through the status line at the end of every page.

export function announce(text) {
  const place = document.getElementById("spoken");
  if (place) place.textContent = text;
}

// Translates what scripts say. The scripts hold the English; a page in another language brings the
// translations with it (web/templatetags/scripts.py).

const translations = JSON.parse(document.getElementById("translations")?.textContent ?? "{}");

// Returns the text in the language of the page; `%(name)s` stands for a value.
export function gettext(text, values = {}) {
  return (translations[text] ?? text).replace(/%\((\w+)\)s/g, (_, name) => values[name]);
}

const numbers = new Intl.NumberFormat(document.documentElement.lang || "en");

// Formats a number as the language of the page writes it.
export function formatNumber(number) {
  return numbers.format(number);
}

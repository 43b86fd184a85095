// Improves the comment: it opens where the chosen option needs one, and counts its characters.

export function findComment() {
  return document.getElementById("comment");
}

// `saved` is the comment of the draft, newer than the page's if `isSame`; `count` shows a text's length.
export function startComment({ form, saved, isSame, count, onInput }) {
  const place = document.querySelector("[data-comment]");
  const field = findComment();
  if (!place) return;
  const demanding = JSON.parse(place.dataset.demanding);
  if (saved && (isSame || !field.value)) {
    field.value = saved;
    place.open = true;
  }
  const follow = () => {
    const isNeeded = new FormData(form).getAll("answer").some((value) => demanding.includes(value));
    if (isNeeded) place.open = true;
    place.toggleAttribute("data-needed", isNeeded);
    field.setAttribute("aria-required", String(isNeeded));
    count(field);
  };
  form.addEventListener("input", follow);
  field.addEventListener("input", () => {
    follow();
    onInput();
  });
  place.querySelector("summary").addEventListener("click", () => {
    setTimeout(() => { if (place.open) field.focus(); });
  });
  follow();
}

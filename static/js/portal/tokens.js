// Renews the tokens of an open page. They end with the sign-in that the page was loaded in, as when
// its reader signs in again in another tab.

function findPerson(page) {
  return page.querySelector("[data-person]")?.dataset.person;
}

// Loads the page once more, and puts its token into the forms. Returns the loaded page; null if its
// reader is no longer signed in in this browser, which the page then says.
export async function renewTokens() {
  const response = await fetch(location.href, { cache: "no-store" });
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const person = findPerson(fresh);
  if (!person && !response.ok) throw new Error(`${response.status}`); // this page says nothing about it
  const isSignedIn = person === findPerson(document);
  document.querySelector("[data-signed-out]").hidden = isSignedIn;
  if (!isSignedIn) return null;
  takeToken(document, fresh);
  return fresh;
}

function takeToken(place, fresh) {
  const token = fresh.querySelector("[name=csrfmiddlewaretoken]");
  if (!token) return;
  for (const field of place.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token.value;
}

// Returns what the browser would post after the button `pressed`, if it has a name.
export function readForm(form, pressed) {
  const values = new FormData(form);
  if (pressed?.name) values.append(pressed.name, pressed.value);
  return values;
}

// Posts a form, to its action or another URL. If its token has expired, posts it once more with a new
// one. Returns null if the reader is no longer signed in.
export async function postForm(form, { url = form.action, pressed = null } = {}) {
  const post = () => fetch(url, { method: "POST", body: new URLSearchParams(readForm(form, pressed)) });
  const response = await post();
  if (response.status !== 403) return response;
  const fresh = await renewTokens();
  if (!fresh) return null;
  takeToken(form, fresh); // another page may be shown by now, without this form
  return post();
}

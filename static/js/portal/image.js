// Shows the image of a question on the full screen.

import { gettext } from "../words.js";

export function startImage() {
  const link = document.querySelector("[data-zoom]");
  if (!link) return;
  const image = link.querySelector("img");
  const showLoss = () => {
    link.hidden = true;
    document.querySelector("[data-image-lost]").hidden = false;
  };
  if (image.complete && !image.naturalWidth) showLoss();
  image.addEventListener("error", showLoss);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    openViewer(image);
  });
}

// Opens the image in a dialog; a click on it switches between fitted and full size.
function openViewer(image) {
  const dialog = document.createElement("dialog");
  dialog.className = "viewer";
  dialog.setAttribute("aria-label", image.alt);
  const large = image.cloneNode();
  const close = document.createElement("button");
  close.className = "btn";
  close.textContent = gettext("Close");
  const zoom = document.createElement("button");
  zoom.className = "btn";
  const label = () => { zoom.textContent = dialog.classList.contains("is-large") ? gettext("Fit") : gettext("Zoom in"); };
  const toggle = () => { dialog.classList.toggle("is-large"); label(); };
  label();
  large.addEventListener("click", toggle);
  zoom.addEventListener("click", toggle);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  const bar = document.createElement("div");
  bar.className = "viewer-bar";
  bar.append(zoom, close);
  dialog.append(bar, large);
  document.body.append(dialog);
  dialog.showModal();
}

// Removes drafts and notifications from this browser when somebody signs out.

import { removeAllDrafts } from "./drafts.js";

const PATIENCE = 1_000; // milliseconds that signing out waits for the browser

// Ends the subscription in the browser too, which would still show notifications already sent.
async function endNotifications() {
  const worker = await navigator.serviceWorker.getRegistration();
  for (const each of await worker?.getNotifications() ?? []) each.close();
  const subscription = await worker?.pushManager?.getSubscription();
  await subscription?.unsubscribe();
}

export function startSignOut() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || !form.matches("[data-sign-out]")) return;
    removeAllDrafts();
    if (!("serviceWorker" in navigator)) return;
    event.preventDefault();
    const patience = new Promise((resolve) => { setTimeout(resolve, PATIENCE); });
    Promise.race([endNotifications(), patience]).catch(() => {}).then(() => form.submit());
  });
}

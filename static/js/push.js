// Offers notifications on this device, and keeps the service up to date about it.

const LATER = "push-later"; // when "Not now" was chosen, in this browser
const MONTH = 30 * 24 * 3600 * 1000;

const isApple = /iPhone|iPad/.test(navigator.userAgent)
  || (navigator.platform === "MacIntel" && navigator.maxTouchPoints > 1);
const isInstalled = matchMedia("(display-mode: standalone)").matches || navigator.standalone === true;

function bytes(base64url) {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function isSame(buffer, key) {
  const held = new Uint8Array(buffer ?? new ArrayBuffer(0));
  return held.length === key.length && held.every((value, place) => value === key[place]);
}

function isPostponed() {
  try {
    return Date.now() - Number(localStorage.getItem(LATER) ?? 0) < MONTH;
  } catch {
    return false;
  }
}

class Offer {
  constructor(card) {
    this.card = card;
    this.key = bytes(card.dataset.key);
    for (const button of card.querySelectorAll("[data-push-ask]")) {
      button.addEventListener("click", () => this.ask(button));
    }
    card.querySelectorAll("[data-push-later]").forEach((button) => {
      button.addEventListener("click", () => this.later());
    });
  }

  show(state) {
    for (const each of this.card.querySelectorAll("[data-push-state]")) {
      each.hidden = each.dataset.pushState !== state;
    }
    const asks = (state === "ask" || state === "home") && !isPostponed();
    this.card.hidden = !(asks || this.isAsked || "always" in this.card.dataset);
  }

  async begin() {
    if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) {
      return this.show(isApple && !isInstalled ? "home" : "unsupported");
    }
    if (Notification.permission === "denied") return this.show("denied");
    try {
      const worker = await this.worker();
      const held = await worker.pushManager.getSubscription();
      const isOurs = held && isSame(held.options.applicationServerKey, this.key);
      if (Notification.permission !== "granted" || !isOurs) return this.show("ask");
      this.show(await this.report(held, false));
    } catch {
      this.show("ask");
    }
  }

  async worker() {
    await navigator.serviceWorker.register(this.card.dataset.worker);
    return navigator.serviceWorker.ready;
  }

  async ask(button) {
    this.isAsked = true;
    button.disabled = true;
    try {
      const permission = await Notification.requestPermission();
      if (permission !== "granted") return this.show(permission === "denied" ? "denied" : "ask");
      this.show(await this.report(await this.subscribe(), true));
      if ("always" in this.card.dataset) location.reload(); // the list has one more
    } catch {
      this.show("failed");
    } finally {
      button.disabled = false;
    }
  }

  async subscribe() {
    const { pushManager } = await this.worker();
    const held = await pushManager.getSubscription();
    if (held && isSame(held.options.applicationServerKey, this.key)) return held;
    await held?.unsubscribe(); // it was made for another key
    return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: this.key });
  }

  // Tells the service of the subscription; what it knows of it decides what is shown.
  async report(subscription, isNew) {
    const token = this.card.querySelector("[name=csrfmiddlewaretoken]").value;
    const response = await fetch(this.card.dataset.subscribe, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      body: JSON.stringify({ ...subscription.toJSON(), is_new: isNew }),
    });
    if (!response.ok) throw new Error(`${response.status}`);
    return (await response.json()).state;
  }

  later() {
    try {
      localStorage.setItem(LATER, String(Date.now()));
    } catch { /* no storage: the next page asks again */ }
    this.card.hidden = true;
  }
}

// Starts the cards of the page; to be called again after a page that came without a reload.
export function offerNotifications() {
  for (const card of document.querySelectorAll("[data-push]")) new Offer(card).begin();
}

offerNotifications();

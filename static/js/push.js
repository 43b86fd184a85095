// Offers push notifications on this device, and reports its subscription to the service.

import { toBytes } from "./base64url.js";

const LATER = "push-later"; // the storage key of the time when "Not now" was chosen
const MONTH = 30 * 24 * 3600 * 1000; // milliseconds

const isApple = /iPhone|iPad/.test(navigator.userAgent)
  || (navigator.platform === "MacIntel" && navigator.maxTouchPoints > 1);
const isInstalled = matchMedia("(display-mode: standalone)").matches || navigator.standalone === true;

function isSame(buffer, key) {
  const current = new Uint8Array(buffer ?? new ArrayBuffer(0));
  return current.length === key.length && current.every((value, place) => value === key[place]);
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
    this.key = toBytes(card.dataset.key);
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
      const subscription = await worker.pushManager.getSubscription();
      const isOurs = subscription && isSame(subscription.options.applicationServerKey, this.key);
      if (Notification.permission !== "granted" || !isOurs) return this.show("ask");
      this.show(await this.report(subscription, false));
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
      if ("always" in this.card.dataset) location.reload(); // to show the device in the list
    } catch (error) {
      console.warn("Push notifications could not be turned on:", error);
      this.show("failed");
    } finally {
      button.disabled = false;
    }
    this.card.querySelector("[data-push-state=failed]:not([hidden]) button")?.focus();
  }

  async subscribe() {
    const { pushManager } = await this.worker();
    const subscription = await pushManager.getSubscription();
    if (subscription && isSame(subscription.options.applicationServerKey, this.key)) return subscription;
    await subscription?.unsubscribe(); // it belongs to another key
    return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: this.key });
  }

  // Reports the subscription to the service, which returns the state to show.
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

const startedCards = new WeakSet();

// Starts the cards of the page, each once. Call it again after a page shown without a reload.
export function offerNotifications() {
  for (const card of document.querySelectorAll("[data-push]")) {
    if (startedCards.has(card)) continue;
    startedCards.add(card);
    new Offer(card).begin();
  }
}

offerNotifications();

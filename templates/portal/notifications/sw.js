{% load i18n scripts static %}{% module_urls 'js/app.js' as modules %}"use strict";
// Shows pushes, opens their page, and says so when there is no connection. Keeps no private page.

const OFFLINE = "{% url 'offline' %}";
const INBOX = "{% url 'inbox' %}";
const ICON = "{% static 'icons/icon-192.png' %}";
const KEPT = "offline";
const LOOKS = [
  "{% static 'css/app.css' %}",
  "{% static 'js/theme.js' %}",
{% for url in modules %}  "{{ url }}",
{% endfor %}  "{% static 'icons.svg' %}",
  "{% static 'favicon.svg' %}",
  "{% static 'fonts/inter-latin.woff2' %}",
];

async function keep() {
  await caches.delete(KEPT);
  const cache = await caches.open(KEPT);
  // without cookies: the page is nobody's
  const wanted = [OFFLINE, ...LOOKS].map((url) => new Request(url, { credentials: "omit", cache: "reload" }));
  await Promise.allSettled(wanted.map((request) => cache.add(request)));
}

// Fetches from the network; without one, returns the cached response of `fallback`.
async function fetched(request, fallback) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(fallback, { ignoreVary: true });
    if (kept) return kept;
    throw error;
  }
}

// What a push says, in the declarative form; something is shown in any case, as browsers demand.
function read(data) {
  let said = {};
  try {
    said = data?.json()?.notification ?? {};
  } catch { /* not ours */ }
  const title = said.title || "{% filter escapejs %}{% translate "You have a new question" %}{% endfilter %}";
  return [title, {
    body: said.body ?? "",
    tag: said.tag,
    renotify: Boolean(said.tag),
    lang: said.lang,
    requireInteraction: said.requireInteraction === true,
    icon: ICON,
    badge: ICON,
    data: { url: inside(said.navigate) },
  }];
}

// An address of this site, else the inbox.
function inside(address) {
  try {
    const url = new URL(address);
    if (url.origin === self.location.origin) return url.href;
  } catch { /* no address at all */ }
  return new URL(INBOX, self.location.origin).href;
}

async function open(url) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = windows.find((each) => each.url === url);
  if (there) return there.focus();
  return self.clients.openWindow(url);
}

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(keep());
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(fetched(request, OFFLINE));
  else if (LOOKS.includes(new URL(request.url).pathname)) event.respondWith(fetched(request, request));
});
self.addEventListener("push", (event) => {
  event.waitUntil(self.registration.showNotification(...read(event.data)));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(inside(event.notification.data?.url)));
});

// Keeps the answer zone small, and lets it wait until the end of a long question has been on the
// screen. A key, or the focus, shows it at once.

const MAX_SHARE = 0.4; // of the screen's height
const MARK_HEIGHT = 72; // px, what the zone takes while it waits
const PAGE_STEP = 0.75; // of the screen's height, for a tap on the mark
const ABOVE = 1_000_000; // px above the screen that count as seen, for who jumps past the end

const seenQuestions = new Set(); // their end was on the screen

export function startAnswerZone(question, signal) {
  const zone = document.querySelector(".thumb-zone");
  keepSmall(zone, signal);
  const image = document.querySelector("[data-zoom] img");
  if (!image || image.complete) return waitForEnd(zone, question, signal);
  for (const kind of ["load", "error"]) { // its height counts
    image.addEventListener(kind, () => waitForEnd(zone, question, signal), { once: true, signal });
  }
}

// A zone that needs more becomes a part of the page.
function keepSmall(zone, signal) {
  const content = zone.firstElementChild;
  const update = () => {
    if (zone.classList.contains("is-waiting")) return;
    zone.classList.toggle("in-page", content.offsetHeight > MAX_SHARE * innerHeight);
  };
  const sizes = new ResizeObserver(update);
  sizes.observe(content);
  addEventListener("resize", update, { signal });
  signal.addEventListener("abort", () => sizes.disconnect());
  update();
}

function waitForEnd(zone, question, signal) {
  const end = document.querySelector("[data-question-end]");
  const mark = zone.querySelector("[data-read-on]");
  const isAnswered = document.querySelector("#answer-form input:checked, [aria-invalid=true]");
  if (!mark || isAnswered || seenQuestions.has(question) || getComputedStyle(zone).position !== "sticky") return;
  if (end.getBoundingClientRect().bottom <= innerHeight - MARK_HEIGHT) return;
  mark.hidden = false;
  zone.classList.add("is-waiting");
  const stops = new AbortController();
  const show = () => {
    stops.abort();
    seenQuestions.add(question);
    mark.hidden = true;
    zone.classList.remove("is-waiting");
  };
  const options = { signal: stops.signal };
  const sight = new IntersectionObserver((entries) => {
    if (entries.some((each) => each.isIntersecting)) show();
  }, { rootMargin: `${ABOVE}px 0px -${zone.offsetHeight}px 0px` });
  sight.observe(end);
  stops.signal.addEventListener("abort", () => sight.disconnect());
  signal.addEventListener("abort", () => stops.abort());
  document.addEventListener("keydown", show, options);
  mark.addEventListener("mousedown", (event) => event.preventDefault(), options); // it takes no focus
  zone.addEventListener("focusin", show, options);
  zone.addEventListener("click", (event) => {
    if (mark.contains(event.target)) scrollBy({ top: PAGE_STEP * innerHeight });
    else show();
  }, options);
}

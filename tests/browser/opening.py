"""Opens everything on a page that can be opened: menus, dialogs, details and popovers.

What is closed is seen by no checker: a menu off the screen passed all of them.
"""

from playwright.sync_api import Page

# Opens each in turn and closes it again. Each control inside must be on the screen, at most after
# scrolling down to it; axe-core looks at what is open where it is asked to.
OPENED = """async ({rules, examined}) => {
  const faults = [];
  const bar = document.querySelector(".tabbar");
  const shown = each => each.checkVisibility({visibilityProperty: true});
  const named = each => (each.innerText.trim().replace(/\\s+/g, " ")
    || each.querySelector("[aria-label]")?.ariaLabel || each.ariaLabel || each.outerHTML
  ).slice(0, 60);
  const say = (what, fault) => faults.push(`${named(what)}, open: ${fault}`);

  const controls = "a[href], button, input, select, textarea, summary";

  function reach(opened, what, isAbove) {
    for (const each of opened.querySelectorAll(controls)) {
      if (!shown(each) || each === what || each.matches("label input")) continue;
      let box = each.getBoundingClientRect();
      if (box.left < -.5 || box.right > innerWidth + .5)
        say(what, `off the screen: ${named(each)}`);
      each.scrollIntoView({block: "nearest", behavior: "instant"});
      box = each.getBoundingClientRect();
      if (box.top < -.5 || (box.bottom > innerHeight + .5 && box.height < innerHeight))
        say(what, `out of reach: ${named(each)}`);
      const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      if (isAbove && !each.contains(hit)) say(what, `covered: ${named(each)}`);
    }
    const tooWide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (tooWide > 0) say(what, `wider than the screen by ${tooWide} px`);
  }
  function contentOf(element) {  // as a short text, without form tokens
    let [one, other] = [0, 0];
    const html = element.outerHTML.replace(/value="\\w{64}"/g, "");
    for (let place = 0; place < html.length; place++) {
      one = Math.imul(one ^ html.charCodeAt(place), 2654435761);
      other = Math.imul(other ^ html.charCodeAt(place), 1597334677);
    }
    return `${html.length} ${one} ${other}`;
  }
  async function examine(...all) {
    const opened = all.filter(each => !examined.includes(contentOf(each)));
    if (!rules.length || !opened.length) return;
    examined.push(...opened.map(contentOf));
    const options = {runOnly: rules, resultTypes: ["violations"], preload: false, iframes: false};
    if (bar) Object.assign(bar.style, {position: "fixed", inset: "auto 0 0"});  // as in looking.py
    const {violations} = await axe.run({include: opened}, options);
    if (bar) Object.assign(bar.style, {position: "", inset: ""});
    for (const each of violations) for (const node of each.nodes)
      faults.push(`open: ${each.id}: ${node.target} ${node.failureSummary.replace(/\\s+/g, " ")}`);
  }
  async function lookAtDialog(dialog, what) {
    if (dialog.querySelector(":is(.btn-error, .btn-danger):focus"))
      say(what, "the focus is on what destroys");
    reach(dialog, what, true);
    await examine(dialog);
    const closed = new Promise(done => dialog.addEventListener("close", done, {once: true}));
    dialog.close();
    await closed;
  }

  const already = document.querySelector("dialog[open]");  // as the catalogue has it
  if (already) {
    reach(already, already, true);
    return {faults, examined};
  }
  const before = [scrollX, scrollY];
  const details = [...document.querySelectorAll("details:not([open])")]
    .filter(each => !each.matches(".menu") && (shown(each) || each.matches("details details")));
  for (const each of details) each.open = true;  // one may stand in another
  for (const each of details) if (shown(each)) reach(each, each.querySelector("summary"), false);
  await examine(...details.filter(shown));
  for (const each of details.reverse()) each.open = false;
  for (const each of document.querySelectorAll("details.menu, [popover]")) {
    if (each.matches("details") && !shown(each)) continue;
    scrollTo(...before);
    if (each.matches("details")) each.open = true; else each.showPopover();
    reach(each, each.querySelector("summary") ?? each, true);
    await examine(each);
    if (each.matches("details")) each.open = false; else each.hidePopover();
  }
  for (const each of document.querySelectorAll("[data-confirm] > summary")) {
    if (!shown(each)) continue;
    each.click();
    await lookAtDialog(document.querySelector("dialog[open]"), each);
  }
  for (const each of document.querySelectorAll("dialog:not([open])")) {
    each.showModal();
    await lookAtDialog(each, each);
  }
  document.activeElement?.blur();
  scrollTo(...before);
  return {faults, examined};
}"""


def faults_when_opened(page: Page, rules: list[str], examined: set[str]) -> list[str]:
    """What is wrong with all that a page can open, at its present size. axe-core must be there
    unless there are no rules; it looks at nothing whose content was examined already."""
    found = page.evaluate(OPENED, {"rules": rules, "examined": list(examined)})
    examined.update(found["examined"])
    return list(found["faults"])

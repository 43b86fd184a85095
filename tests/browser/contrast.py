"""Judges the contrast of a text once, where many pages draw it alike: axe-core takes half of its
time for that.

What axe-core computes follows from the colours and letters of a text and from what is painted
behind it: by what the text is in, unless something else lies over or under it or it reaches out.
Only what was computed and found to be enough is remembered.
"""

from playwright.sync_api import Page

# Changes two functions of axe-core's rule: whom it looks at, and how it judges.
JUDGED_ONCE = """known => {
  const judged = window.judged = new Set(known);
  const [rule, check] = [axe._audit.getRule("color-contrast"), axe._audit.checks["color-contrast"]];
  const {matches} = rule, {evaluate} = check, {run} = axe;
  let paints, painted;  // of the page as it is now

  function paintOf(element) {
    if (paints.has(element)) return paints.get(element);
    const style = getComputedStyle(element);
    const isPainted = style.backgroundImage !== "none"
      || !/^(rgba\\(0, 0, 0, 0\\)|transparent)$/.test(style.backgroundColor);
    const ground = [isPainted && style.background, style.opacity, style.filter, style.mixBlendMode];
    const paint = {
      isPainted,
      ground: String(ground) === "false,1,none,normal" ? [] : [String(ground)],
      isLifted: /absolute|fixed|sticky/.test(style.position) || style.transform !== "none"
        || style.translate !== "none",
      ink: [style.color, style.fontSize, style.fontWeight, style.textShadow, style.webkitTextStroke,
        style.webkitTextFillColor],
    };
    paints.set(element, paint);
    return paint;
  }
  const isIn = (box, other) => box.left > other.left - 1 && box.right < other.right + 1
    && box.top > other.top - 1 && box.bottom < other.bottom + 1;
  const meet = (box, other) => box.left < other.right - 1 && box.right > other.left + 1
    && box.top < other.bottom - 1 && box.bottom > other.top + 1;

  function findPainted() {  // all that could lie over or under a text
    return [...document.querySelectorAll("body *")]
      .filter(each => paintOf(each).isLifted || paintOf(each).isPainted)
      .filter(each => each.checkVisibility({visibilityProperty: true}))
      .map(each => ({element: each, box: each.getBoundingClientRect()}))
      .filter(({box}) => box.width > 1 && box.height > 1);
  }
  const isIndependent = (one, other) =>
    !other.contains(one) && (paintOf(other).isLifted || !one.contains(other));
  function lookOf(element) {  // all that its contrast follows from; "" where that is not all
    const box = element.getBoundingClientRect();
    const look = [paintOf(element).ink];
    for (let each = element; each; each = each.parentElement) {
      const {isLifted, isPainted, ground} = paintOf(each);
      if (isLifted || (isPainted && !isIn(box, each.getBoundingClientRect()))) return "";
      look.push(...ground);
    }
    painted ??= findPainted();
    const isCovered = painted.some(
      other => isIndependent(element, other.element) && meet(box, other.box));
    return isCovered ? "" : look.join(";");
  }

  axe.run = (...given) => {
    [paints, painted] = [new Map(), undefined];
    return run(...given);
  };
  rule.matches = function (node, ...given) {
    const holdsText = node.matches("input, select, textarea")
      || [...node.childNodes].some(each => each.nodeType === Node.TEXT_NODE && each.data.trim());
    return holdsText && !judged.has(lookOf(node)) && matches.call(this, node, ...given);
  };
  check.evaluate = function (node, ...given) {
    const {data} = this;
    let ratio;
    this.data = told => {
      ratio = told.contrastRatio;
      data.call(this, told);
    };
    const isEnough = evaluate.call(this, node, ...given);
    const look = isEnough === true && ratio > 1 && lookOf(node);
    if (look) judged.add(look);
    return isEnough;
  };
}"""


def judge_once(page: Page, known: set[str]) -> None:
    """From now on this page's axe-core leaves out the texts whose contrast is known."""
    page.evaluate(JUDGED_ONCE, list(known))


def judged(page: Page) -> set[str]:
    """What is known by now."""
    return set(page.evaluate("() => [...judged]"))

"""What the compiled stylesheet depends on, and nothing else: the sources beside this file, the
versions of the tools, and the set of class names in the templates.

A template's text may change without the stylesheet getting stale; a new class name may not.
"""

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STYLES = ROOT / "styles"
TEMPLATES = ROOT / "templates"
COMPILED = ROOT / "static/css/app.css"
SPRITE = ROOT / "static/icons.svg"

TAG = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}", re.DOTALL)
ATTRIBUTE = re.compile(r'\bclass="([^"]*)"')
PARAMETER = re.compile(r"""class=("[^"]*"|'[^']*')""")  # {% icon "plus" class="size-6" %}
NAME = re.compile(r"[A-Za-z0-9!@*:/._\-\[\]()%&>+~#,=]+")


def class_names(html: str) -> set[str]:
    """Every class that a template may write, whole: a name put together at run time is lost."""
    texts = ATTRIBUTE.findall(TAG.sub(" ", html))
    for tag in TAG.findall(html):
        texts += [quoted[1:-1] for quoted in PARAMETER.findall(tag)]
    return {name for text in texts for name in text.split() if NAME.fullmatch(name)}


def all_class_names() -> list[str]:
    """Those of all templates, sorted."""
    names: set[str] = set()
    for path in TEMPLATES.rglob("*.html"):
        names |= class_names(path.read_text(encoding="utf-8"))
    return sorted(names)


def icon_names() -> list[str]:
    """Tabler's names of the symbols in the sprite, sorted; `filled/` leads those that are."""
    lines = (STYLES / "icons.txt").read_text(encoding="utf-8").splitlines()
    return sorted({word for line in lines for word in line.partition("#")[0].split()})


def digest() -> str:
    """SHA-256 over everything above, in hexadecimal digits."""
    whole = hashlib.sha256()
    for path in (*sorted(STYLES.glob("*.css")), ROOT / "package-lock.json"):
        whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    whole.update("\n".join([*all_class_names(), "", *icon_names()]).encode())
    return whole.hexdigest()


def compiled_from() -> str:
    """The digest that the compiled stylesheet carries in its first line; "" for none."""
    head = COMPILED.read_text(encoding="utf-8")[:200] if COMPILED.exists() else ""
    found = re.match(r"/\* sources: ([0-9a-f]{64}) \*/", head)
    return found[1] if found else ""

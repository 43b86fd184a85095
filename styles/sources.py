"""Computes the digest of the stylesheet's sources: files of this folder, tools, class names.

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
    """Returns the class names in a template. Names assembled at run time are not found."""
    texts = ATTRIBUTE.findall(TAG.sub(" ", html))
    for tag in TAG.findall(html):
        texts += [quoted[1:-1] for quoted in PARAMETER.findall(tag)]
    return {name for text in texts for name in text.split() if NAME.fullmatch(name)}


def all_class_names() -> list[str]:
    """Returns the class names of all templates, sorted."""
    names: set[str] = set()
    for path in TEMPLATES.rglob("*.html"):
        names |= class_names(path.read_text(encoding="utf-8"))
    return sorted(names)


def icon_names() -> list[str]:
    """Returns Tabler's names of the sprite's symbols, sorted; filled ones begin with `filled/`."""
    lines = (STYLES / "icons.txt").read_text(encoding="utf-8").splitlines()
    return sorted({word for line in lines for word in line.partition("#")[0].split()})


def digest() -> str:
    """Returns the SHA-256 of all sources, in hexadecimal digits."""
    whole = hashlib.sha256()
    for path in (*sorted(STYLES.glob("*.css")), ROOT / "package-lock.json"):
        whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    whole.update("\n".join([*all_class_names(), "", *icon_names()]).encode())
    return whole.hexdigest()


def compiled_from() -> str:
    """Returns the digest in the first line of the compiled stylesheet; "" for none."""
    head = COMPILED.read_text(encoding="utf-8")[:200] if COMPILED.exists() else ""
    found = re.match(r"/\* sources: ([0-9a-f]{64}) \*/", head)
    return found[1] if found else ""

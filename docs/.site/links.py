"""A hook of MkDocs. Files of the repository beside docs/ are no pages of the site, so a link to one
is shown as its path."""

import re
from typing import Any

OUTSIDE = re.compile(r"\[(`?)([^\]]+?)\1\]\((?:\.\./)+(?!screenshots)([^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrites the links of a page that lead out of docs/."""
    depth = page.file.src_uri.count("/")

    def show(link: re.Match[str]) -> str:
        if link[0].count("../") <= depth:
            return link[0]
        text, path = link[2], link[3]
        return f"`{path}`" if text in path else f"{text} (`{path}`)"

    return OUTSIDE.sub(show, markdown)

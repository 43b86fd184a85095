"""Renders the text of a request for a page, in the page's language."""

from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString, mark_safe

from reviews import markdown
from web.languages import translate


def render_prose(text: str) -> SafeString:
    """Renders Markdown as HTML; the plain text if the HTML would show nothing."""
    html = markdown.render(text, names=markdown.Names(*map(translate, markdown.Names())))
    if not strip_tags(html).strip():
        return format_html("<p>{}</p>", text)
    return mark_safe(html)  # noqa: S308 (it is cleaned)

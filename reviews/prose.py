"""Renders the text of a request for a page, in the page's language."""

from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from reviews import markdown
from reviews.plain_text import MAX_HEADLINE, extract_headline
from web.languages import translate


def render_prose(text: str) -> SafeString:
    """Renders Markdown as HTML, or the plain text if the HTML would show nothing."""
    html = markdown.render(text, names=markdown.Names(*map(translate, markdown.Names())))
    if not strip_tags(html).strip():
        return format_html("<p>{}</p>", text)
    return mark_safe(html)  # noqa: S308 (it is cleaned)


def render_headline(text: str, max_length: int = MAX_HEADLINE) -> str:
    """Returns the headline of a text, or a note that it was removed (`reviews.retention`)."""
    return extract_headline(text, max_length) if text else _("Text removed")

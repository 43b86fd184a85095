"""Template tags that load ES modules: `{% load scripts %}`."""

import gettext
from functools import lru_cache
from pathlib import Path
from typing import Any

from django import template
from django.conf import settings
from django.template.context import Context
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join, json_script
from django.utils.safestring import SafeString
from django.utils.translation import get_language, to_locale

from web.es_modules import find_all_imports
from web.languages import ENGLISH

register = template.Library()


@register.simple_tag(takes_context=True)
def module_script(context: Context, name: str) -> SafeString:
    """Loads a module and, at the same time, all its imports.

    Without the preload hints a browser requests an import only after it has read the module. With
    a higher priority the hints delayed the first paint of a first visit by 0.1 to 0.2 s (4G, 3G).
    """
    page_state: Any = context.render_context
    loaded: set[str] = page_state.setdefault("loaded_modules", set())
    imports = [each for each in find_all_imports(name) if each not in loaded]
    loaded.update(imports, [name])
    hints = format_html_join(
        "\n",
        '<link rel="modulepreload" href="{}" fetchpriority="low">',
        ((static(each),) for each in imports),
    )
    return format_html('<script type="module" src="{}"></script>\n{}', static(name), hints)


@register.simple_tag
def script_translations() -> SafeString:
    """Renders the translations of the scripts' texts; nothing in English."""
    language = get_language() or ENGLISH
    if language == ENGLISH:
        return SafeString("")
    words = read_script_translations(language, *settings.LOCALE_PATHS)
    return json_script(words, "translations")


@lru_cache(maxsize=16)
def read_script_translations(language: str, *folders: Path) -> dict[str, str]:
    """Reads the catalogues of the scripts and caches them."""
    words: dict[str, str] = {}
    for folder in folders:
        locale = [to_locale(language)]
        known: Any = gettext.translation("djangojs", folder, locale, fallback=True)
        words |= {text: word for text, word in getattr(known, "_catalog", {}).items() if text}
    return words


@register.simple_tag
def module_urls(name: str) -> list[str]:
    """Returns the URLs of a module and of all its imports."""
    return [static(each) for each in (name, *find_all_imports(name))]

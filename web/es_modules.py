"""Finds which modules an ES module imports, so that a page can ask for all of them at once."""

import posixpath
import re
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders

# A stated import of a relative path; `web.storage` gives the path its hash.
IMPORT = r"""(?P<matched>(?P<word>\bfrom|\bimport) "(?P<url>\.{1,2}/[^"]+)")"""


@cache
def direct_imports(name: str) -> tuple[str, ...]:
    """The static files that a module imports itself, by their names; FileNotFoundError without it.

    They are read once: sources change with a release, and the development server starts anew.
    """
    path = finders.find(name)
    if path is None:
        raise FileNotFoundError(name)
    source = Path(path).read_text(encoding="utf-8")
    folder = posixpath.dirname(name)
    urls = (match["url"] for match in re.finditer(IMPORT, source))
    return tuple(posixpath.normpath(posixpath.join(folder, url)) for url in urls)


@cache
def all_imports(name: str) -> tuple[str, ...]:
    """What a module imports, directly and through others; each name once, the nearest first."""
    found: dict[str, None] = dict.fromkeys(direct_imports(name))
    for each in tuple(found):
        found.update(dict.fromkeys(all_imports(each)))
    return tuple(found)

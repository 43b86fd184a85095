"""Finds the imports of an ES module, so that a page can load all of them at once."""

import posixpath
import re
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders

# A static import of a relative path; `web.storage` adds the hash to the path.
IMPORT = r"""(?P<matched>(?P<word>\bfrom|\bimport) "(?P<url>\.{1,2}/[^"]+)")"""

# A dynamic import; pages do not preload it.
LATER_IMPORT = r"""(?P<matched>\bimport\("(?P<url>\.{1,2}/[^"]+)"\))"""


@cache
def find_direct_imports(name: str) -> tuple[str, ...]:
    """Returns the names of the static files that a module imports itself, and caches them.

    Sources only change with a release, and the development server restarts on a change. Raises
    FileNotFoundError if there is no such module.
    """
    path = finders.find(name)
    if path is None:
        raise FileNotFoundError(name)
    source = Path(path).read_text(encoding="utf-8")
    folder = posixpath.dirname(name)
    urls = (match["url"] for match in re.finditer(IMPORT, source))
    return tuple(posixpath.normpath(posixpath.join(folder, url)) for url in urls)


@cache
def find_all_imports(name: str) -> tuple[str, ...]:
    """Returns all direct and indirect imports of a module, each once, direct ones first."""
    names: dict[str, None] = dict.fromkeys(find_direct_imports(name))
    for each in tuple(names):
        names.update(dict.fromkeys(find_all_imports(each)))
    return tuple(names)

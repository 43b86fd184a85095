"""The storage of static files, which `{% static %}` uses for URLs."""

from typing import ClassVar

from whitenoise.storage import CompressedManifestStaticFilesStorage

from web.es_modules import IMPORT, LATER_IMPORT


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Adds a hash to file names after `collectstatic`, so that browsers can cache them for ever.

    Before `collectstatic`, as in the tests, names stay plain.
    """

    # Replaces Django's list, because vendored files name source maps that are not included. Only
    # the modules in static/js import each other; circular imports are not allowed.
    patterns: ClassVar = (
        ("*.css", (r"""(?P<matched>url\(['"]{0,1}\s*(?P<url>.*?)["']{0,1}\))""",)),
        ("js/*.js", ((IMPORT, '%(word)s "%(url)s"'), (LATER_IMPORT, 'import("%(url)s")'))),
    )
    manifest_strict = False

    def stored_name(self, name: str) -> str:
        stored: str = super().stored_name(name) if self.hashed_files else name
        return stored

"""Where `{% static %}` points."""

from typing import ClassVar

from whitenoise.storage import CompressedManifestStaticFilesStorage

from web.es_modules import IMPORT


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names with a hash, compressed and cached for ever, once `collectstatic` has run; plain names
    before, as in the tests."""

    # Not Django's own list: vendored files name source maps that they do not bring, and only the
    # modules in static/js import each other. Their imports must not form a circle.
    patterns: ClassVar = (
        ("*.css", (r"""(?P<matched>url\(['"]{0,1}\s*(?P<url>.*?)["']{0,1}\))""",)),
        ("js/*.js", ((IMPORT, '%(word)s "%(url)s"'),)),
    )
    manifest_strict = False

    def stored_name(self, name: str) -> str:
        stored: str = super().stored_name(name) if self.hashed_files else name
        return stored

"""The path converter `<id:…>`: views get ids in lowercase, and other paths are not found."""

from django.urls import register_converter


class IdConverter:
    """24 hexadecimal characters (resolved gap 7: uppercase is accepted)."""

    regex = "[0-9a-fA-F]{24}"

    def to_python(self, value: str) -> str:
        return value.lower()

    def to_url(self, value: str) -> str:
        return value


register_converter(IdConverter, "id")

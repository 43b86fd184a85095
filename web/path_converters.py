"""The path converter `<id:…>`, which gives views ids in lowercase; other values are a 404."""

from django.urls import register_converter


class IdConverter:
    """Matches 24 hexadecimal characters; accepts uppercase (docs/contract.md, `envelope.ids`)."""

    regex = "[0-9a-fA-F]{24}"

    def to_python(self, value: str) -> str:
        return value.lower()

    def to_url(self, value: str) -> str:
        return value


register_converter(IdConverter, "id")

"""A form field for a typed or pasted URL."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from web.pasted import InvisibleCharacter, clean


class UrlField(forms.CharField):
    """Removes blanks and invisible characters around the URL and refuses them inside."""

    def to_python(self, value: Any) -> str:
        try:
            return clean(str(super().to_python(value)))
        except InvisibleCharacter:
            raise ValidationError(
                _("The URL has an invisible character inside. Type it instead of pasting it.")
            ) from None

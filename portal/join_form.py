"""The form for the code of a loop."""

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from loops.invite_codes import LENGTH, is_well_formed, normalize_code


class CodeForm(forms.Form):
    """An invite code in any case, with spaces and dashes, or the whole join link."""

    code = forms.CharField(
        label=_lazy("Code"),
        max_length=2000,
        help_text=format_lazy(
            _lazy("{length} letters and digits. Case, spaces and dashes don’t matter."),
            length=LENGTH,
        ),
        error_messages={"required": _lazy("Enter the code")},
        widget=forms.TextInput(
            attrs={
                "class": "code",
                "autocomplete": "off",
                "autocapitalize": "characters",
                "spellcheck": "false",
            }
        ),
    )

    def clean_code(self) -> str:
        code = normalize_code(self.cleaned_data["code"])
        if not is_well_formed(code):
            raise forms.ValidationError(
                _("Codes have %(length)s characters and never contain I, L, O, 0 or 1")
                % {"length": LENGTH}
            )
        return code

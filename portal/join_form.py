"""The form for the code of a loop."""

from django import forms

from loops.invite_codes import LENGTH, is_well_formed, normalize_code


class CodeForm(forms.Form):
    """An invite code in any case, with spaces and dashes, or the whole join link."""

    code = forms.CharField(
        label="Code",
        max_length=200,
        help_text=f"{LENGTH} letters and digits. Case, spaces and dashes don’t matter.",
        error_messages={"required": "Enter the code"},
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
        code = normalize_code(self.cleaned_data["code"].rstrip("/").rpartition("/")[2])
        if not is_well_formed(code):
            raise forms.ValidationError(
                f"Codes have {LENGTH} characters and never contain I, L, O, 0 or 1"
            )
        return code

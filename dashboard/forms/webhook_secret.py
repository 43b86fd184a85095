"""The form of the webhook secret page."""

from django import forms

from accounts.webhook_secrets import MAX_LENGTH, MIN_LENGTH, is_acceptable


class SecretForm(forms.Form):
    """A secret that the account holder chose."""

    secret = forms.CharField(
        label="Your secret",
        strip=False,
        error_messages={"required": "Enter a secret"},
        widget=forms.TextInput(
            attrs={
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "class": "mono",
            }
        ),
        help_text=f"{MIN_LENGTH} to {MAX_LENGTH} characters. Spaces count."
        " Don’t start it with whsec_:"
        " libraries would decode it.",
    )

    def clean_secret(self) -> str:
        text: str = self.cleaned_data["secret"]
        if not is_acceptable(text):
            raise forms.ValidationError(
                f"A secret has {MIN_LENGTH} to {MAX_LENGTH} characters; this one has {len(text)}"
                if text.strip()
                else "A secret can’t be blank"
            )
        return text

"""The form of the webhook secret page."""

from django import forms

from accounts.webhook_secrets import LONGEST, SHORTEST, is_acceptable


class SecretForm(forms.Form):
    """A secret of the holder's own."""

    secret = forms.CharField(
        label="Your secret",
        strip=False,
        error_messages={"required": "Type a secret"},
        widget=forms.TextInput(
            attrs={
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "class": "mono",
            }
        ),
        help_text=f"{SHORTEST} to {LONGEST} characters, every blank counts. Not whsec_ in front:"
        " libraries would decode it.",
    )

    def clean_secret(self) -> str:
        text: str = self.cleaned_data["secret"]
        if not is_acceptable(text):
            raise forms.ValidationError(
                f"A secret has {SHORTEST} to {LONGEST} characters; this one has {len(text)}"
                if text.strip()
                else "A secret cannot be blank"
            )
        return text

"""The form of the webhook secret page."""

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from accounts.webhook_secrets import MAX_LENGTH, MIN_LENGTH, is_acceptable
from web.pasted import InvisibleCharacter, clean


class SecretForm(forms.Form):
    """A secret that the account holder chose."""

    secret = forms.CharField(
        label=_lazy("Your secret"),
        strip=False,
        error_messages={"required": _lazy("Enter a secret")},
        widget=forms.TextInput(
            attrs={
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "class": "mono",
            }
        ),
        help_text=format_lazy(
            _lazy(
                "{least} to {most} characters. Spaces around it are dropped. Don’t start it with"
                " whsec_: libraries would decode it."
            ),
            least=MIN_LENGTH,
            most=MAX_LENGTH,
        ),
    )

    def clean_secret(self) -> str:
        try:
            text = clean(self.cleaned_data["secret"])
        except InvisibleCharacter:
            raise forms.ValidationError(
                _("The secret has an invisible character inside. Type it instead of pasting it.")
            ) from None
        if not is_acceptable(text):
            raise forms.ValidationError(
                _(
                    "A secret has %(min_length)s to %(max_length)s characters; this one has"
                    " %(length)s"
                )
                % {"min_length": MIN_LENGTH, "max_length": MAX_LENGTH, "length": len(text)}
                if text
                else _("A secret can’t be blank")
            )
        return text

"""The forms of passkeys. They check the browser's data before django-allauth reads it."""

import struct
from typing import Any

from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from fido2.webauthn import AuthenticationResponse, RegistrationResponse

from web.strict_json import find_unstorable

MAX_NAME = 60
# The exceptions of the parsers for data that no browser sends.
MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error)


def check(credential: Any, kind: type[Any]) -> Any:
    """Returns the credential if it can be parsed. Raises ValidationError."""
    try:
        response = kind.from_dict(credential).response
        handle = getattr(response, "user_handle", None) or b""
        if find_unstorable([credential, handle.decode()]):
            raise ValueError
    except MALFORMED:
        raise forms.ValidationError(_("That isn’t a passkey.")) from None
    return credential


def name_field() -> forms.CharField:
    return forms.CharField(
        label=_lazy("Name"),
        max_length=MAX_NAME,
        help_text=_lazy("Helps you recognize it later."),
        error_messages={"required": _lazy("Give the passkey a name")},
    )


class CredentialField(forms.JSONField):
    """The credential of a passkey, in JSON. Any other JSON is a validation error."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except (RecursionError, ValueError):  # nested too deeply, or a number with too many digits
            raise forms.ValidationError(_("That isn’t a passkey.")) from None


class PasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """The name and the credential of a new passkey."""

    name = name_field()
    credential = CredentialField()
    passwordless = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def clean_passwordless(self) -> bool:
        """Requires that the device verified its user."""
        return True

    def clean_credential(self) -> Any:
        return check(self.cleaned_data["credential"], RegistrationResponse)


class RenameForm(EditWebAuthnForm):  # type: ignore[misc]
    """Another name for a passkey."""

    name = name_field()


class _Checked(forms.Form):
    """Checks the credential first."""

    credential = CredentialField()

    def clean_credential(self) -> Any:
        fields: dict[str, Any] = self.cleaned_data
        fields["credential"] = check(fields["credential"], AuthenticationResponse)
        return super().clean_credential()  # type: ignore[misc]


class SignInForm(_Checked, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey in place of password and code."""


class PasskeySecondStepForm(_Checked, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey after the password."""


class PasskeyReauthForm(_Checked, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey before a sensitive action."""

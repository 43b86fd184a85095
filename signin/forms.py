"""The forms for signing up and for signing in with a code."""

import unicodedata
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from accounts.emails import validate_address
from accounts.forms import AddressField, name_field
from accounts.sign_in_codes import DIGITS


class NameOfSignUp(forms.Form):
    """Adds the name to django-allauth's sign-up form."""

    name = name_field()
    field_order = ["name", "email", "password1"]

    def signup(self, request: HttpRequest, user: Any) -> None:
        """Does nothing: django-allauth calls it, but the adapter has already stored the name."""


class AddressForm(forms.Form):
    """The address for a sign-in code."""

    email = AddressField(
        label=_lazy("Email"),
        validators=[validate_address],
        error_messages={"required": _lazy("Enter your email address")},
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


def remember_field() -> forms.BooleanField:
    """Returns the choice to stay signed in."""
    return forms.BooleanField(
        label=_lazy("Keep me signed in"),
        required=False,
        help_text=_lazy("Only on a device that nobody else uses."),
    )


class CodeRequestForm(AddressForm):
    """The address for a sign-in code, and whether the person stays signed in."""

    remember = remember_field()


class NewcomerForm(AddressForm):
    """The address for a code and the name of the new account."""

    name = name_field(error_messages={"required": _lazy("Enter your name")})
    field_order = ["name", "email"]


class TypedCodeForm(forms.Form):
    """The typed or pasted code; `code` becomes its digits without other characters."""

    code = forms.CharField(
        label=_lazy("Code"),
        max_length=50,
        error_messages={"required": _lazy("Enter the code from the email")},
        widget=forms.TextInput(
            attrs={
                "autocomplete": "one-time-code",
                "inputmode": "numeric",
                "autofocus": True,
                "class": "code-field",
            }
        ),
    )

    def clean_code(self) -> str:
        typed = unicodedata.normalize("NFKC", self.cleaned_data["code"])
        digits = "".join(str(unicodedata.decimal(each)) for each in typed if each.isdecimal())
        if len(digits) != DIGITS:
            raise forms.ValidationError(_("The code has %(digits)s digits") % {"digits": DIGITS})
        return digits

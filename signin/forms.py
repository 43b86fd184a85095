"""The forms of signing up, and of signing in with a code."""

import unicodedata
from typing import Any

from django import forms
from django.http import HttpRequest

from accounts.emails import validate_address
from accounts.forms import name_field
from accounts.sign_in_codes import DIGITS


class SignupForm(forms.Form):
    """The field that sign-up asks for besides address and password."""

    name = name_field()
    field_order = ["name", "email", "password1"]

    def signup(self, request: HttpRequest, user: Any) -> None:
        """Called once the account exists; the adapter has stored the name."""


class AddressForm(forms.Form):
    """Where a code goes."""

    email = forms.EmailField(
        label="Email",
        max_length=254,
        validators=[validate_address],
        error_messages={"required": "Enter your email address"},
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


class NewcomerForm(AddressForm):
    """Where a code goes, and who will be new here."""

    name = name_field(error_messages={"required": "Enter your name"})
    field_order = ["name", "email"]


class TypedCodeForm(forms.Form):
    """The code, however it was typed or pasted. `code` becomes its bare digits."""

    code = forms.CharField(
        label="Code",
        max_length=50,
        error_messages={"required": "Enter the code from the email"},
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
            raise forms.ValidationError(f"The code has {DIGITS} digits")
        return digits

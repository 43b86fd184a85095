"""What people type about themselves."""

from typing import Any

from django import forms
from django.http import HttpRequest


class SignupForm(forms.Form):
    """The field that sign-up asks for besides address and password."""

    name = forms.CharField(
        label="Your name",
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        help_text="Whoever asked sees it beside your answers.",
    )
    field_order = ["name", "email", "password1"]

    def signup(self, request: HttpRequest, user: Any) -> None:
        """Called once the account exists; the adapter has stored the name."""

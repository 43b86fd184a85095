"""The password rules, explained in one text instead of Django's four.

Breached passwords are recognized without a call to a service: by Django's list, by the 19,640 most
frequent passwords of breaches (Have I Been Pwned, collected by Royce Williams), and by their
variants.
"""

import re
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.password_validation import (
    CommonPasswordValidator,
    MinimumLengthValidator,
    NumericPasswordValidator,
    UserAttributeSimilarityValidator,
)
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

# Digits and marks in place of letters, as in p4ssw0rd.
LETTERS = str.maketrans("0134578@$!+", "oieastbasit")
AROUND = re.compile(r"^[\W\d_]{0,6}|[\W\d_]{0,6}$")  # what people put before and after a word
MIN_WORD = 5


class BreachedPassword(CommonPasswordValidator):
    """Refuses passwords of breaches, and variants with added marks or replaced letters."""

    def validate(self, password: str, user: Any = None) -> None:
        for variant in list_variants(password):
            super().validate(variant, user)


def list_variants(password: str) -> Iterator[str]:
    """Lists the plain words from which the password may have been derived."""
    typed = password.lower().strip()
    yield typed
    for text in (typed, typed.translate(LETTERS)):
        for word in (text, AROUND.sub("", text), AROUND.sub("", typed).translate(LETTERS)):
            if len(word) >= MIN_WORD:
                yield word


class GoodPassword:
    """Applies all of Django's password validators."""

    def __init__(self) -> None:
        self.rules: list[Any] = [
            UserAttributeSimilarityValidator(("name", "email")),
            MinimumLengthValidator(),
            BreachedPassword(),
            NumericPasswordValidator(),
        ]

    def validate(self, password: str, user: Any = None) -> None:
        """Raises ValidationError with all broken rules."""
        faults: list[ValidationError] = []
        for rule in self.rules:
            try:
                rule.validate(password, user)
            except ValidationError as fault:
                faults.append(fault)
        if faults:
            raise ValidationError(faults)

    def get_help_text(self) -> str:
        return _("At least 8 characters. Avoid common passwords, only digits, or your email.")

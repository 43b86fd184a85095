"""The password rules, explained in one text instead of Django's four."""

from typing import Any

from django.contrib.auth.password_validation import (
    CommonPasswordValidator,
    MinimumLengthValidator,
    NumericPasswordValidator,
    UserAttributeSimilarityValidator,
)
from django.core.exceptions import ValidationError


class GoodPassword:
    """Applies all of Django's password validators."""

    def __init__(self) -> None:
        self.rules: list[Any] = [
            UserAttributeSimilarityValidator(("name", "email")),
            MinimumLengthValidator(),
            CommonPasswordValidator(),
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
        return "At least 8 characters. Avoid common passwords, only digits, or your email."

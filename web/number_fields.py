"""Form fields for typed numbers, in the language of the page."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from web.languages import decimal_mark, translate
from web.typed_numbers import AmbiguousNumber, NotANumber, explain, read_number


def read_whole_number(typed: str) -> int | None:
    """Returns the whole number, None for an empty text. Raises NotANumber, ValidationError."""
    if not typed.strip():
        return None
    try:
        number = read_number(typed, point=decimal_mark(), is_whole=True)
    except AmbiguousNumber as error:
        raise ValidationError(translate(explain(error, point=decimal_mark()))) from None
    if number != number.to_integral_value():
        raise NotANumber(typed)
    return int(number)


class WholeNumberField(forms.IntegerField):
    """Replaces Django's field, which reads 1.000 as 1 and loses text that browsers cannot parse."""

    def __init__(self, **options: Any) -> None:
        options["widget"] = forms.TextInput({"inputmode": "numeric", "autocomplete": "off"})
        super().__init__(**options)

    def to_python(self, value: Any) -> int | None:
        if value is None or isinstance(value, int):
            return value
        try:
            return read_whole_number(str(value))
        except NotANumber:
            raise ValidationError(_("Enter a whole number."), code="invalid") from None

"""The made-up type 'date', as its module in reviews/response_types/ would be."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from reviews.response_types.base import Example, OneField, Schema, Setting
from reviews.response_types.faults import InvalidAnswer, InvalidConfiguration, InvalidDefault
from reviews.response_types.fields import Config, read_flag, read_string
from reviews.response_types.widgets import Widget, get_first

_DATE: Schema = {"type": "string", "format": "date"}


@dataclass(frozen=True, slots=True)
class DateField(Widget):
    kind: str = "date"
    typed: str = ""
    least: str = ""
    most: str = ""


class Date(OneField):
    """A day, as an ISO date."""

    name = "date"
    label = "Date"
    description = "A day."
    settings = (
        Setting("min_date", _DATE, "Earliest", kind="text"),
        Setting("max_date", _DATE, "Latest", kind="text"),
    )
    required_by_default = True
    default_schema = _DATE
    answer_noun = "an ISO date"
    example = Example({"min_date": "2026-01-01"}, "2026-12-31")

    def read_bounds(self, config: Config) -> tuple[date, date]:
        least = self._day(config, "min_date") or date.min
        most = self._day(config, "max_date") or date.max
        read_flag(config, "required", default=self.required_by_default)
        if least > most:
            raise InvalidConfiguration("min_date must not be after max_date")
        return least, most

    def _day(self, config: Config, name: str) -> date | None:
        text = read_string(config, name)
        if text and day_of(text) is None:
            raise InvalidConfiguration(f"{name} must be a date")
        return day_of(text)

    def check_configuration(self, config: Config) -> None:
        self.read_bounds(config)

    def check_default(self, config: Config, default: object) -> None:
        if day_of(default) is None:
            raise InvalidDefault("default_response must be a date")

    def check_answer(self, config: Config, answer: object) -> str:
        least, most = self.read_bounds(config)
        day = day_of(answer)
        if day is None:
            raise InvalidAnswer("Choose a date")
        if not least <= day <= most:
            raise InvalidAnswer(f"The date must be between {least} and {most}")
        return day.isoformat()

    def get_labels(self, config: Config, values: list[Any]) -> list[str]:
        days = [day_of(value) for value in values]
        return [
            f"{day.day} {day:%B %Y}" if day else str(value)
            for day, value in zip(days, values, strict=True)
        ]

    def build_widget(self, config: Config, typed: list[str]) -> DateField:
        least, most = self.read_bounds(config)
        return DateField(
            rule=f"From {least} to {most}.",
            typed=get_first(typed),
            least=least.isoformat(),
            most=most.isoformat(),
        )


def day_of(value: object) -> date | None:
    """The day that an ISO date names; None where it is none."""
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None

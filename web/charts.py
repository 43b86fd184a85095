"""Computes the geometry of a chart, which `{% chart chart %}` draws."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.formats import number_format
from django.utils.translation import gettext as _

HEIGHT = 170.0  # px of the plot; 8 px above and 22 px below are for text
TOP = 8.0
MAX_X_LABELS = 6


@dataclass(frozen=True)
class Series:
    """One series of numbers; None is a gap. The first three series of a chart have their own
    colours and, as lines, their own dashes."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Chart:
    """A chart with one of `labels` for each value on the x axis. Bars of several series stack."""

    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    unit: str = ""
    kind: str = "bars"  # or "lines"
    step: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", nice_step(self.highest))

    @property
    def spoken_title(self) -> str:
        """Returns the title with the unit, for screen readers."""
        if not self.unit or self.unit in self.title:
            return self.title
        return _("%(title)s, in %(unit)s") % {"title": self.title, "unit": self.unit}

    @property
    def highest(self) -> float:
        columns = [[value or 0 for value in column] for column in self.columns()]
        merge = sum if self.kind == "bars" else max
        return max((merge(column) for column in columns if column), default=0.0)

    @property
    def total(self) -> float:
        return sum(value or 0 for column in self.columns() for value in column)

    def columns(self) -> list[tuple[float | None, ...]]:
        return list(zip(*(each.values for each in self.series), strict=True))

    def top(self) -> float:
        """Returns the value at the upper end of the y axis."""
        return self.step * max(1, math.ceil(self.highest / self.step - 1e-9))

    def y(self, value: float) -> float:
        return round(TOP + HEIGHT * (1 - value / self.top()), 1)

    def ticks(self) -> list[dict[str, object]]:
        count = round(self.top() / self.step)
        values = [self.step * number for number in range(count + 1)]
        return [{"y": self.y(value), "text": format_number(value)} for value in values]

    def x(self, place: int) -> float:
        """Returns the middle of a column, in percent of the width."""
        return round((place + 0.5) * 100 / max(1, len(self.labels)), 3)

    def x_labels(self) -> list[dict[str, object]]:
        every = math.ceil(len(self.labels) / MAX_X_LABELS) or 1
        return [
            {"x": self.x(place), "text": text}
            for place, text in enumerate(self.labels)
            if place % every == every // 2
        ]

    def bars(self) -> list[dict[str, object]]:
        """Returns a rectangle for each number above zero, stacked in the order of the series."""
        width = round(100 / max(1, len(self.labels)) * 0.68, 3)
        boxes: list[dict[str, object]] = []
        for place, column in enumerate(self.columns()):
            below = 0.0
            for number, value in enumerate(column, 1):
                if value:
                    upper, lower = self.y(below + value), self.y(below)
                    box = {"y": upper, "height": round(max(1.0, lower - upper), 1)}
                    label = self.label(place, number, value)
                    left = round(self.x(place) - width / 2, 3)
                    boxes.append(
                        {"x": left, "width": width, "series": number, "label": label, **box}
                    )
                    below += value
        return boxes

    def lines(self) -> list[dict[str, object]]:
        """Returns the line segments between neighbouring values, without those at a gap."""
        return [
            {
                "series": number,
                "x1": self.x(place),
                "x2": self.x(place + 1),
                "y1": self.y(left),
                "y2": self.y(right),
            }
            for number, each in enumerate(self.series, 1)
            for place, (left, right) in enumerate(zip(each.values, each.values[1:], strict=False))
            if left is not None and right is not None
        ]

    def points(self) -> list[dict[str, object]]:
        return [
            {
                "series": number,
                "x": self.x(place),
                "y": self.y(value),
                "label": self.label(place, number, value),
            }
            for number, each in enumerate(self.series, 1)
            for place, value in enumerate(each.values)
            if value is not None
        ]

    def label(self, place: int, number: int, value: float) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.labels[place]}, {self.series[number - 1].name}: {format_number(value)}{unit}"

    def rows(self) -> list[tuple[str, list[str]]]:
        """Returns the same numbers as rows of a table."""
        cells = [
            ["–" if v is None else format_number(v) for v in column] for column in self.columns()
        ]
        return list(zip(self.labels, cells, strict=True))


def nice_step(highest: float) -> float:
    """Returns 1, 2 or 5 times a power of ten, so that 3 to 5 steps reach `highest`; at least 1."""
    rough = max(highest, 1.0) / 4
    power = 10 ** math.floor(math.log10(rough)) if rough > 1 else 1
    return float(next(power * nice for nice in (1, 2, 5, 10) if power * nice >= rough))


def format_number(value: float) -> str:
    """Formats a number as a chart needs it, such as 1,204 or 0.5."""
    places = 0 if value == int(value) or value >= 100 else 1
    return number_format(round(value, places), places, use_l10n=True, force_grouping=True)

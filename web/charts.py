"""The geometry of a chart: `{% chart chart %}` draws what stands here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

HEIGHT = 170.0  # px of the plot; 8 above and 22 below are for letters
TOP = 8.0
MAX_X_LABELS = 6


@dataclass(frozen=True)
class Series:
    """One row of numbers; None is a gap. The first three of a chart differ in colour and, as
    lines, in dashes."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Chart:
    """`labels` stand along the bottom, one for each value. Bars of several series are stacked."""

    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    unit: str = ""
    kind: str = "bars"  # or "lines"
    step: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", nice_step(self.highest))

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
        """The value at the upper end of the axis."""
        return self.step * max(1, math.ceil(self.highest / self.step - 1e-9))

    def y(self, value: float) -> float:
        return round(TOP + HEIGHT * (1 - value / self.top()), 1)

    def ticks(self) -> list[dict[str, object]]:
        count = round(self.top() / self.step)
        values = [self.step * place for place in range(count + 1)]
        return [{"y": self.y(value), "text": spoken(value)} for value in values]

    def x(self, place: int) -> float:
        """The middle of a column, in percent of the width."""
        return round((place + 0.5) * 100 / max(1, len(self.labels)), 3)

    def x_labels(self) -> list[dict[str, object]]:
        every = math.ceil(len(self.labels) / MAX_X_LABELS) or 1
        return [
            {"x": self.x(place), "text": text}
            for place, text in enumerate(self.labels)
            if place % every == every // 2
        ]

    def bars(self) -> list[dict[str, object]]:
        """A rectangle for each number above zero, stacked in the order of the series."""
        width = round(100 / max(1, len(self.labels)) * 0.68, 3)
        drawn: list[dict[str, object]] = []
        for place, column in enumerate(self.columns()):
            below = 0.0
            for number, value in enumerate(column, 1):
                if value:
                    upper, lower = self.y(below + value), self.y(below)
                    box = {"y": upper, "height": round(max(1.0, lower - upper), 1)}
                    said = self.said(place, number, value)
                    left = round(self.x(place) - width / 2, 3)
                    drawn.append({"x": left, "width": width, "series": number, "said": said, **box})
                    below += value
        return drawn

    def lines(self) -> list[dict[str, object]]:
        """The pieces between neighbours; a gap leaves one out."""
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
                "said": self.said(place, number, value),
            }
            for number, each in enumerate(self.series, 1)
            for place, value in enumerate(each.values)
            if value is not None
        ]

    def said(self, place: int, number: int, value: float) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.labels[place]}, {self.series[number - 1].name}: {spoken(value)}{unit}"

    def rows(self) -> list[tuple[str, list[str]]]:
        """The same as a table."""
        cells = [["–" if v is None else spoken(v) for v in column] for column in self.columns()]
        return list(zip(self.labels, cells, strict=True))


def nice_step(highest: float) -> float:
    """1, 2 or 5 times a power of ten (at least 1), so that three to five steps reach `highest`."""
    rough = max(highest, 1.0) / 4
    power = 10 ** math.floor(math.log10(rough)) if rough > 1 else 1
    return float(next(power * nice for nice in (1, 2, 5, 10) if power * nice >= rough))


def spoken(value: float) -> str:
    """1,204 or 0.5: no more digits than somebody reads off a chart."""
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.1f}"

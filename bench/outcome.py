"""The result of a part of the bench: its tables, and its rows in the table of goals."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Goal:
    """A measured figure and its goal; `at_most` if less is better."""

    name: str
    goal: float
    stretch: float | None
    measured: float
    unit: str = ""
    at_most: bool = False

    def cells(self) -> list[str]:
        """Its row in the table of goals."""
        sign = "≤" if self.at_most else "≥"
        stretch = "" if self.stretch is None else f"{self.stretch:,.15g}{self.unit}"
        digits = 0 if abs(self.measured) >= 100 else 2
        measured = f"{self.measured:,.{digits}f}{self.unit}"
        return [
            self.name,
            f"{sign} {self.goal:,.15g}{self.unit}",
            stretch,
            measured,
            self.verdict(),
        ]

    def verdict(self) -> str:
        if not self._reaches(self.goal):
            return "missed"
        if self.stretch is not None and self._reaches(self.stretch):
            return "stretch"
        return "met"

    def _reaches(self, mark: float) -> bool:
        return self.measured <= mark if self.at_most else self.measured >= mark


@dataclass(frozen=True)
class Part:
    """Markdown tables, by their names in bench/page.md."""

    tables: dict[str, str]
    goals: list[Goal] = field(default_factory=list)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

"""How long calls and steps took, and how they ended."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Tries:
    """Every try of every call of one caller, and how many calls needed another one."""

    ended: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")
    healed: int = 0

    def note(self, method: str, path: str, seconds: float, outcome: int | str) -> None:
        """Notes a try. A call with ?wait takes as long as it may, so it is not the slowest."""
        self.ended[str(outcome)] += 1
        if "?wait" not in path:
            self.slowest = max(self.slowest, (seconds, f"{method} {path.partition('?')[0]}"))

    def __add__(self, other: "Tries") -> "Tries":
        return Tries(
            self.ended + other.ended,
            max(self.slowest, other.slowest),
            self.healed + other.healed,
        )

    @property
    def calls(self) -> int:
        return self.ended.total()

    def describe(self) -> str:
        """Says it as the table of the page does."""
        failed = {name: count for name, count in self.ended.items() if name not in GOOD}
        outcomes = ", ".join(f"{count} × {name}" for name, count in sorted(failed.items()))
        again = f"{self.healed} needed another try ({outcomes})" if failed else "none failed"
        return f"{self.calls} calls, {again}; slowest {self.slowest[0]:.2f} s"


GOOD = ("200", "201", "302", "303")

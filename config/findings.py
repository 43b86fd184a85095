"""What the checks of `config.doctor` find."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

OK, WARNING, WRONG = "ok", "warning", "wrong"


@dataclass(frozen=True)
class Finding:
    """What one check found; `advice` says what to do about it."""

    level: str
    sentence: str
    advice: str = ""


Check = Callable[[], Iterator[Finding]]

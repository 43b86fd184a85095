"""The findings of the checks in `config.doctor`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

OK, WARNING, WRONG = "ok", "warning", "wrong"


@dataclass(frozen=True)
class Finding:
    """A finding of one check; `advice` says what to do about it."""

    level: str
    sentence: str
    advice: str = ""


Check = Callable[[], Iterator[Finding]]

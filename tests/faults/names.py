"""A name service for the real processes that the trial controls."""

from dataclasses import dataclass
from pathlib import Path

RESOLVER = Path(__file__).parent / "resolver"


@dataclass(frozen=True)
class Names:
    """Names below `.trial.test`, each a file of `folder`."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What makes a Python process look here."""
        return {"PYTHONPATH": str(RESOLVER), "TRIAL_NAMES": str(self.folder)}

    def answer(self, name: str, *answers: str) -> None:
        """What each look-up gets in turn, the last for ever: addresses with blanks between."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / name).write_text("\n".join(answers), encoding="ascii")

    def asked(self, name: str) -> int:
        """How often it was looked up."""
        file = self.folder / f"{name}.asked"
        return file.stat().st_size if file.exists() else 0

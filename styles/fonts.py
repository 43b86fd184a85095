"""`python -m styles.fonts`: build static/fonts from the npm package of Inter.

The build removes weights, features and characters that no page uses, half of the size. Needs
node_modules and `pip install fonttools`.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from styles import sources

SOURCE = sources.ROOT / "node_modules/@fontsource-variable/inter/files"
TARGET = sources.ROOT / "static/fonts"
WEIGHTS = "400:750"  # as the @font-face rules in styles/base.css say
FEATURES = "calt,ccmp,kern,locl,mark,mkmk,tnum"  # `figures` uses tnum; the rest is on by default


FACE = re.compile(r"fonts/inter-([\w-]+)\.woff2.*?unicode-range: ([^;]+);", re.DOTALL)


def build(part: str, characters: str, folder: Path) -> None:
    """Writes the file of one part of the alphabet, with the characters of its @font-face rule."""
    whole = SOURCE / f"inter-{part}-wght-normal.woff2"
    fewer, lighter = folder / "fewer.ttf", folder / "lighter.ttf"
    kept = (f"--unicodes={characters}", f"--layout-features={FEATURES}", "--no-hinting")
    run("subset", whole, *kept, f"--output-file={fewer}")
    run("varLib.instancer", fewer, f"wght={WEIGHTS}", "--output", lighter)
    run("ttLib.woff2", "compress", lighter, "-o", TARGET / f"inter-{part}.woff2")


def run(*command: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "fontTools", *command], check=True)  # noqa: S603


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        rules = (sources.STYLES / "base.css").read_text(encoding="utf-8")
        for part, characters in FACE.findall(rules):
            build(part, " ".join(characters.split()), Path(name))

"""`python -m styles`: compile the stylesheet and build the sprite. Needs Node and node_modules."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from styles import sources

TOOL = sources.ROOT / "node_modules/.bin/tailwindcss"
ICONS = sources.ROOT / "node_modules/@tabler/icons/icons"
DRAWING = re.compile(r"<(?:path|circle|rect|line|polyline|ellipse)\b[^>]*/>")
FRAME = '<path stroke="none"'  # an empty square behind every drawing of Tabler
OUTLINE = 'fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round"'


def compile_styles() -> str:
    """Returns the minified stylesheet after a line with the digest of its sources."""
    source = (sources.STYLES / "app.css").read_text(encoding="utf-8")
    names = " ".join(sources.all_class_names())
    with tempfile.NamedTemporaryFile("w", suffix=".input", dir=sources.STYLES) as whole:
        whole.write(f'{source}\n@source inline("{names}");\n')
        whole.flush()
        made = subprocess.run(  # noqa: S603
            [TOOL, "--input", whole.name, "--minify"],
            cwd=sources.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    if made.returncode or not made.stdout:
        sys.exit(made.stderr)
    return f"/* sources: {sources.digest()} */\n{made.stdout}"


def build_sprite() -> str:
    """Builds one SVG with a named symbol for each icon of the list."""
    symbols = [symbol(name) for name in sources.icon_names()]
    return '<svg xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(symbols) + "\n</svg>\n"


def symbol(name: str) -> str:
    kind, _, plain = name.rpartition("/")
    drawn = (ICONS / (kind or "outline") / f"{plain}.svg").read_text(encoding="utf-8")
    shapes = "".join(each for each in DRAWING.findall(drawn) if not each.startswith(FRAME))
    look = 'fill="currentColor"' if kind else f'{OUTLINE} stroke-linejoin="round"'
    identifier = f"{plain}-{kind}" if kind else plain
    return f'<symbol id="{identifier}" viewBox="0 0 24 24" {look}>{shapes}</symbol>'


def write(path: Path, text: str) -> None:
    """Writes the file atomically, for concurrent readers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


if __name__ == "__main__":
    write(sources.SPRITE, build_sprite())
    write(sources.COMPILED, compile_styles())

"""`python -m tests.contract` writes docs/contract.md."""

import sys

from tests.contract.page import PAGE, render

PAGE.write_text(render(), encoding="utf-8")
sys.stdout.write(f"{PAGE} written.\n")

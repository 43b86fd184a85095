"""`python -m reviewloop`"""

from reviewloop.cli import main

main()

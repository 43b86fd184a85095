"""`python -m languages`: adds new texts to the catalogues and compiles them."""

import sys

from languages.catalogues import find_languages, update

incomplete = 0
for language in find_languages():
    missing = update(language)
    incomplete += missing
    print(f"{language}: {missing} without a translation" if missing else f"{language}: complete")
sys.exit(1 if incomplete else 0)

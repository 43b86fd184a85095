"""`python -m bench.upkeep`: what beat and a worker do every second for the totals, and no more,
so that background work does not blur the calls. Ends with its input."""

import os
import select
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from reviews.tasks import fold_counters

    while not select.select([sys.stdin], [], [], 1.0)[0]:
        fold_counters()

"""`python -m bench.upkeep` folds the totals every second, as beat and a worker do, and does nothing
else, so that background work does not distort the calls. Ends when its input ends."""

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

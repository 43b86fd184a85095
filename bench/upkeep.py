"""`python -m bench.upkeep` aggregates the totals every second, as beat and a worker do.

It runs no other background work, which would distort the measured calls. It ends with its input.
"""

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

"""A worker of the measurement: `python -m bench.delivering` delivers what is due, with
WEBHOOK_THREADS, from the first line of its input to the second, and prints its seconds of CPU."""

import os
import select
import sys
import time

PAUSE = 0.02  # seconds, if nothing is due


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from webhooks.channel import DISPATCHER

    print("ready", flush=True)
    sys.stdin.readline()
    began = time.process_time()
    while not select.select([sys.stdin], [], [], 0)[0]:
        if not DISPATCHER.run_due():
            time.sleep(PAUSE)
    print(time.process_time() - began, flush=True)


if __name__ == "__main__":
    main()

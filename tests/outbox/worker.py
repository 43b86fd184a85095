"""A worker that can be killed often: for each line that it reads it forks a process that sends."""

import os
import sys
import threading
import time
from typing import Any

PAUSE = 0.01  # seconds, where nothing is due


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from mailing.channel import DISPATCHER as MAIL
    from reviews.notifications.mail.channel import DISPATCHER as NOTIFICATION_MAIL
    from reviews.notifications.push.channel import DISPATCHER as PUSH
    from webhooks.channel import DISPATCHER as WEBHOOK

    print("ready", flush=True)
    for _ in sys.stdin:
        pid = os.fork()
        if not pid:
            for dispatcher in (WEBHOOK, PUSH, NOTIFICATION_MAIL, MAIL):
                threading.Thread(target=send, args=[dispatcher], daemon=True).start()
            threading.Event().wait()
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("ended", flush=True)


def send(dispatcher: Any) -> None:
    while True:
        if not dispatcher.run_due():
            time.sleep(PAUSE)


if __name__ == "__main__":
    main()

"""`python -m bench.cast COUNT` fills the database of DATABASE_URL with COUNT requests, and prints
keys, sessions and ids for the measurements, as JSON."""

import json
import os
import sys
from dataclasses import asdict, dataclass

ACCOUNTS, LOOPS, KEYS, POLLS = 8, 2, 8, 20
NO_LIMIT = 2_000_000_000  # calls per hour: the quota is on and never reached


@dataclass(frozen=True)
class Cast:
    """Keys, a loop and some requests of each account; the first has half of all requests.

    `owner` is that account's session, `cookie` the session of a reviewer of the largest loop, and
    `waiting` the first request that waits for the reviewer.
    """

    keys: list[list[str]]
    loops: list[str]
    polls: list[list[str]]
    cookie: str
    owner: str
    waiting: str


def fill(count: int) -> Cast:
    """Creates accounts with keys, loops with members, and the requests."""
    from accounts.services import create_api_key
    from bench import seed
    from loops.services import create_loop, join_loop
    from reviews.models import Request
    from reviews.queries.open_questions import read_waiting

    made = [seed.account(number) for number in range(ACCOUNTS)]
    users, loops = [user for user, _ in made], [loop for _, loop in made]
    for _ in range(LOOPS - 1):
        loops += [create_loop(owner_id=user.pk, name="More", icon="star") for user in users]
    for number, loop in enumerate(loops):
        for step in (1, 2):
            join_loop(user=users[(number + step) % ACCOUNTS], code=loop.invite_code)
    keys = [
        [create_api_key(user=user, name="bench", hourly_limit=NO_LIMIT)[1] for _ in range(KEYS)]
        for user in users
    ]
    seed.mixed(loops, count)
    seed.deliveries(loops[0], count)
    ids = [
        list(Request.objects.created_by(user.pk).values_list("pk", flat=True)[:POLLS])
        for user in users
    ]
    return Cast(
        keys,
        [loop.pk for loop in loops[:ACCOUNTS]],
        ids,
        cookie=seed.session_of(users[1]),
        owner=seed.session_of(users[0]),
        waiting=read_waiting(users[1].pk, 1).ids[0],
    )


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    print(json.dumps(asdict(fill(int(sys.argv[1])))))

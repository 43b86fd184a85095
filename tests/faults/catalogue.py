"""Every fault with its pass condition."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults import (
    answer_faults,
    beat_faults,
    certificate_faults,
    disk_faults,
    due_faults,
    fairness_faults,
    lock_faults,
    name_faults,
    pause_faults,
    postgres_faults,
    punctuality,
    redis_faults,
    retry_faults,
    rogue_faults,
    silent_faults,
    slow_faults,
    standby_faults,
    worker_faults,
)
from tests.faults.trial import Trial


@dataclass(frozen=True)
class Fault:
    """`befall` returns what was measured, and raises AssertionError if the fault did harm."""

    name: str
    condition: str
    befall: Callable[[Trial], str]


REPEATED = "repeated within the lease and 15 s, with the same id and the same bytes"
CUT = "the attempt is cut in time, and tried again"
BOUNDED = "16 KiB are kept, no more is taken than buffers hold, the worker does not grow"
FAIR = "the first attempts of another account are begun within 2 s"
UNHARMED = "no acknowledged write lost; callers told 503; web, worker and beat are never restarted"
PAUSED = "API up, deadlines on time for readers, events delivered within 60 s of its return"
# In four parts, so that the tests run them side by side.
KILLS_AND_RECEIVERS = (
    Fault("Worker killed (-9) before the POST", REPEATED, worker_faults.killed_before_the_post),
    Fault("Worker killed (-9) during the POST", REPEATED, worker_faults.killed_during_the_post),
    Fault(
        "Worker killed (-9) after the receiver's 200, before it is recorded",
        REPEATED,
        worker_faults.killed_after_the_answer,
    ),
    Fault(
        "Worker asked to stop (TERM)",
        "attempts under way are finished and recorded, no new one is begun",
        worker_faults.asked_to_stop,
    ),
    Fault(
        "Beat killed (-9)",
        "readers see a timeout at once; its event follows when beat is back",
        beat_faults.beat_killed,
    ),
    Fault(
        "Two beats and two workers",
        "one transition, one outbox row and one POST for each end",
        beat_faults.two_of_each,
    ),
    Fault(
        "A hundred racing creates under one Idempotency-Key, and web killed (-9)",
        "one request, one charge, and the same response for everybody",
        retry_faults.killed_while_creating,
    ),
    Fault("A receiver that never answers", CUT, rogue_faults.never_answers),
    Fault("A receiver that drips a byte a second", CUT, rogue_faults.drips),
    Fault("A receiver that sends 1 GB", BOUNDED, rogue_faults.sends_a_gigabyte),
    Fault("A receiver that sends a gzip bomb", BOUNDED, rogue_faults.sends_a_bomb),
    Fault(
        "A receiver that redirects to a metadata address",
        "nothing is followed, and the event tried again",
        rogue_faults.redirects,
    ),
    Fault("A receiver that resets the connection", "the event is tried again", rogue_faults.resets),
    Fault(
        "Bad certificates: self-signed, of another name, expired",
        "nothing is sent, and the event tried again",
        certificate_faults.bad_certificates,
    ),
    Fault(
        "DNS that changes between two look-ups",
        "one look-up for each attempt; what it gave is checked, and is what is dialled",
        name_faults.rebound,
    ),
    Fault("410", "dead at once", answer_faults.gone),
    Fault(
        "429 and 503 with Retry-After",
        "tried again when the receiver asked for it",
        answer_faults.asked_to_wait,
    ),
    Fault("5,000 events of one account to a dead host", FAIR, fairness_faults.one_dead_host),
    Fault("The same to twenty dead hosts", FAIR, fairness_faults.twenty_dead_hosts),
    Fault(
        "A receiver that is back after an outage, with 20,000 events waiting",
        "they go out in order, the oldest first, and no other host waits for them",
        fairness_faults.a_backlog_in_order,
    ),
    Fault(
        "Test events of two accounts to twenty silent receivers",
        "no page waits for them; p99 of another account's calls under 1 s, its events within 2 s",
        silent_faults.tested_by_two_accounts,
    ),
)
OUTAGES = (
    Fault("Redis flushed (FLUSHALL)", "every event is delivered", redis_faults.redis_flushed),
    Fault(
        "Redis down",
        PAUSED,
        redis_faults.redis_down,
    ),
    Fault(
        "Redis hung (SIGSTOP)", "the same, with no call slower than 5 s", redis_faults.redis_hung
    ),
    Fault("PostgreSQL restarted under load", UNHARMED, postgres_faults.postgres_restarted),
    Fault("PostgreSQL killed (-9) under load", UNHARMED, postgres_faults.postgres_killed),
    Fault(
        "Commits that wait for a replica, for 2 s at a time and then for 12 s",
        f"{UNHARMED}; every answer within 10 s",
        postgres_faults.slow_commits,
    ),
)
LOCKS_AND_PAUSES = (
    Fault(
        "The table of requests locked (ACCESS EXCLUSIVE)",
        "503 within 10 s for what needs it, 200 for what does not; nothing is made meanwhile",
        lock_faults.table_locked,
    ),
    Fault("Worker paused (SIGSTOP)", PAUSED, pause_faults.worker_paused),
    Fault("Beat paused (SIGSTOP)", PAUSED, pause_faults.beat_paused),
    Fault(
        "Web server paused (SIGSTOP)",
        "calls wait and are answered; no acknowledged write lost; nothing is restarted",
        pause_faults.web_paused,
    ),
    Fault(
        "PostgreSQL paused (SIGSTOP), with every backend",
        f"{UNHARMED}; every answer within 10 s",
        pause_faults.postgres_paused,
    ),
    Fault(
        "A synchronous standby that is away",
        "an answer that waits for it past the deadline shows as pending, and is the only end",
        standby_faults.standby_away,
    ),
    Fault(
        "Deadlines",
        "settled at most 2 s late, and never late to a reader",
        punctuality.timeouts_on_time,
    ),
    Fault(
        "Claim leases",
        "given back at most 2 s late, and never late to a reader",
        punctuality.leases_on_time,
    ),
)
SCARCITY = (
    Fault(
        "Every connection of PostgreSQL taken by somebody else",
        f"{UNHARMED}; every answer within 10 s",
        postgres_faults.no_connections_left,
    ),
    Fault(
        "A disk without room, under everything",
        "creates get 503 within 10 s; /readyz says so within 10 s; no acknowledged request lost;"
        " all goes on once there is room",
        disk_faults.disk_full,
    ),
    Fault(
        "10,000 due at once, no worker, and a web process killed (-9) while it settles them",
        "every list ends right, none takes longer than 5 s, each request ends once",
        due_faults.many_at_once,
    ),
    Fault(
        "400 clients that send too slowly: bodies, headers, nothing",
        "p99 of the other calls under 1 s, and the slow ones are told 408",
        slow_faults.many_slow_clients,
    ),
)
FAULTS = (*KILLS_AND_RECEIVERS, *OUTAGES, *LOCKS_AND_PAUSES, *SCARCITY)

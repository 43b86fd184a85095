"""Names whose answers change between two look-ups, or hold an address that is not public."""

from urllib.parse import urlsplit

from tests.faults.attempts import first_attempt, told
from tests.faults.receiver import receiving
from tests.faults.trial import Trial
from tests.waiting import wait_until

METADATA = "169.254.169.254"


def rebound(trial: Trial) -> str:
    """Public (as loopback is here) when it is checked, and the metadata address ever after."""
    service, names = trial.service, trial.names
    names.answer("rebound.trial.test", "127.0.0.1", METADATA)
    names.answer("both.trial.test", f"127.0.0.1 {METADATA}")
    with receiving() as receiver:
        port = urlsplit(receiver.url).port
        url = f"http://rebound.trial.test:{port}/hook"
        request_id = told(service, url)
        wait_until(lambda: service.all_delivered([request_id]), 30)
        assert names.asked("rebound.trial.test") == len(receiver.posts) == 1
        for name in ("rebound", "both"):
            attempt = first_attempt(service, told(service, url.replace("rebound", name)))
            assert attempt.error == f"{METADATA} is not a public address."
        assert len(receiver.posts) == 1
    return "one look-up, and delivered to the address that it gave; refused once it gave another"

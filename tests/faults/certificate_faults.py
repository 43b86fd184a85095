"""Receivers with certificates that are not trusted."""

from urllib.parse import urlsplit

from tests.faults.attempts import first_attempt, told
from tests.faults.receiver import receiving
from tests.faults.trial import Trial

NAME = "receiver.trial.test"


def bad_certificates(trial: Trial) -> str:
    """Self-signed, of another name, and expired; a good one shows that TLS as such works."""
    authority = trial.authority
    trial.names.answer(NAME, "127.0.0.1")
    offers = {
        "good": authority.serve(NAME),
        "self-signed": authority.serve(NAME, self_signed=True),
        "hostname mismatch": authority.serve("other.trial.test"),
        "expired": authority.serve(NAME, days=-1),
    }
    for fault, tls in offers.items():
        with receiving(tls) as receiver:
            url = f"https://{NAME}:{urlsplit(receiver.url).port}/hook"
            attempt = first_attempt(trial.service, told(trial.service, url))
            if fault == "good":
                assert attempt.state == "delivered", attempt.error
            else:
                assert fault in attempt.error.lower().replace("self signed", "self-signed")
                assert (attempt.state, receiver.posts) == ("waiting", [])
    return "none of the three got a byte of the event; each is tried again"

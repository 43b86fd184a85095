"""The push as it leaves: encrypted for one device, signed for one service."""

import json
import time
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from pytest_django import Settings

from outbox.schedule import next_delay
from reviews.notifications.push import message as messages
from reviews.notifications.push import vapid
from reviews.notifications.push.channel import CHANNEL, judge_status
from reviews.notifications.push.message import Message, Target, about_request
from tests.reviews.notifications.push_service import Phone, claims, decode, decrypt
from tests.webhooks.receivers import Received


def about(**changes: Any) -> Message:
    about: dict[str, Any] = {
        "request_id": "0197a0000000aabbccddeeff",
        "loop_name": "Refund desk",
        "text": "Should we **refund** order 4821?",
        "priority": "medium",
        "seconds_left": 600.0,
        "language": "en",
    }
    return about_request(**{**about, **changes})


def target(phone: Phone) -> Target:
    keys = phone.subscription["keys"]
    return Target("d", phone.endpoint, "push.example.com", keys["p256dh"], keys["auth"])


def test_only_the_device_can_read_it(push_key: str) -> None:
    phone, other = Phone("https://push.example.com/1"), Phone("https://push.example.com/2")
    body = messages.encrypt(b"Order 4821", target(phone))
    assert b"4821" not in body
    assert decrypt(body, phone.private, phone.secret) == b"Order 4821"
    with pytest.raises(InvalidTag):
        decrypt(body, other.private, other.secret)
    assert body != messages.encrypt(b"Order 4821", target(phone))


def test_the_example_of_the_standard_is_read() -> None:
    """RFC 8291, appendix A: the reader of these tests is right."""
    number = int.from_bytes(decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"), "big")
    private = ec.derive_private_key(number, ec.SECP256R1())
    body = decode(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6"
        "TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qul"
        "cy4a-fN"
    )
    read = decrypt(body, private, decode("BTBZMqHH6r4Tts7J_aSIgg"))
    assert read == b"When I grow up, I want to be a watermelon"


def test_a_sender_on_a_machine_without_a_domain(push_key: str, settings: Settings) -> None:
    settings.VAPID_SUBJECT = "mailto:noreply@review-box"
    authorization = vapid.authorization("https://push.example.com/a")
    said = claims(Received("/", {"authorization": authorization}, b""), push_key)
    assert said["sub"] == "mailto:noreply@review-box"


def test_the_token_names_the_service_of_each_endpoint(push_key: str) -> None:
    for endpoint, audience in (
        ("https://push.example.com/a/b?c=d", "https://push.example.com"),
        ("https://web.example.org:8443/x", "https://web.example.org:8443"),
    ):
        received = Received("/", {"authorization": vapid.authorization(endpoint)}, b"")
        said = claims(received, push_key)
        assert said["aud"] == audience
        assert said["sub"] == "mailto:operator@example.com"
        assert 0 < said["exp"] - time.time() <= 24 * 3600


def test_the_declarative_form(push_key: str) -> None:
    text = "# Refund?\n\n" + "word " * 200
    payload = about(text=text).payload
    assert len(payload) < 1000
    shown = "Refund?"  # its heading
    assert json.loads(payload) == {
        "web_push": 8030,
        "notification": {
            "title": "Refund desk",
            "body": shown,
            "navigate": "http://testserver/inbox/0197a0000000aabbccddeeff/",
            "tag": "0197a0000000aabbccddeeff",
            "lang": "en",
            "requireInteraction": False,
        },
    }


@pytest.mark.parametrize(
    ("priority", "urgency", "title"),
    [
        ("critical", "high", "Critical · Refund desk"),
        ("high", "high", "Refund desk"),
        ("medium", "normal", "Refund desk"),
        ("low", "low", "Refund desk"),
    ],
)
def test_urgency_follows_the_priority(
    push_key: str, priority: str, urgency: str, title: str
) -> None:
    message = about(priority=priority)
    sent = messages.headers(message, target(Phone("https://push.example.com/1")))
    assert (sent["Urgency"], message.title) == (urgency, title)
    assert sent["Topic"] == "0197a0000000aabbccddeeff"  # at most 32 characters of base64url


@pytest.mark.parametrize(
    ("seconds_left", "ttl"), [(600.9, "600"), (-5.0, "0"), (90 * 86400.0, "2419200")]
)
def test_it_is_kept_until_the_deadline(push_key: str, seconds_left: float, ttl: str) -> None:
    sent = messages.headers(about(seconds_left=seconds_left), target(Phone("https://p.example/1")))
    assert sent["TTL"] == ttl


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, "accepted"),
        (201, "accepted"),
        (301, "rejected"),
        (400, "rejected"),
        (403, "rejected"),
        (404, "gone"),
        (410, "gone"),
        (413, "rejected"),
        (429, "retry"),
        (500, "retry"),
        (503, "retry"),
    ],
)
def test_what_an_answer_means(status: int, expected: str) -> None:
    outcome = judge_status(status, endpoint="https://push.example.com/1")
    assert outcome.details.kind == expected


def test_the_schedule_ends_and_honours_retry_after() -> None:
    def delay(attempts: int, retry_after: float | None = None) -> float | None:
        return next_delay(
            CHANNEL.delays, failed_attempts=attempts, chance=0.5, retry_after=retry_after
        )

    assert [delay(number) for number in (1, 2, 7)] == [2, 5, 300]
    assert delay(1, 120.0) == 120
    assert delay(8, 120.0) == 600
    assert delay(len(CHANNEL.delays) + 1) is None

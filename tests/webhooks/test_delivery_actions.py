"""The buttons of the delivery log: again, all of them again, and a test event."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts import vault
from accounts.models import User, WebhookSecret
from dashboard import deliveries
from db.ids import new_id
from tests.portal import signed_in, words
from tests.webhooks.conftest import deliver_here
from tests.webhooks.log import LOG, NOW, attempted, made, pks
from tests.webhooks.receivers import Received, Reply, dead_url, misbehaving, receiving
from webhooks.models import Attempt, Circuit, Delivery

pytestmark = pytest.mark.django_db


class TestResend:
    @pytest.mark.parametrize("state", ["delivered", "dead", "waiting"])
    def test_again(self, owner: User, state: str) -> None:
        item = made(owner, state=state, failed_attempts=3, next_attempt_at=NOW + timedelta(days=1))
        response = signed_in(owner).post(f"{LOG}{item.pk}/resend/", follow=True)
        assert response.redirect_chain == [(f"{LOG}{item.pk}/", 302)]
        assert "Sending it again now. The retry schedule starts again." in words(response)
        item.refresh_from_db()
        assert (item.state, item.failed_attempts, item.is_manual) == ("waiting", 0, True)
        assert item.next_attempt_at < NOW + timedelta(hours=1)

    def test_behind_an_open_circuit_it_is_due_and_no_more(self, owner: User) -> None:
        item, until = made(owner, state="dead"), NOW + timedelta(days=1)
        Circuit.objects.create(account=owner, host=item.host, failures=5, open_until=until)
        page = words(signed_in(owner).post(f"{LOG}{item.pk}/resend/", follow=True))
        assert "It’s due again. The retry schedule starts again." in page
        assert f"is paused until {until:%H:%M:%S} UTC." in page
        assert "Sending it again now" not in page

    def test_not_a_test_event(self, owner: User) -> None:
        item = made(owner, "webhook.test", state="dead")
        browser = signed_in(owner)
        assert "Send again" not in words(browser.get(f"{LOG}{item.pk}/"))
        page = words(browser.post(f"{LOG}{item.pk}/resend/", follow=True))
        assert "Test events are sent only once." in page
        assert Delivery.objects.get().state == "dead"

    def test_not_while_an_attempt_is_under_way(self, owner: User) -> None:
        item = made(owner, claim_id=new_id())
        response = signed_in(owner).post(f"{LOG}{item.pk}/resend/", follow=True)
        assert "An attempt is running." in words(response)
        assert not Delivery.objects.get().is_manual

    def test_not_for_others(self, owner: User, outsider: User) -> None:
        item = made(owner, state="dead")
        for each in (item.pk, "x", new_id()):
            assert signed_in(outsider).post(f"{LOG}{each}/resend/").status_code == 404
        item.refresh_from_db()
        assert item.state == "dead"


class TestResendSelected:
    def post(self, user: User, items: list[Delivery], query: str = "") -> Any:
        ids = {"selected": pks(items)}
        return signed_in(user).post(f"{LOG}resend-selected/{query}", ids, follow=True)

    def test_each_in_its_way(self, owner: User, member: User) -> None:
        dead, fine = made(owner, state="dead"), made(owner, state="delivered", failed_attempts=3)
        running, test = made(owner, claim_id=new_id()), made(owner, "webhook.test", state="dead")
        theirs, other = made(member, state="dead"), made(owner, state="dead")
        chosen = [dead, fine, running, test, theirs]
        page = words(self.post(owner, chosen))
        assert "2 deliveries are sent again now. 1 has an attempt running." in page
        assert "1 is a test event, which is sent only once." in page
        found = {row.pk: row for row in Delivery.objects.all()}
        states = [(found[pk].state, found[pk].is_manual) for pk in pks([*chosen, other])]
        due, left = ("waiting", True), ("dead", False)
        assert states == [due, due, ("waiting", False), left, left, left]
        assert found[fine.pk].failed_attempts == 0

    def test_back_to_the_same_rows(self, owner: User) -> None:
        query = "?state=dead&host=receiver.example"
        response = self.post(owner, [made(owner, state="dead")], query)
        assert response.redirect_chain == [(f"{LOG}{query}", 302)]
        assert "1 delivery is sent again now." in words(response)

    @pytest.mark.parametrize("ids", [[], ["x"], ["%00", ""]])
    def test_nothing_selected(self, owner: User, ids: list[str]) -> None:
        response = signed_in(owner).post(f"{LOG}resend-selected/", {"selected": ids}, follow=True)
        assert "Select the deliveries to send again first." in words(response)

    def test_paused_hosts_are_named_as_such(self, owner: User) -> None:
        item, until = made(owner, state="dead"), NOW + timedelta(days=1)
        Circuit.objects.create(account=owner, host=item.host, failures=5, open_until=until)
        assert "are paused; their deliveries follow later." in words(self.post(owner, [item]))

    def test_statements(
        self, owner: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        ids = {"selected": pks([made(owner, state="dead") for _ in range(50)])}
        browser = signed_in(owner)
        # session, person, lock, update, pauses, savepoint and its release, messages
        with django_assert_num_queries(7):
            browser.post(f"{LOG}resend-selected/", ids)

    def test_test_events_cannot_be_selected(self, owner: User) -> None:
        made(owner, "webhook.test", state="dead")
        dead = made(owner, state="dead")
        page = " ".join(signed_in(owner).get(LOG).content.decode().split())
        assert re.findall(r'name="selected" value="(\w+)"', page) == [dead.pk]


class TestResendDead:
    def post(self, user: User, since: str) -> Any:
        return signed_in(user).post(f"{LOG}resend-dead/", {"since": since}, follow=True)

    def test_all_since_a_moment(self, owner: User, member: User) -> None:
        old = made(owner, state="dead", created_at=NOW - timedelta(days=3))
        new = [made(owner, state="dead"), made(owner, state="dead")]
        theirs, fine = made(member, state="dead"), made(owner, state="delivered")
        response = self.post(owner, f"{NOW - timedelta(days=1):%Y-%m-%dT%H:%M}")
        assert "2 deliveries are sent again now." in words(response)
        states = dict(Delivery.objects.values_list("pk", "state"))
        assert [states[pk] for pk in pks(new)] == ["waiting", "waiting"]
        assert [states[pk] for pk in pks([old, theirs, fine])] == ["dead", "dead", "delivered"]

    def test_behind_an_open_circuit(self, owner: User) -> None:
        item = made(owner, state="dead")
        until = NOW + timedelta(days=1)
        Circuit.objects.create(account=owner, host=item.host, failures=5, open_until=until)
        page = words(self.post(owner, f"{NOW - timedelta(days=1):%Y-%m-%dT%H:%M}"))
        assert "1 delivery is due again. Hosts that couldn’t be reached" in page
        assert "sent again now" not in page

    def test_one_and_none(self, owner: User) -> None:
        made(owner, state="dead")
        day_ago = f"{NOW - timedelta(days=1):%Y-%m-%dT%H:%M}"
        assert "1 delivery is sent again now." in words(self.post(owner, day_ago))
        assert "No deliveries have failed permanently since then." in words(
            self.post(owner, day_ago)
        )

    def test_a_day_ago_is_proposed_in_utc(self, owner: User) -> None:
        page = signed_in(owner).get(LOG)
        assert "(UTC)" in words(page)
        found = re.search(r'type="datetime-local" name="since" value="([^"]*)"', str(page.content))
        assert found
        proposed = datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
        assert timedelta(hours=23) < datetime.now(UTC) - proposed < timedelta(hours=25)

    @pytest.mark.parametrize(
        ("since", "sentence"),
        [
            ("", "Enter a start time"),
            ("yesterday", "Enter a date and time, such as 2026-03-31T18:00"),
            ("2026-13-01T00:00", "Enter a date and time"),
            ("\x00", "Enter a date and time"),
            ("9999-12-31T23:59", "Enter a time in the past, in your time zone"),
            ("9999-12-31T23:59-14:00", "Enter a time in the past"),
        ],
    )
    def test_no_moment(self, owner: User, since: str, sentence: str) -> None:
        made(owner, state="dead")
        response = self.post(owner, since)
        assert response.status_code == 422
        assert sentence in words(response)
        assert Delivery.objects.get().state == "dead"

    @pytest.mark.parametrize("since", ["0001-01-01T00:00", "0001-01-01T00:00+14:00"])
    def test_the_beginning_of_time(self, owner: User, since: str) -> None:
        made(owner, state="dead")
        assert "1 delivery is sent again now." in words(self.post(owner, since))


class TestTestEvent:
    def post(self, user: User, url: str) -> Any:
        return signed_in(user).post(f"{LOG}test/", {"url": url}, follow=True)

    def post_and_send(self, user: User, url: str) -> Any:
        """The page as it is once the worker has attempted the event."""
        ((address, _),) = self.post(user, url).redirect_chain
        assert deliver_here() == 1
        return signed_in(user).get(address.partition("#")[0])

    def test_the_page_waits_for_the_answer(
        self, owner: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        with receiving(lambda _: Reply(202, {"X-Mood": "good"}, b"<b>thanks</b>")) as receiver:
            response = self.post(owner, receiver.url)
            assert receiver.got == []  # nothing is sent by the web request
            item = Delivery.objects.get()
            assert (item.event, item.state) == ("webhook.test", "waiting")
            assert response.redirect_chain == [(f"{LOG}?tested={item.pk}#test", 302)]
            assert "Sending… The response appears here." in words(response)
            html = response.content.decode()
            assert f'hx-get="{LOG}{item.pk}/result/"' in html
            assert f'href="{LOG}?tested={item.pk}">' in html  # without scripts
            assert f'value="{receiver.url}"' in html
            assert deliver_here() == 1
        browser = signed_in(owner)
        with django_assert_num_queries(4):
            response = browser.get(f"{LOG}{item.pk}/result/")
        late = response.content.decode()  # the row of the table changes with it
        assert re.search(
            rf'id="state-{item.pk}"\s+hx-swap-oob="true">\s*<span[^>]*>.*?Delivered', late, re.S
        )
        assert f'<span id="attempts-{item.pk}" hx-swap-oob="true">1</span>' in late
        for answer in (response, browser.get(f"{LOG}?tested={item.pk}")):
            assert re.search(r"Response 202 Accepted after 0\.\d\d s Manual", words(answer))
            assert "X-Mood good" in words(answer)
            assert "<b>thanks</b>" in words(answer)
            assert f'href="{LOG}{item.pk}/">View delivery' in answer.content.decode()
            assert "hx-get" not in answer.content.decode()
        (received,) = receiver.got
        assert received.webhook_id == item.pk
        assert Delivery.objects.get().state == "delivered"
        assert deliver_here() == 0

    def test_an_attempt_under_way_is_waited_for(self, owner: User) -> None:
        item = made(owner, "webhook.test", claim_id=new_id())
        attempted(item, finished_at=None)
        page = signed_in(owner).get(f"{LOG}{item.pk}/result/").content.decode()
        assert "Sending…" in page

    @pytest.mark.parametrize(
        ("age", "pause"), [(0, "1s"), (29, "1s"), (31, "2s"), (290, "10s"), (310, None)]
    )
    def test_the_page_asks_less_and_less_often(
        self, owner: User, age: int, pause: str | None
    ) -> None:
        created_at = timezone.now() - timedelta(seconds=age)
        item = made(owner, "webhook.test", created_at=created_at)
        page = signed_in(owner).get(f"{LOG}{item.pk}/result/").content.decode()
        assert re.findall(r"load delay:(\w+)", page) == ([pause] if pause else [])
        assert "Check again" in page

    def test_nobody_elses_and_nothing_else(self, owner: User, outsider: User) -> None:
        item, other = made(owner, "webhook.test"), made(owner)
        for user, pk in ((outsider, item.pk), (owner, other.pk), (owner, new_id())):
            assert signed_in(user).get(f"{LOG}{pk}/result/").status_code == 404
            assert signed_in(user).get(f"{LOG}?tested={pk}").status_code == 404
        assert signed_in(owner).get(f"{LOG}?tested=x").status_code == 404

    def test_a_failure_is_an_answer_too(self, owner: User) -> None:
        with receiving(lambda _: Reply(500, {}, b"oops")) as receiver:
            assert "500 Internal Server Error" in words(self.post_and_send(owner, receiver.url))
        assert "No connection" in words(self.post_and_send(owner, dead_url()))
        refused = self.post_and_send(owner, "http://10.0.0.1/hook")
        assert "is not a public address" in words(refused)
        assert {item.state for item in Delivery.objects.all()} == {"dead"}

    @pytest.mark.parametrize(
        "noise",
        [
            b"\x00\xff\xe2\x80\xae<script>\x07\r\n\r\n",
            b"HTTP/1.1 \x00<script>\r\n\r\n",
            b"HTTP/1.1 200 \x00\xff\r\nX-<script>\x00: \x00<script>\xff\r\n\r\n\x00<script>\xff",
        ],
    )
    def test_noise_instead_of_an_answer(self, owner: User, noise: bytes) -> None:
        with misbehaving(lambda peer, _: peer.sendall(noise)) as port:
            response = self.post_and_send(owner, f"http://127.0.0.1:{port}/")
        assert response.status_code == 200
        assert "<script>" not in response.content.decode()
        assert Attempt.objects.get().finished_at

    def test_a_few_may_wait(self, owner: User, member: User) -> None:
        """However long the worker is away; the limit of a minute is in Redis, which may be too."""
        url = "http://10.0.0.1/hook"
        assert [self.post(owner, url).status_code for _ in range(6)] == [200] * 5 + [422]
        response = self.post(owner, url)
        assert "5 test events are already waiting. Try again when they’re done" in words(response)
        assert f'value="{url}"' in response.content.decode()
        assert self.post(member, url).status_code == 200
        assert Delivery.objects.count() == 6
        assert sum(deliver_here() for _ in range(3)) == 6
        assert self.post(owner, url).status_code == 200

    @pytest.mark.parametrize(
        "url",
        [
            "receiver.example",
            "ftp://receiver.example/",
            "javascript:alert(1)",
            "https://",
            "http://[::1",
            "http://a:99999/",
            "http://a b/",
            "https://x/" + "y" * 2048,
        ],
    )
    def test_no_address(self, owner: User, url: str) -> None:
        response = self.post(owner, url)
        assert response.status_code == 422
        assert "Enter a full URL, such as https://example.com/hook" in words(response)
        assert not Delivery.objects.exists()

    def test_nothing_typed(self, owner: User) -> None:
        assert "Enter the URL of a receiver" in words(self.post(owner, " "))
        assert "an invisible character inside" in words(self.post(owner, "http://a/\x00"))

    def test_a_secret_that_nobody_can_read(self, owner: User) -> None:
        sealed = vault.seal("x")[:-1]
        WebhookSecret.objects.create(account=owner, sealed=sealed, issued=False)
        response = self.post(owner, "http://10.0.0.1/hook")
        assert response.status_code == 422
        assert "Your webhook secret can’t be read. Set a new one first" in words(response)
        assert not Delivery.objects.exists()

    def test_ten_in_a_minute(
        self, owner: User, member: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(deliveries, "TEST_EVENT_RATE", "2/h")
        url = "http://10.0.0.1/hook"
        assert [self.post(owner, url).status_code for _ in range(3)] == [200, 200, 429]
        response = self.post(owner, url)
        assert int(response["Retry-After"]) > 0
        assert "Wait" in words(response)
        assert f'value="{url}"' in response.content.decode()
        assert Delivery.objects.count() == 2
        assert self.post(member, url).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_test_event_is_on_record_before_it_is_sent(owner: User) -> None:
    seen: list[int] = []

    def look(_: Received) -> Reply:
        seen.append(Attempt.objects.filter(finished_at=None).count())
        return Reply()

    with receiving(look) as receiver:
        signed_in(owner).post(f"{LOG}test/", {"url": receiver.url})
        assert deliver_here() == 1
    assert seen == [1]

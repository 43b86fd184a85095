"""The page of a request: question, timeline, feedback, cancelling."""

import html
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from accounts.services import create_api_key
from loops.models import Loop
from reviews import services
from reviews.models import Feedback, Request
from tests.conftest import Api
from tests.portal import signed_in, words
from tests.reviews.conftest import FIELDS, Make, acting, make_overdue
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db

HOOK = "https://agent.example/hook"


def path(request: Request, rest: str = "") -> str:
    return f"/dashboard/requests/{request.pk}/{rest}"


def answered(make: Make, member: User, **changes: Any) -> Request:
    request = make(**changes)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    return request


class TestShow:
    def test_the_text_is_rendered(self, owner: User, make: Make) -> None:
        request = make(request_text="**Refund** <script>x</script>\n\n- one")
        page = signed_in(owner).get(path(request)).content.decode()
        assert "<strong>Refund</strong> &lt;script&gt;" in page
        assert "<li>one</li>" in page

    def test_configuration_and_context(self, owner: User, make: Make) -> None:
        request = make(context={"order": {"number": 4821}}, callback_url=HOOK)
        page = words(signed_in(owner).get(path(request)))
        assert "Context (1 field)" in page
        assert "number: 4821" in page
        assert "Answer type single_select" in page
        assert f"Callback URL {HOOK}" in page
        assert "Default response no" in page

    def test_the_json_is_that_of_the_api(self, owner: User, make: Make) -> None:
        request, key = make(context={"a": [1, 1e300]}), create_api_key(user=owner, name="k")[1]
        said = Api(key).get(f"/v1/api/requests/{request.pk}").json()["data"]["request"]
        page = signed_in(owner).get(path(request)).content.decode()
        (shown,) = re.findall(r'aria-label="JSON of the request"><code>(.*?)</code>', page, re.S)
        assert json.loads(html.unescape(shown)) == said
        assert signed_in(owner).get(path(request, "request.json")).json() == said

    def test_an_image_comes_from_elsewhere_without_telling_where_from(
        self, owner: User, make: Make
    ) -> None:
        response = signed_in(owner).get(
            path(make(type="image", image_url="https://x.example/a.png"))
        )
        assert "img-src 'self' data: https: http:" in response["Content-Security-Policy"]
        assert 'src="https://x.example/a.png"' in response.content.decode()
        assert 'referrerpolicy="no-referrer"' in response.content.decode()

    def test_very_much_is_cut_and_linked(self, owner: User, make: Make) -> None:
        options = [{"value": f"{n}{'v' * 900}", "label": '"' * 900} for n in range(100)]
        request = make(
            request_text="```c\n" + "a(" * 990 + "\n```",
            context={"list": [[1] * 40] * 900, "text": "<" * 50_000},
            response_config={"options": options},
            default_response=options[0]["value"],
        )
        response = signed_in(owner).get(path(request))
        assert len(response.content) < 64_000
        assert "Full JSON" in words(response)
        assert len(signed_in(owner).get(path(request, "request.json")).content) > 200_000

    def test_an_overdue_request_is_settled_by_looking(self, owner: User, make: Make) -> None:
        request = make()
        make_overdue(request)
        page = words(signed_in(owner).get(path(request)))
        assert "Timed out High" in page
        assert "Nobody answered in time. The default response was used." in page
        request.refresh_from_db()
        assert request.status == "timeout"

    def test_of_a_deleted_loop(self, owner: User, loop: Loop, make: Make) -> None:
        request = make()
        services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
        page = words(signed_in(owner).get(path(request)))
        assert "Refund desk (deleted)" in page
        assert "Cancelled" in page

    def test_at_the_same_cost(
        self,
        owner: User,
        member: User,
        make: Make,
        django_assert_num_queries: DjangoAssertNumQueries,
    ) -> None:
        request = answered(make, member, callback_url=HOOK)
        Request.objects.filter(pk=request.pk).update(claim_count=60)
        for number in range(60):
            Delivery.objects.create(
                account=owner,
                event="request.claimed",
                subject_id=request.pk,
                occurrence=f"{request.pk}:claim:{number + 1}",
                url=HOOK,
                host="agent.example",
                body=b"{}",
            )
        services.add_feedback(request=request, feedback={"rating": 5})
        browser = signed_in(owner)
        with django_assert_num_queries(5):
            response = browser.get(path(request))
        assert len(response.content) < 64_000


class TestTimeline:
    def test_from_creation_to_delivery(self, owner: User, member: User, loop: Loop) -> None:
        key, _ = create_api_key(user=owner, name="Agent")
        request = services.create_request(
            loop_id=loop.pk,
            account=acting(owner),
            api_key_id=key.pk,
            fields={**FIELDS, "callback_url": HOOK},
        )
        services.claim_request(request=request, reviewer_id=member.pk)
        services.answer_request(
            request=services.read_request(request.pk), reviewer_id=member.pk, answer="yes"
        )
        for delivery in Delivery.objects.filter(event="request.completed"):
            delivery.state, delivery.delivered_at = "delivered", timezone.now()
            delivery.save()
        page = words(signed_in(owner).get(path(request)))
        steps = page.partition("Timeline ")[2].partition("Configuration")[0]
        titles = [
            "Created Via the API with the key Agent",
            "Sent to 2 members",
            "Claimed by Member",
            "Answered by Member after 0 s yes",
            "request.completed delivered agent.example",
        ]
        assert [steps.index(title) for title in titles] == sorted(map(steps.index, titles))
        assert steps.count("Claimed") == 1
        assert "request.completed Delivered" in page
        deliveries = Delivery.objects.values_list("pk", flat=True)
        body = signed_in(owner).get(path(request)).content.decode()
        assert all(f"/dashboard/deliveries/{pk}/" in body for pk in deliveries)

    def test_what_an_agent_asked(self, owner: User, loop: Loop) -> None:
        key, _ = create_api_key(user=owner, name="Agent")
        request = services.create_request(
            loop_id=loop.pk,
            account=acting(owner),
            api_key_id=key.pk,
            fields=FIELDS,
            asked_through="MCP (<b>claude</b> 2)",
        )
        page = signed_in(owner).get(path(request))
        assert "Asked through MCP (&lt;b&gt;claude&lt;/b&gt; 2)" in page.content.decode()
        assert "2) with the key Agent" in words(page)

    def test_what_is_still_open(self, owner: User, make: Make) -> None:
        page = words(signed_in(owner).get(path(make())))
        assert "Waiting for an answer until" in page
        assert "No callback URL. Wait for the answer, stream events or set a callback URL." in page


class TestCancel:
    def test_a_pending_request(self, owner: User, make: Make) -> None:
        request = make()
        page = words(signed_in(owner).post(path(request, "cancel/"), follow=True))
        assert "Request cancelled." in page
        assert services.read_request(request.pk).status == "cancelled"

    def test_what_somebody_holds_or_has_ended_cannot_be(
        self, owner: User, member: User, make: Make
    ) -> None:
        claimed, done, late = make(), answered(make, member), make()
        services.claim_request(request=claimed, reviewer_id=member.pk)
        make_overdue(late)
        browser = signed_in(owner)
        for request, sentence in (
            (claimed, "Someone is answering it right now"),
            (done, "Here’s its current state"),
            (late, "Here’s its current state"),
        ):
            page = words(browser.post(path(request, "cancel/"), follow=True))
            assert sentence in page
            assert "Cancel this request?" not in page

    def test_a_double_click(self, owner: User, make: Make) -> None:
        request, browser = make(), signed_in(owner)
        for _ in range(2):
            assert browser.post(path(request, "cancel/"))["Location"] == path(request)


class TestFeedback:
    def test_what_is_given_is_what_the_api_says(
        self, owner: User, member: User, make: Make
    ) -> None:
        request = answered(make, member)
        given = {
            "rating": "5",
            "accuracy": "4",
            "category": "positive",
            "comment": "Quick.\r\nGood.",
            "would_recommend": "yes",
            "follow_up_needed": "no",
            "tags": "fast, polite,, ",
        }
        page = words(signed_in(owner).post(path(request, "feedback/"), given, follow=True))
        assert "Feedback saved." in page
        assert Feedback.objects.get().body == {
            "rating": 5,
            "accuracy": 4,
            "would_recommend": True,
            "follow_up_needed": False,
            "category": "positive",
            "comment": "Quick.\nGood.",
            "tags": ["fast", "polite"],
        }

    def test_it_is_shown_and_replaced_and_a_programs_own_stays(
        self, owner: User, member: User, make: Make
    ) -> None:
        request = answered(make, member)
        services.add_feedback(request=request, feedback={"rating": 4.5, "model": "m1", "tags": []})
        page = signed_in(owner).get(path(request)).content.decode()
        assert '<option value="4.5" selected>' in page
        signed_in(owner).post(path(request, "feedback/"), {"rating": "4.5", "comment": "x"})
        assert Feedback.objects.get().body == {"model": "m1", "rating": 4.5, "comment": "x"}

    def test_a_form_sent_as_it_came_changes_no_tag(
        self, owner: User, member: User, make: Make
    ) -> None:
        request = answered(make, member)
        tags = ["Berlin, Mitte", 'said "no"', "plain", "it’s"]
        services.add_feedback(request=request, feedback={"tags": tags})
        page = signed_in(owner).get(path(request)).content.decode()
        (shown,) = re.findall('name="tags" value="([^"]*)"', page)
        signed_in(owner).post(path(request, "feedback/"), {"tags": html.unescape(shown)})
        assert Feedback.objects.get().body == {"tags": tags}

    @pytest.mark.parametrize("typed", ['"open, quote', "a\nb", "a\rb", '""', '"a"b, c', ","])
    def test_odd_tags_are_no_error(self, owner: User, member: User, make: Make, typed: str) -> None:
        response = signed_in(owner).post(path(answered(make, member), "feedback/"), {"tags": typed})
        assert response.status_code == 302

    def test_nothing_at_all_is_feedback_too(self, owner: User, member: User, make: Make) -> None:
        signed_in(owner).post(path(answered(make, member), "feedback/"), {})
        assert Feedback.objects.get().body == {}

    @pytest.mark.parametrize(
        ("field", "value", "sentence"),
        [
            ("rating", "6", "not one of the available choices"),
            ("rating", "x", "not one of the available choices"),
            ("category", "rude", "not one of the available choices"),
            ("comment", "x" * 1001, "At most 1,000 characters; these are 1,001"),
            ("comment", "a\0b", "Null characters are not allowed."),
        ],
    )
    def test_what_is_wrong_stands_beside_it(
        self, owner: User, member: User, make: Make, field: str, value: str, sentence: str
    ) -> None:
        fields = {"tags": "kept", field: value}
        response = signed_in(owner).post(path(answered(make, member), "feedback/"), fields)
        assert response.status_code == 422
        assert sentence in words(response)
        assert 'value="kept"' in response.content.decode()
        assert not Feedback.objects.exists()

    def test_only_for_answers(self, owner: User, make: Make) -> None:
        page = words(signed_in(owner).post(path(make(), "feedback/"), {}, follow=True))
        assert "You can give feedback only on an answer" in page
        assert not Feedback.objects.exists()


class TestAccess:
    @pytest.mark.parametrize("rest", ["", "request.json"])
    def test_others_find_nothing(self, member: User, outsider: User, make: Make, rest: str) -> None:
        request = make()
        for person in (member, outsider):
            assert signed_in(person).get(path(request, rest)).status_code == 404

    @pytest.mark.parametrize("rest", ["cancel/", "feedback/"])
    def test_nor_can_they_change_it(
        self, member: User, outsider: User, make: Make, rest: str
    ) -> None:
        request = make()
        for person in (member, outsider):
            assert signed_in(person).post(path(request, rest)).status_code == 404
        assert services.read_request(request.pk).status == "pending"

    @pytest.mark.parametrize("request_id", ["x", "0" * 24])
    def test_ids_that_there_are_not(self, owner: User, request_id: str) -> None:
        assert signed_in(owner).get(f"/dashboard/requests/{request_id}/").status_code == 404

    def test_strangers_come_back_to_the_page(self, client: Client, owner: User, make: Make) -> None:
        request = make()
        target = path(request, "cancel/")
        assert client.post(target)["Location"] == f"/accounts/login/?next={target}"
        assert signed_in(owner).get(target)["Location"] == path(request)

"""One answer to several questions: what can be selected, what is said, and what became of each."""

import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, join_loop, lock_membership
from portal import several
from reviews import retention, services
from reviews.models import Request
from reviews.policy import Policy
from tests.conftest import account
from tests.portal import signed_in, words
from tests.reviews.conftest import FIELDS, Make, acting, make_overdue
from webhooks.models import LoggedEvent

pytestmark = pytest.mark.django_db
CHOOSE, REVIEW, SEND = "/inbox/several/", "/inbox/several/review/", "/inbox/several/send/"


def review(browser: Client, requests: list[Request], **more: Any) -> Any:
    return browser.get(REVIEW, {"selected": [each.pk for each in requests], **more}, follow=True)


def send(browser: Client, requests: list[Request], answer: str = "yes", **more: Any) -> Any:
    fields = {"selected": [each.pk for each in requests], "answer": answer, **more}
    return browser.post(SEND, fields, follow=True)


def answers(*requests: Request) -> list[Any]:
    found = dict(Request.objects.values_list("pk", "response_data"))
    return [found[each.pk] for each in requests]


def listed(page: Any) -> list[str]:
    """The values of the checkboxes."""
    return re.findall(r'name="selected" value="([0-9a-f]{24})"', page.content.decode())


def section(page: Any, name: str) -> str:
    """What a part of the result says."""
    found = re.search(
        rf'<section class="card" aria-labelledby="{name}">(.*?)</section>',
        page.content.decode(),
        re.S,
    )
    return " ".join(re.sub("<[^>]*>", " ", found[1]).split()) if found else ""


class TestChoosing:
    def test_questions_with_the_same_answers(
        self, make: Make, owner: User, member: User, loop: Loop
    ) -> None:
        two = [make(request_text=f"Refund order {number}?") for number in (1, 2)]
        same = make(response_config={"options": [{"value": "yes", "label": "yes"}, "no"]})
        labelled = make(response_config={"options": [{"value": "yes", "label": "Sure"}, "no"]})
        alone = [
            labelled,
            make(response_config={"options": ["no", "yes"]}),
            make(priority="critical"),
            make(policy=Policy("majority", 2).store()),
            make(response_type="text", response_config={}),
        ]
        held, mine = make(), make()
        services.claim_request(request=held, reviewer_id=owner.pk)
        services.claim_request(request=mine, reviewer_id=member.pk)
        page = signed_in(member).get(CHOOSE)
        assert sorted(listed(page)) == sorted(each.pk for each in (*two, same, mine))
        said = words(page)
        assert "Give one answer to up to 50 questions of a loop" in said
        assert "Refund desk Answers: yes, no" in said
        assert not {each.pk for each in alone} & set(listed(page))

    def test_each_loop_is_a_group(self, make: Make, owner: User, member: User) -> None:
        make(), make()
        other = create_loop(owner_id=owner.pk, name="Other desk", icon="star")
        join_loop(user=member, code=other.invite_code)
        for _ in range(2):
            services.create_request(loop_id=other.pk, account=acting(owner), fields=FIELDS)
        page = signed_in(member).get(CHOOSE)
        assert page.content.decode().count('<form class="card selection several"') == 2
        narrowed = signed_in(member).get(f"{CHOOSE}?loop={other.pk}")
        assert len(listed(narrowed)) == 2
        assert f'<input type="hidden" name="loop" value="{other.pk}">' in narrowed.content.decode()

    def test_nothing_to_answer_together(self, make: Make, member: User) -> None:
        make()
        browser = signed_in(member)
        assert "No two of your questions have the same answers." in words(browser.get(CHOOSE))
        assert "Answer several" not in words(browser.get("/inbox/"))
        make()
        assert "Answer several" in words(browser.get("/inbox/"))
        Request.objects.update(priority="critical")
        assert "Answer several" not in words(browser.get("/inbox/"))

    def test_one_that_somebody_is_on_makes_no_group(
        self, make: Make, owner: User, member: User
    ) -> None:
        held, _ = make(), make()
        services.claim_request(request=held, reviewer_id=owner.pk)
        assert "Answer several" not in words(signed_in(member).get("/inbox/"))
        services.release_claim(request=held, reviewer_id=owner.pk)
        assert "Answer several" in words(signed_in(member).get("/inbox/"))

    def test_no_more_than_the_limit(self, make: Make, member: User) -> None:
        made = [make() for _ in range(52)]
        page = signed_in(member).get(CHOOSE)
        assert len(listed(page)) == 50
        assert "These are the 50 most urgent ones." in words(page)
        assert "Select at most 50 questions." in words(review(signed_in(member), made[:51]))
        assert "Select at most 50 questions." in words(send(signed_in(member), made[:51]))
        assert Request.objects.filter(status="pending").count() == 52

    def test_only_the_most_urgent_are_searched(
        self, make: Make, member: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(several, "MAX_READ", 2)
        made = [make(), make()]
        assert "were searched" not in words(signed_in(member).get(CHOOSE))
        made.append(make(priority="low"))
        page = signed_in(member).get(CHOOSE)
        assert "Only the 2 most urgent questions were searched." in words(page)
        assert sorted(listed(page)) == sorted(each.pk for each in made[:2])

    def test_strangers_sign_in(self) -> None:
        for path in (CHOOSE, REVIEW, SEND):
            assert Client().get(path)["Location"].startswith("/accounts/login/")

    def test_statements(
        self, make: Make, member: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        browser = signed_in(member)
        for _ in range(2):
            make(), make()
            browser.get(CHOOSE)
            with django_assert_num_queries(4):
                browser.get(CHOOSE)


class TestReviewing:
    def test_what_is_said_to_how_many(self, make: Make, member: User) -> None:
        made = [make(request_text=f"Refund order **{number}**?") for number in (1, 2)]
        page = review(signed_in(member), made)
        said = words(page)
        assert "Answer several Refund desk" in said
        assert "One answer to 2 questions" in said
        assert "Refund order 1? Refund order 2?" in said
        assert "Send to 2 questions" in said
        assert listed(page) == [each.pk for each in made]
        assert answers(*made) == [None, None]

    def test_what_has_ended_meanwhile_is_left_out(
        self, make: Make, owner: User, member: User
    ) -> None:
        answered, held, late, open_ = make(), make(), make(), make()
        services.answer_request(request=answered, reviewer_id=owner.pk, answer="no")
        services.claim_request(request=held, reviewer_id=owner.pk)
        make_overdue(late)
        page = review(signed_in(member), [answered, held, late, open_])
        assert listed(page) == [open_.pk]
        assert "3 of the selected questions can no longer be answered" in words(page)
        page = review(signed_in(member), [answered, held])
        assert "None of these questions can be answered any more." in words(page)

    @pytest.mark.parametrize("selected", [[], ["x"], ["%00", "f" * 23, "g" * 24]])
    def test_nothing_selected(self, make: Make, member: User, selected: list[str]) -> None:
        make()
        for page in (
            signed_in(member).get(REVIEW, {"selected": selected}, follow=True),
            signed_in(member).post(SEND, {"selected": selected, "answer": "yes"}, follow=True),
        ):
            assert page.redirect_chain == [(CHOOSE, 302)]
            assert "Select questions first." in words(page)

    def test_ids_of_others_say_nothing(
        self, make: Make, outsider: User, member: User, owner: User
    ) -> None:
        mine = make()
        theirs = create_loop(owner_id=outsider.pk, name="Theirs", icon="star")
        fields = {**FIELDS, "request_text": "A secret"}
        secret = services.create_request(loop_id=theirs.pk, account=acting(outsider), fields=fields)
        page = review(signed_in(member), [mine, secret])
        assert "A secret" not in words(page)
        assert "1 of the selected questions can no longer be answered" in words(page)
        result = send(signed_in(member), [mine, secret])
        assert "A secret" not in words(result)
        assert "You can’t answer 1 question any more" in section(result, "not-allowed")
        assert answers(mine, secret) == ["yes", None]
        only = send(signed_in(member), [secret])
        assert "0 answers sent" in words(only)
        assert "A secret" not in words(only)


class TestSending:
    def test_each_gets_the_answer(self, make: Make, member: User) -> None:
        made = [make() for _ in range(3)]
        page = send(signed_in(member), made, comment="All the same case.")
        assert page.status_code == 200
        assert "3 answers sent yes" in words(page)
        stored = Request.objects.all()
        assert {(each.response_data, each.response_comment) for each in stored} == {
            ("yes", "All the same case.")
        }
        assert {each.response_by_id for each in stored} == {member.pk}
        assert LoggedEvent.objects.count() == 3

    def test_it_names_what_became_of_the_others(
        self, make: Make, owner: User, member: User
    ) -> None:
        names = ("open", "theirs", "mine", "held", "late", "cancelled")
        made = {name: make(request_text=f"Question {name}?") for name in names}
        services.answer_request(request=made["theirs"], reviewer_id=owner.pk, answer="no")
        services.answer_request(request=made["mine"], reviewer_id=member.pk, answer="no")
        services.claim_request(request=made["held"], reviewer_id=owner.pk)
        make_overdue(made["late"])
        services.cancel_request(request_id=made["cancelled"].pk, account_id=owner.pk)
        page = send(signed_in(member), list(made.values()))
        assert "1 answer sent yes" in words(page)
        said = "Answered by somebody else meanwhile (1) Question theirs? Owner : no"
        assert section(page, "fate-others") == said
        said = "You had already answered them (1) Question mine? no"
        assert section(page, "fate-mine") == said
        assert section(page, "fate-claimed").endswith("Question held? Owner is on it")
        ended = section(page, "fate-ended")
        assert "Question late? Time’s up" in ended
        assert "Question cancelled? Cancelled" in ended
        assert section(page, "fate-sent") == "Sent (1) Question open?"
        assert answers(*made.values()) == ["yes", "no", "no", None, "no", None]

    def test_sent_twice(self, make: Make, member: User) -> None:
        made = [make(), make()]
        browser = signed_in(member)
        page = send(browser, [*made, made[0]])
        assert "2 answers sent" in words(page)
        assert section(page, "fate-mine") == ""
        again = send(browser, made)
        assert "0 answers sent" in words(again)
        assert section(again, "fate-mine").startswith("You had already answered them (2)")
        assert LoggedEvent.objects.count() == 2

    @pytest.mark.parametrize("answer", ["", "perhaps", "YES"])
    def test_no_answer_is_chosen(self, make: Make, member: User, answer: str) -> None:
        made = [make(), make()]
        page = send(signed_in(member), made, answer, comment="Kept words")
        assert page.status_code == 422
        assert "Choose one of the options" in words(page)
        assert "Kept words" in words(page)
        assert listed(page) == [each.pk for each in made]
        assert answers(*made) == [None, None]

    def test_a_comment_that_the_loop_requires(self, make: Make, member: User, loop: Loop) -> None:
        Loop.objects.filter(pk=loop.pk).update(comment_required_for=["no"])
        made = [make(), make()]
        page = send(signed_in(member), made, "no")
        assert page.status_code == 422
        assert "Add a comment. It’s required for “no”" in words(page)
        assert answers(*made) == [None, None]
        assert "2 answers sent" in words(send(signed_in(member), made, "no", comment="Why"))

    @pytest.mark.parametrize("answer", ["", "no"])
    def test_what_has_ended_meanwhile_is_not_shown_again(
        self, make: Make, owner: User, outsider: User, member: User, loop: Loop, answer: str
    ) -> None:
        """Where the answer or its comment was refused."""
        Loop.objects.filter(pk=loop.pk).update(comment_required_for=["no"])
        theirs = create_loop(owner_id=outsider.pk, name="Theirs", icon="star")
        secret = services.create_request(loop_id=theirs.pk, account=acting(outsider), fields=FIELDS)
        ended, open_ = make(), make()
        services.answer_request(request=ended, reviewer_id=owner.pk, answer="yes")
        page = send(signed_in(member), [ended, secret, open_], answer)
        assert page.status_code == 422
        assert listed(page) == [open_.pk]
        assert "2 of the selected questions can no longer be answered" in words(page)
        assert "Send to 1 question" in words(page)
        services.answer_request(request=open_, reviewer_id=owner.pk, answer="yes")
        page = send(signed_in(member), [ended, open_], answer)
        assert page.redirect_chain == [(CHOOSE, 302)]
        assert "None of these questions can be answered any more." in words(page)

    def test_long_questions_are_answered_alone(self, make: Make, member: User) -> None:
        long_ = [make(request_text="x" * several.MAX_LENGTH) for _ in range(2)]
        options = {"options": ["yes", "no", "x" * several.MAX_LENGTH]}
        long_ += [make(response_config=options) for _ in range(2)]
        short = [make(request_text="x" * (several.MAX_LENGTH - 100)) for _ in range(2)]
        browser = signed_in(member)
        assert sorted(listed(browser.get(CHOOSE))) == sorted(each.pk for each in short)
        sentence = "Some of these questions are too long to answer together."
        for selected in (long_[:2], long_[2:], [*short, long_[0]]):
            assert sentence in words(review(browser, selected))
            assert sentence in words(send(browser, selected))
        assert "2 answers sent" in words(send(browser, short))
        assert answers(*long_) == [None] * 4

    @pytest.mark.parametrize(
        "changes",
        [
            {"response_config": {"options": ["yes", "no", "later"]}},
            {"response_config": {"options": [{"value": "yes", "label": "No"}, "no"]}},
            {"priority": "critical"},
            {"policy": Policy("majority", 2).store()},
            {"response_type": "text", "response_config": {}},
        ],
    )
    def test_different_answers(self, make: Make, member: User, changes: dict[str, Any]) -> None:
        made = [make(), make(**changes)]
        sentence = "These questions have different answers. Answer them one by one."
        assert sentence in words(review(signed_in(member), made))
        assert sentence in words(send(signed_in(member), made))
        assert answers(*made) == [None, None]

    def test_different_loops(self, make: Make, owner: User, member: User) -> None:
        other = create_loop(owner_id=owner.pk, name="Other", icon="star")
        join_loop(user=member, code=other.invite_code)
        elsewhere = services.create_request(loop_id=other.pk, account=acting(owner), fields=FIELDS)
        made = [make(), elsewhere]
        assert "Answer them one by one." in words(send(signed_in(member), made))
        assert answers(*made) == [None, None]

    def test_critical_ones_alone(self, make: Make, member: User) -> None:
        made = [make(priority="critical"), make(priority="critical")]
        assert "Answer them one by one." in words(send(signed_in(member), made))
        assert answers(*made) == [None, None]

    def test_an_option_of_several_lines(self, make: Make, member: User) -> None:
        """Browsers send other line breaks than programs."""
        made = [make(response_config={"options": ["a\nb", "no"]}) for _ in range(2)]
        assert "2 answers sent" in words(send(signed_in(member), made, "a\r\nb"))
        assert answers(*made) == ["a\nb", "a\nb"]
        made = [make(response_config={"options": ["a\r\nb", "no"]}) for _ in range(2)]
        assert "2 answers sent" in words(send(signed_in(member), made, "a\r\nb"))
        assert answers(*made) == ["a\r\nb", "a\r\nb"]

    def test_what_is_removed_meanwhile(
        self, make: Make, owner: User, member: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first is answered; then the rest is gone."""
        made = [make(), make(), make()]
        answered: list[bool] = []

        def remove(**ids: str) -> bool:
            if answered:
                gone = [(each.pk, 0) for each in made[1:]]
                retention.remove_requests(owner.pk, gone)
            answered.append(lock_membership(**ids))
            return answered[-1]

        monkeypatch.setattr(services, "lock_membership", remove)
        page = send(signed_in(member), made)
        assert "1 answer sent" in words(page)
        assert "You can’t answer 2 questions any more" in section(page, "not-allowed")

    def test_who_leaves_meanwhile(
        self, make: Make, member: User, loop: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first is answered; then the person is removed."""
        made = [make(), make(), make()]
        answered: list[bool] = []

        def leave(**ids: str) -> bool:
            answered.append(len(answered) == 0 and lock_membership(**ids))
            return answered[-1]

        monkeypatch.setattr(services, "lock_membership", leave)
        page = send(signed_in(member), made)
        assert "1 answer sent" in words(page)
        assert "You can’t answer 2 questions any more" in section(page, "not-allowed")
        assert answers(*made) == ["yes", None, None]

    def test_who_is_not_asked(self, make: Make, owner: User, member: User) -> None:
        policy = Policy("first", exclude_creator=True).store()
        made = [make(policy=policy) for _ in range(2)]
        page = send(signed_in(owner), made)
        assert "You can’t answer 2 questions any more" in section(page, "not-allowed")
        assert answers(*made) == [None, None]
        assert "2 answers sent" in words(send(signed_in(member), made))

    def test_a_question_costs_what_a_single_answer_does(self, make: Make, member: User) -> None:
        made = [make() for _ in range(8)]
        browser = signed_in(member)
        with CaptureQueriesContext(connection) as alone:
            services.answer_request(request=made[0], reviewer_id=member.pk, answer="yes")
        counts = []
        for chosen in (made[1:3], made[3:8]):
            with CaptureQueriesContext(connection) as several:
                send(browser, chosen)
            counts.append(len(several))
        assert counts[1] - counts[0] == 3 * len(alone)
        with CaptureQueriesContext(connection) as again:
            send(browser, made[1:3])
        with CaptureQueriesContext(connection) as more:
            send(browser, made[3:8])
        assert (len(more) - len(again)) % 3 == 0
        assert (len(more) - len(again)) / 3 <= len(alone) + 3  # one more look at what it became


def approval(
    order: int, name: str = "refund", risk: str | None = None, **config: Any
) -> dict[str, Any]:
    """Fields of an approval of a refund."""
    arguments = {"order": order, "note": "left\u202eright"}
    proposal = {"name": name, "risk": risk, "arguments": arguments}
    return {
        "request_text": f"May order {order} be refunded?",
        "response_type": "approval",
        "response_config": {"proposal": proposal, **config},
        "default_response": {"action": "reject"},
    }


class TestApprovals:
    def test_calls_of_one_name(self, make: Make, member: User) -> None:
        """The page shows what each would do, and each is approved with its own arguments."""
        made = [make(**approval(order)) for order in (4821, 4822)]
        make(**approval(1, name="delete"))
        make(**approval(2, actions=["approve", "edit", "reject"]))
        make(**approval(3, actions=["approve", "reject", "respond"]))
        browser = signed_in(member)
        assert sorted(listed(browser.get(CHOOSE))) == sorted(each.pk for each in made)
        page = words(review(browser, made))
        assert "refund order 4821 note left‹U+202E›right" in page
        assert "refund order 4822" in page
        assert "2 answers sent Approve" in words(send(browser, made, "approve"))
        decisions = answers(*made)
        assert [each["action"] for each in decisions] == ["approve", "approve"]
        assert [each["arguments"]["order"] for each in decisions] == [4821, 4822]

    @pytest.mark.parametrize(
        "other",
        [
            approval(2, name="delete"),
            approval(2, risk="low"),
            approval(2, actions=["approve", "reject", "respond"]),
            approval(2, actions=["approve", "edit", "reject"]),
        ],
    )
    def test_other_calls(self, make: Make, member: User, other: dict[str, Any]) -> None:
        made = [make(**approval(1)), make(**other)]
        assert "Answer them one by one." in words(send(signed_in(member), made, "approve"))
        assert answers(*made) == [None, None]

    def test_the_page_says_risk_and_title(self, make: Make, member: User) -> None:
        """Those of one risk are answered together, and each is shown with its title."""
        made = [make(**approval(order, risk="medium")) for order in (1, 2)]
        for order, each in enumerate(made, 1):
            each.response_config["proposal"]["title"] = f"Order {order}\u202e"
            Request.objects.filter(pk=each.pk).update(response_config=each.response_config)
        low = make(**approval(3, risk="low"))
        browser = signed_in(member)
        assert low.pk not in listed(browser.get(CHOOSE))
        page = words(review(browser, made))
        assert "Order 1‹U+202E› Medium risk refund" in page
        assert "Order 2‹U+202E› Medium risk refund" in page

    def test_those_with_a_high_risk_alone(self, make: Make, member: User) -> None:
        made = [make(**approval(order, risk="high")) for order in (1, 2)]
        browser = signed_in(member)
        assert listed(browser.get(CHOOSE)) == []
        assert "Answer them one by one." in words(send(browser, made, "approve"))
        assert answers(*made) == [None, None]

    def test_what_is_no_bulk_answer(self, make: Make, member: User) -> None:
        made = [make(**approval(order, actions=["approve", "respond"])) for order in (1, 2)]
        page = send(signed_in(member), made, "respond")
        assert page.status_code == 422
        assert answers(*made) == [None, None]


@pytest.mark.django_db(transaction=True)
def test_two_people_send_at_once(make: Make, owner: User, member: User) -> None:
    """Every question gets one answer, and each is told of the other's."""
    made = [make() for _ in range(20)]
    third = account("third")
    join_loop(user=third, code=made[0].loop.invite_code)
    start = threading.Barrier(3, timeout=60)
    pages: dict[str, Any] = {}

    def run(user: User, answer: str, order: int) -> None:
        try:
            browser = signed_in(user)
            start.wait()
            pages[user.pk] = send(browser, made[::order], answer)
        finally:
            connections.close_all()

    people = ((owner, "yes", 1), (member, "no", -1), (third, "yes", 1))
    threads = [threading.Thread(target=run, args=each) for each in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent = {
        user: int(re.findall(r"(\d+) answers? sent", words(page))[0])
        for user, page in pages.items()
    }
    stored = list(Request.objects.values_list("response_by_id", flat=True))
    assert sum(sent.values()) == 20 == LoggedEvent.objects.count()
    assert {user: stored.count(user) for user in sent} == sent


def test_an_hour_later(make: Make, member: User) -> None:
    """A stale form: the time of all is up."""
    made = [make(), make()]
    Request.objects.update(timeout_at=Now() - timedelta(hours=1))
    page = send(signed_in(member), made)
    assert "0 answers sent" in words(page)
    assert section(page, "fate-ended").count("Time’s up") == 2

"""The policy in the forms of a new request and of a loop, as the API takes it."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from dashboard.forms.loops import LoopForm
from dashboard.forms.new_request import NewRequestForm
from dashboard.forms.policy import build_initial
from loops.models import Loop
from loops.services import create_loop, join_loop, update_loop
from reviews import services
from reviews.models import Request
from reviews.policy import Policy
from tests.conftest import account
from tests.dashboard.test_new_request import APPROVAL, NEW, command, fields
from tests.dashboard.test_request_versions import error_at
from tests.portal import signed_in, words
from tests.reviews.conftest import FIELDS, Make, acting

pytestmark = pytest.mark.django_db

LIST = "/dashboard/loops/"
LOOP = {"name": "Legal", "description": "", "icon": "certificate"}
TWO = {"policy_rule": "unanimous", "policy_answers": "2"}
RATING = {"response_type": "rating", "scale_max": "5", "default_response": "3"}


def stored(rule: str = "unanimous", answers: int = 2, **others: Any) -> dict[str, Any]:
    return {**Policy(rule, answers).store(), **others}


def is_section_open(html: str) -> bool:
    return '<details class="more policy-fields" open>' in html


class TestNewRequest:
    @pytest.mark.parametrize(
        ("typed", "policy"),
        [
            (TWO, stored()),
            (
                {**TWO, "policy_rule": "majority", "policy_open": "on"},
                stored("majority", blind=False),
            ),
            ({**TWO, "policy_veto": " no \r\n\r\n"}, stored(veto=["no"])),
            (
                {**TWO, **RATING, "policy_rule": "median", "policy_veto": "1\r\n2"},
                stored("median", veto=[1, 2]),
            ),
            ({**TWO, **APPROVAL, "policy_veto": "reject"}, stored(veto=["reject"])),
            ({"policy_exclude_creator": "on"}, stored("first", 1, exclude_creator=True)),
            ({"policy_rule": "first", "policy_answers": "7", "policy_veto": "no"}, None),
            ({}, None),
        ],
    )
    def test_it_is_stored(
        self, owner: User, loop: Loop, typed: dict[str, str], policy: dict[str, Any] | None
    ) -> None:
        data = fields(loop, **typed)
        browser = signed_in(owner)
        preview = json.loads(command(browser.post(f"{NEW}curl/", data))[-1])
        assert browser.post(NEW, data).status_code == 302
        assert Request.objects.get().policy == preview.get("policy") == policy
        assert ("policy" in preview) is (policy is not None)

    def test_who_creates_it_may_leave_the_answer_to_others(self, owner: User, loop: Loop) -> None:
        join_loop(user=account("third"), code=loop.invite_code)
        data = fields(loop, **TWO, policy_exclude_creator="on")
        page = words(signed_in(owner).post(NEW, data, follow=True))
        assert "Asked 2 members." in page
        assert "2 people have to give the same answer. 0 of 2 have answered." in page

    @pytest.mark.parametrize(
        ("typed", "field", "sentence"),
        [
            (
                {"policy_answers": ""},
                "policy_answers",
                "Number of people must be an integer between 2",
            ),
            ({"policy_answers": "many"}, "policy_answers", "must be an integer between 2 and 15"),
            ({"policy_answers": "16"}, "policy_answers", "must be an integer between 2 and 15"),
            ({"policy_answers": "2.5"}, "policy_answers", "must be an integer between 2 and 15"),
            (
                {"policy_answers": "3"},
                "policy_answers",
                "Number of people is 3, but 2 people may answer",
            ),
            (
                {"policy_exclude_creator": "on"},
                "policy_answers",
                "Number of people is 2, but 1 people may answer",
            ),
            (
                {"policy_rule": "median"},
                "policy_rule",
                "Rule Median is not possible for response_type single_select, which can have: First"
                " answer, Majority, Unanimous",
            ),
            (
                {"response_type": "text"},
                "policy_rule",
                "Rule Unanimous is not possible for response_type text, which can have: First",
            ),
            ({"policy_rule": "some"}, "policy_rule", "Select a valid choice."),
            (
                {"policy_veto": "no\nNever"},
                "policy_veto",
                "Veto 2 must be a possible answer to the request",
            ),
            (
                {**RATING, "policy_rule": "median", "policy_veto": "low"},
                "policy_veto",
                "Veto 1 must be a possible answer to the request",
            ),
            (
                {"response_type": "multi_select", "policy_veto": "no"},
                "policy_veto",
                "Veto is not possible for response_type multi_select",
            ),
        ],
    )
    def test_what_is_wrong_stands_beside_it(
        self, owner: User, loop: Loop, typed: dict[str, str], field: str, sentence: str
    ) -> None:
        data = fields(loop, **{**TWO, "policy_veto": "yes", "placeholder": "kept", **typed})
        response = signed_in(owner).post(NEW, data)
        assert response.status_code == 422
        html = response.content.decode()
        assert sentence in error_at(html, field)
        assert is_section_open(html)
        for name in ("policy_answers", "placeholder"):
            assert f'value="{data[name]}"' in html or not data[name]
        assert not Request.objects.exists()

    @pytest.mark.parametrize(
        ("typed", "field", "sentence"),
        [
            ({"policy_answers": "1"}, "policy_answers", "Anzahl der Personen muss eine ganze Zahl"),
            (
                {"policy_answers": "5"},
                "policy_answers",
                "ist 5, antworten können aber nur 2",
            ),
            (
                {"response_type": "text"},
                "policy_rule",
                "Regel Einstimmig ist für response_type text nicht möglich; möglich: Erste Antwort",
            ),
            (
                {"policy_veto": "nie"},
                "policy_veto",
                "Veto 1 muss eine mögliche Antwort auf die Anfrage sein",
            ),
        ],
    )
    def test_it_is_said_in_german(
        self, owner: User, loop: Loop, typed: dict[str, str], field: str, sentence: str
    ) -> None:
        browser = signed_in(owner, headers={"accept-language": "de"})
        html = browser.post(NEW, fields(loop, **{**TWO, **typed})).content.decode()
        assert sentence in error_at(html, field)
        assert "Mehrere Personen entscheiden" in html

    def test_an_ambiguous_german_number(self, owner: User, loop: Loop) -> None:
        browser = signed_in(owner, headers={"accept-language": "de"})
        typed = {**RATING, "scale_step": "0,5", "policy_rule": "median", "policy_answers": "2"}
        assert browser.post(NEW, fields(loop, **typed, policy_veto="1,5")).status_code == 302
        assert Request.objects.get().policy == stored("median", veto=[1.5])

    def test_the_section_is_shut_at_first(self, owner: User, loop: Loop) -> None:
        html = signed_in(owner).get(NEW).content.decode()
        assert not is_section_open(html)
        assert "data-policy" not in html


class TestLoopWithPolicy:
    @pytest.fixture(autouse=True)
    def policy(self, loop: Loop) -> None:
        update_loop(loop=loop, changes={"policy": stored()})

    def test_the_page_knows_such_loops(self, owner: User, loop: Loop) -> None:
        other = create_loop(owner_id=owner.pk, name="Other", icon="x")
        html = signed_in(owner).get(NEW).content.decode()
        marked = re.findall(r'<option value="(\w+)"[^>]* data-policy[ >]', html)
        assert marked == [loop.pk]
        assert f'<option value="{other.pk}"' in html
        assert "The loop has a policy for all its requests" in html

    def test_it_holds_for_the_request(self, owner: User, loop: Loop) -> None:
        browser = signed_in(owner)
        data = fields(loop, policy_rule="majority", policy_answers="9")
        assert "policy" not in json.loads(command(browser.post(f"{NEW}curl/", data))[-1])
        assert browser.post(NEW, data).status_code == 302
        assert Request.objects.get().policy == stored()

    def test_one_that_it_got_while_the_form_was_checked(self, owner: User, loop: Loop) -> None:
        loop.policy = None  # as it was read before
        form = NewRequestForm(fields(loop, **TWO), loops=[loop])
        assert form.is_valid()
        with pytest.raises(services.Refused) as refused:
            services.create_request(
                loop_id=loop.pk, account=acting(owner), fields=form.cleaned_data["fields"]
            )
        form.add_refusal(refused.value)
        assert form.errors == {
            "loop": ["policy is not allowed: the loop has one for all its requests"]
        }

    @pytest.mark.parametrize(
        ("language", "sentence"),
        [
            ("en", "The loop&#x27;s policy.rule unanimous is not possible for response_type text"),
            ("de", "Im Loop gilt: policy.rule unanimous ist für response_type text nicht"),
        ],
    )
    def test_it_does_not_fit_the_type(
        self, owner: User, loop: Loop, language: str, sentence: str
    ) -> None:
        browser = signed_in(owner, headers={"accept-language": language})
        response = browser.post(NEW, fields(loop, response_type="text"))
        assert response.status_code == 422
        assert sentence in error_at(response.content.decode(), "loop")

    def test_it_needs_more_people(self, owner: User, loop: Loop) -> None:
        update_loop(loop=loop, changes={"policy": stored(answers=5)})
        response = signed_in(owner).post(NEW, fields(loop))
        assert response.status_code == 422
        sentence = "The loop&#x27;s policy.answers is 5, but 2 people may answer"
        assert sentence in error_at(response.content.decode(), "loop")
        assert not Request.objects.exists()

    def test_the_sample_question_of_a_new_account(self, owner: User, loop: Loop) -> None:
        update_loop(loop=loop, changes={"policy": stored(answers=5)})
        page = signed_in(owner).post("/dashboard/setup/ask/", follow=True)
        assert "The loop's policy.answers is 5, but 2 people may answer" in words(page)

    def test_the_loops_page_says_so(self, owner: User, loop: Loop) -> None:
        sentence = "2 people have to give the same answer."
        browser = signed_in(owner)
        assert sentence in words(browser.get(f"{LIST}{loop.pk}/"))
        update_loop(loop=loop, changes={"policy": None})
        assert sentence not in words(browser.get(f"{LIST}{loop.pk}/"))


class TestAskAgain:
    def test_with_the_same_policy(self, owner: User, make: Make) -> None:
        policy = stored("majority", blind=False, exclude_creator=False, veto=["no"])
        request = make(policy=policy)
        response = signed_in(owner).get(f"{NEW}?from={request.pk}")
        assert is_section_open(response.content.decode())
        assert response.context["form"].build_body()["policy"] == policy
        assert "can’t show all" not in words(response)

    def test_what_the_form_has_no_field_for_is_named(self, owner: User, make: Make) -> None:
        request = make(policy=stored("first", 1, veto=["no"]))
        page = words(signed_in(owner).get(f"{NEW}?from={request.pk}"))
        assert "This form can’t show all of the original: policy." in page

    def test_in_a_loop_with_a_policy(self, owner: User, loop: Loop, make: Make) -> None:
        update_loop(loop=loop, changes={"policy": stored()})
        request = make()
        response = signed_in(owner).get(f"{NEW}?from={request.pk}")
        assert "can’t show all" not in words(response)
        assert "policy" not in response.context["form"].build_body()


class TestLoop:
    def edit(self, browser: Client, loop: Loop, **typed: str) -> Any:
        """Sends the settings as they are shown, with changes."""
        path = f"{LIST}{loop.pk}/edit/"
        form = browser.get(path).context["form"]
        shown = {name: form[name].value() for name in form.fields}
        posted = {name: value for name, value in shown.items() if value not in (None, False)}
        response = browser.post(path, {**posted, **typed})
        loop.refresh_from_db()
        return response

    def test_a_new_one(self, owner: User) -> None:
        typed = {**LOOP, **TWO, "policy_veto": "Decline\r\n1"}
        assert signed_in(owner).post(f"{LIST}new/", typed).status_code == 302
        assert Loop.objects.get().policy == stored(veto=["Decline", 1])

    def test_without_one(self, owner: User) -> None:
        signed_in(owner).post(
            f"{LIST}new/", {**LOOP, "policy_rule": "first", "policy_answers": "2"}
        )
        assert Loop.objects.get().policy is None

    @pytest.mark.parametrize("path", ["new/", "{}/edit/"])
    def test_what_is_wrong_stands_beside_it(self, owner: User, loop: Loop, path: str) -> None:
        typed = {**LOOP, **TWO, "policy_answers": "20", "policy_veto": "kept"}
        response = signed_in(owner).post(LIST + path.format(loop.pk), typed)
        assert response.status_code == 422
        html = response.content.decode()
        assert "Number of people must be an integer between 2 and 15" in error_at(
            html, "policy_answers"
        )
        assert is_section_open(html)
        assert 'value="20"' in html
        assert ">\nkept</textarea>" in html
        assert Loop.objects.get().policy is None

    @pytest.mark.parametrize(
        ("veto", "language", "sentence"),
        [
            ("no\n" + "x" * 201, "en", "Veto 2 must be a number or a text of 1 to 200 characters"),
            ("x" * 201, "de", "Veto 1 muss eine Zahl oder ein Text von 1 bis 200 Zeichen sein"),
            ("\n".join(map(str, range(51))), "en", "Veto must have at most 50 entries"),
            ("\n".join(map(str, range(51))), "de", "Veto darf höchstens 50 Einträge haben"),
        ],
    )
    def test_vetoes_are_bounded(
        self, owner: User, loop: Loop, veto: str, language: str, sentence: str
    ) -> None:
        browser = signed_in(owner, headers={"accept-language": language})
        response = browser.post(f"{LIST}new/", {**LOOP, **TWO, "policy_veto": veto})
        assert response.status_code == 422
        assert sentence in error_at(response.content.decode(), "policy_veto")
        assert Loop.objects.get().policy is None

    def test_it_is_changed_and_taken_away(self, owner: User, loop: Loop) -> None:
        browser = signed_in(owner)
        self.edit(browser, loop, **TWO, policy_open="on")
        assert loop.policy == stored(blind=False)
        assert is_section_open(browser.get(f"{LIST}{loop.pk}/edit/").content.decode())
        self.edit(browser, loop, policy_rule="first")
        assert loop.policy is None
        assert not is_section_open(browser.get(f"{LIST}{loop.pk}/edit/").content.decode())

    @pytest.mark.parametrize(
        "policy",
        [
            stored("majority", 3, veto=["no", "7", 2.5, "two\nlines"]),
            stored("first", 1, exclude_creator=True, blind=False, veto=["x"]),
            None,
        ],
    )
    @pytest.mark.parametrize("language", ["en", "de"])
    def test_one_of_a_program_stays(
        self, owner: User, loop: Loop, policy: dict[str, Any] | None, language: str
    ) -> None:
        """Saving a name changes nothing of it."""
        update_loop(loop=loop, changes={"policy": policy})
        browser = signed_in(owner, headers={"accept-language": language})
        assert self.edit(browser, loop, name="Other").status_code == 302
        assert (loop.name, loop.policy) == ("Other", policy)

    def test_a_form_without_these_fields_leaves_it(self, owner: User, loop: Loop) -> None:
        update_loop(loop=loop, changes={"policy": stored()})
        signed_in(owner).post(f"{LIST}{loop.pk}/edit/", LOOP)
        loop.refresh_from_db()
        assert (loop.name, loop.policy) == ("Legal", stored())

    def test_all_answers_are_of_its_rule(self, owner: User, member: User, loop: Loop) -> None:
        self.edit(signed_in(owner), loop, **TWO)
        signed_in(owner).post(NEW, fields(loop))
        request = Request.objects.get()
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
        assert services.read_request(request.pk).status == "pending"


class TestVetoOfLoop:
    @pytest.mark.parametrize(
        ("typed", "option"), [("5", "5"), ("007", "007"), ("2.50", "2.50"), ("no", "no")]
    )
    def test_an_option_of_digits_is_a_veto(self, owner: User, typed: str, option: str) -> None:
        signed_in(owner).post(f"{LIST}new/", {**LOOP, **TWO, "policy_veto": typed})
        loop = Loop.objects.get()
        join_loop(user=account("second"), code=loop.invite_code)
        request = services.create_request(
            loop_id=loop.pk,
            account=acting(owner),
            fields={
                **FIELDS,
                "response_config": {"options": ["1", option]},
                "default_response": "1",
            },
        )
        request = services.read_request(request.pk)
        services.answer_request(request=request, reviewer_id=owner.pk, answer=option)
        assert services.read_request(request.pk).outcome == "vetoed"

    @pytest.mark.parametrize("veto", [["a\nb", "5", 5], ["no"]])
    def test_unchanged_text_keeps_the_stored_list(self, veto: list[Any]) -> None:
        kept = stored(veto=veto)
        form = LoopForm({**LOOP, **build_initial(kept)}, stored=kept)
        assert form.is_valid(), form.errors
        assert form.cleaned_data["policy"]["veto"] == veto

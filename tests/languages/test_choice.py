"""Which language a page, an email, a push and the API have."""

import json
from typing import Any

from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import translation

from accounts.models import User
from accounts.services import create_account
from loops.services import create_loop
from reviews.notifications.push.message import about_request
from tests.portal import signed_in, words
from web.languages import translate
from web.phrases import say, say_count

GERMAN = {"Accept-Language": "de-AT, en;q=0.5"}


def choose(user: User, language: str) -> None:
    User.objects.filter(pk=user.pk).update(language=language)


class TestPages:
    def test_the_browser_decides(self, owner: User) -> None:
        page = signed_in(owner).get(reverse("account"), headers=GERMAN)
        assert '<html lang="de" dir="ltr">' in page.content.decode()
        assert "Profil" in words(page)
        assert page["Content-Language"] == "de"
        assert "Accept-Language" in page["Vary"]
        assert User.objects.get(pk=owner.pk).browser_language == "de"

    def test_the_account_decides_before_the_browser(self, owner: User) -> None:
        browser = signed_in(owner)
        form = {"name": "Owner", "time_zone": "UTC", "language": "de"}
        saved = browser.post(reverse("account"), form, follow=True)
        assert "Gespeichert." in words(saved)
        assert User.objects.get(pk=owner.pk).language == "de"
        choose(owner, "en")
        assert "Profile" in words(browser.get(reverse("account"), headers=GERMAN))

    def test_a_language_that_is_no_longer_offered(self, owner: User) -> None:
        choose(owner, "tlh")
        assert "Profile" in words(signed_in(owner).get(reverse("account")))

    def test_the_thread_is_english_afterwards(self, owner: User) -> None:
        choose(owner, "de")
        signed_in(owner).get(reverse("account"))
        assert translation.get_language() == "en"

    def test_dates_and_numbers(self, owner: User) -> None:
        page = signed_in(owner).get(reverse("sessions"), headers=GERMAN)
        assert "gerade eben" in words(page)

    def test_scripts_get_their_words(self) -> None:
        page = Client().get(reverse("account_login"), headers=GERMAN).content.decode()
        said = json.loads(
            page.partition('id="translations" type="application/json">')[2].partition("<")[0]
        )
        assert said["Copied"] == "Kopiert"
        assert 'id="translations"' not in Client().get(reverse("account_login")).content.decode()

    def test_errors_of_forms_and_pages(self, db: None) -> None:
        missing = Client().get("/nothing-here", headers=GERMAN)
        assert "Nicht gefunden" in words(missing)
        refused = Client().post(reverse("account_login"), {}, headers=GERMAN)
        assert "Geben Sie Ihre E-Mail-Adresse ein" in words(refused)

    def test_what_stays_english(self, db: None) -> None:
        page = Client().get("/docs", headers=GERMAN)
        assert 'lang="en"' in page.content.decode()


class TestPrograms:
    def call(self, key: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {key}", **GERMAN}
        return Client().post(
            path, options.get("body"), content_type="application/json", headers=headers
        )

    def test_the_sentences_of_the_api_are_english(self, owner: User, owner_key: str) -> None:
        choose(owner, "de")
        loop = create_loop(owner_id=owner.pk, name="Desk", description="", icon="heart")
        body = {
            "processing_type": "deferred", "type": "markdown", "priority": "low",
            "request_text": "May I?", "response_type": "number", "platform": "api",
            "response_config": {"max_value": 5}, "default_response": "x",
        }  # fmt: skip
        path = f"/v1/api/loops/{loop.pk}/requests"
        response = self.call(owner_key, path, body=json.dumps(body))
        assert response.json()["msg"] == "Invalid default response"
        assert response.json()["data"] == "default_response must be a number"
        assert "Content-Language" not in response
        unknown = self.call(owner_key, "/v1/api/loops", body="{}")
        assert unknown.json()["msg"] == "Loop name is required"

    def test_the_document_is_english(self, db: None) -> None:
        one = Client().get("/openapi.json").content
        assert Client().get("/openapi.json", headers=GERMAN).content == one


class TestMessages:
    def test_an_invitation_speaks_the_language_of_who_is_invited(
        self, owner: User, member: User
    ) -> None:
        choose(member, "de")
        loop = create_loop(owner_id=owner.pk, name="Desk", description="", icon="heart")
        path = reverse("invite-member", args=[loop.pk])
        signed_in(owner).post(path, {"email": member.email})
        assert mail.outbox[0].subject == "Owner lädt Sie ein: Desk"
        assert str(mail.outbox[0].body).startswith("Guten Tag,")

    def test_an_invitation_does_not_take_the_language_of_a_stranger(
        self, owner: User, member: User
    ) -> None:
        """Only who has confirmed the address chooses it, with a further address too."""
        address = "further@example.com"
        stranger = create_account(email=address, name="Eve")
        choose(stranger, "de")
        loop = create_loop(owner_id=owner.pk, name="Desk", description="", icon="heart")
        path = reverse("invite-member", args=[loop.pk])
        signed_in(owner).post(path, {"email": address})
        choose(member, "de")
        choose(stranger, "en")
        EmailAddress.objects.create(user=member, email=address, verified=True)
        signed_in(owner).post(path, {"email": address})
        assert [message.subject for message in mail.outbox] == [
            "Owner invites you to Desk",
            "Owner lädt Sie ein: Desk",
        ]

    def test_a_notice_speaks_the_language_of_the_account(self, owner: User) -> None:
        choose(owner, "de")
        Client().post(reverse("account_reset_password"), {"email": owner.email})
        assert "Neues Passwort festlegen" in mail.outbox[-1].subject

    def test_a_push_speaks_the_language_of_its_reader(self) -> None:
        about = {"request_id": "x", "loop_name": "Desk", "text": "May I?", "seconds_left": 60.0}
        message = about_request(**about, priority="critical", language="de")  # type: ignore[arg-type]
        assert message.title == "Kritisch · Desk"
        assert json.loads(message.payload)["notification"]["lang"] == "de"


class TestPhrases:
    def test_it_is_english_for_programs(self) -> None:
        phrase = say(
            "Choose at least %(options)s",
            options=say_count("%(count)s option", "%(count)s options", count=2),
        )
        with translation.override("de"):
            assert str(phrase) == json.loads(json.dumps(phrase)) == "Choose at least 2 options"
            assert translate(phrase) == "Wählen Sie mindestens 2 Optionen"

    def test_other_texts_stay(self) -> None:
        with translation.override("de"):
            assert translate("Saved.") == "Saved."

"""Why an attempt failed: stored in English, shown in the language of the page."""

import re

import pytest
from django.utils import translation

from accounts.models import User
from tests.portal import signed_in, words
from tests.webhooks.log import LOG, attempted, made
from web.languages import translate
from web.phrases import Phrase
from webhooks import failure_texts
from webhooks.failure_texts import find_phrase

REASON = "[Errno 111] Connection <refused>"
SENTENCES = [each for each in vars(failure_texts).values() if isinstance(each, Phrase)]
STORED = [re.sub(r"%\(\w+\)s", REASON, each.template) for each in SENTENCES]


@pytest.mark.parametrize("stored", STORED)
def test_a_stored_sentence_is_translated(stored: str) -> None:
    with translation.override("de"):
        shown = translate(find_phrase(stored))
    assert shown != stored
    assert (REASON in shown) == (REASON in stored)
    assert translate(find_phrase(stored)) == stored


@pytest.mark.parametrize("stored", ["", "410 <Gone>", "No connection", "%(reason)s", "x" * 1000])
def test_any_other_text_stays(stored: str) -> None:
    with translation.override("de"):
        assert translate(find_phrase(stored)) == stored


@pytest.mark.django_db
def test_a_page_in_german(owner: User) -> None:
    delivery = made(owner, state="dead")
    attempted(delivery, error=f"No connection: {REASON}.")
    browser = signed_in(owner, headers={"accept-language": "de"})
    for url in (LOG, f"{LOG}{delivery.pk}/"):
        assert f"Keine Verbindung: {REASON}." in words(browser.get(url)), url
        assert f"No connection: {REASON}." in words(signed_in(owner).get(url)), url

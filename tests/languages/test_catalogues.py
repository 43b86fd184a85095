"""Every text has a translation, and the catalogues are in step with the sources."""

import re

import pytest
from babel.messages.catalog import Message

from languages.catalogues import (
    DOMAINS,
    build,
    compile_catalogue,
    find_file,
    find_languages,
    format_catalogue,
    is_missing,
    read,
)
from languages.extraction import Text
from languages.pseudo import disguise

VALUE = re.compile(r"%\(\w+\)s|%%|\{\w*\}|<[^>]*>")
BOTH = [(language, domain) for language in find_languages() for domain in DOMAINS]


@pytest.fixture(scope="module")
def texts() -> dict[str, list[Text]]:
    return {domain: collect() for domain, collect in DOMAINS.items()}


def values_of(text: str) -> list[str]:
    return sorted(VALUE.findall(text))


def is_faulty(message: Message) -> bool:
    """Whether a translation, or a form of it, has other values or tags than the English text."""
    english = message.id if isinstance(message.id, tuple | list) else (message.id,)
    translated = message.string if isinstance(message.string, tuple | list) else (message.string,)
    wanted = [values_of(each) for each in english]
    return any(values_of(str(each)) not in wanted for each in translated)


@pytest.mark.parametrize(("language", "domain"), BOTH)
def test_it_is_complete_and_in_step(
    language: str, domain: str, texts: dict[str, list[Text]]
) -> None:
    path = find_file(language, domain)
    catalog = build(language, texts[domain], read(path))
    missing = [message.id for message in catalog if message.id and is_missing(message.string)]
    assert missing == [], "make languages, and translate what is new"
    faulty = [message.id for message in catalog if message.id and is_faulty(message)]
    assert faulty == []
    pasted = [message.id for message in catalog if re.search("msgid|msgstr", str(message.string))]
    assert pasted == [], "a piece of the catalogue stands in a translation"
    assert path.read_bytes() == format_catalogue(catalog), "make languages"
    assert path.with_suffix(".mo").read_bytes() == compile_catalogue(catalog), "make languages"


def test_the_texts_of_every_kind_of_file_are_found(texts: dict[str, list[Text]]) -> None:
    pages, scripts = texts["django"], texts["djangojs"]
    assert ("", ("Saved.",)) in pages  # Python
    assert ("", ("Choose a rating",)) in pages  # a pure module
    assert ("", ("Send answer",)) in pages  # a template
    assert ("", ("%(count)s request", "%(count)s requests")) in pages
    assert ("value", ("none",)) in pages
    assert ("", ("Already handled",)) in scripts


def test_values_and_tags_stay_in_a_disguise() -> None:
    text = 'Open <a href="%(url)s">{name}</a>: 90%% of %(count)s'
    assert disguise(text).startswith("[Öþéĥ") or "%(count)s" in disguise(text)
    assert values_of(disguise(text)) == values_of(text)
    assert len(disguise(text)) > len(text)
    assert not re.search("[A-Za-z]{2,}", VALUE.sub("", disguise("Open the question")))

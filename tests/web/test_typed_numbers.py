"""What a page shows for a number, typed back, is that number; no spelling stands for two."""

from decimal import Decimal

import pytest
from django.conf import settings
from django.utils import translation
from django.utils.formats import localize, number_format
from hypothesis import given
from hypothesis import strategies as st

from web.humanize import format_count
from web.languages import decimal_mark
from web.typed_numbers import AmbiguousNumber, NotANumber, read_number, write_number

LANGUAGES = [code for code, _ in settings.LANGUAGES]
WHOLE = st.integers(-(10**15), 10**15)
DECIMALS = st.decimals(min_value=-(10**9), max_value=10**9, places=4)
MINUSES = "-\u2212\u2013\uff0d"
# Spellings as people write them: groups with any separator, any decimal mark, any digits.
SPELLINGS = st.builds(
    lambda sign, groups, mark, end: sign + mark.join(groups) + end,
    st.sampled_from(["", *MINUSES]),
    st.lists(st.from_regex(r"[0-9]{1,4}", fullmatch=True), min_size=1, max_size=4),
    st.sampled_from([".", ",", " ", "\u00a0", "\u202f", "'", "\u2019", ""]),
    st.sampled_from(["", ".5", ",5", ".125", ",125", ".000", ",000"]),
)


def read(typed: str, language: str, *, is_whole: bool = False) -> Decimal | str:
    """Returns the number, or the name of the refusal."""
    with translation.override(language):
        try:
            return read_number(typed, point=decimal_mark(), is_whole=is_whole)
        except (AmbiguousNumber, NotANumber) as refusal:
            return type(refusal).__name__


@pytest.mark.parametrize("language", LANGUAGES)
@given(number=WHOLE)
def test_a_shown_whole_number_is_read_back(language: str, number: int) -> None:
    with translation.override(language):
        shown = [format_count(number), str(number), number_format(number)]
    assert [read(each, language, is_whole=True) for each in shown] == [number] * 3


@pytest.mark.parametrize("language", LANGUAGES)
@given(number=DECIMALS)
def test_a_shown_decimal_is_read_back(language: str, number: Decimal) -> None:
    with translation.override(language):
        shown = [localize(number), write_number(number, point=decimal_mark())]
    assert [read(each, language) for each in shown] == [number] * 2


@pytest.mark.parametrize("language", LANGUAGES)
@given(number=st.one_of(WHOLE, DECIMALS))
def test_a_number_with_thousands_is_itself_or_refused(language: str, number: int | Decimal) -> None:
    """In a field for decimals, one group such as 1.000 is refused, because it may be 1."""
    with translation.override(language):
        shown = number_format(number, force_grouping=True)
    assert read(shown, language) in (number, "AmbiguousNumber")


def meanings(typed: str) -> set[Decimal]:
    """The numbers that a spelling means with a decimal point and with a decimal comma."""
    found = set()
    for point, other in (".,", ",."):
        plain = typed.replace(other, "")
        for blank in " \u00a0\u202f'\u2019":
            plain = plain.replace(blank, "")
        for minus in MINUSES:
            plain = plain.replace(minus, "-")
        groups = typed.lstrip(MINUSES).split(point)[0].split(other)
        fits = typed.count(point) <= 1 and other not in typed.partition(point)[2]
        is_grouped = len(groups[0]) <= 3 and groups[0][:1] != "0"
        is_grouped &= all(len(each) == 3 for each in groups[1:])
        if fits and (len(groups) == 1 or is_grouped):
            found.add(Decimal(plain.replace(point, ".")))
    return found


@pytest.mark.parametrize("language", LANGUAGES)
@given(typed=SPELLINGS)
def test_no_accepted_spelling_stands_for_two_numbers(language: str, typed: str) -> None:
    """A spelling that means different numbers in the two conventions is refused in a field for
    whole numbers unless the page shows its number so, and in one for decimals unless its mark is
    the page's decimal mark. What means one number is that number or refused."""
    with translation.override(language):
        point = decimal_mark()
    possible = meanings(typed)
    for is_whole in (False, True):
        number = read(typed, language, is_whole=is_whole)
        if isinstance(number, str):
            continue
        assert number in possible, (typed, number, possible)
        if len(possible) == 2:
            assert (point in typed) != is_whole, (typed, number, possible)


@pytest.mark.parametrize(
    ("language", "typed", "sentence"),
    [
        ("de", "1.000", ("1000", "1")),
        ("de", "-100.125", ("-100125", "-100,125")),
        ("en", "1,250", ("1250", "1.25")),
    ],
)
def test_the_refusal_shows_both(language: str, typed: str, sentence: tuple[str, str]) -> None:
    with translation.override(language), pytest.raises(AmbiguousNumber) as refused:
        read_number(typed, point=decimal_mark())
    with translation.override(language):
        mark = decimal_mark()
        shown = (refused.value.whole, refused.value.decimal)
    assert tuple(write_number(each, point=mark) for each in shown) == sentence

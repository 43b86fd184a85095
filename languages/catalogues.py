"""Reads, completes and compiles the catalogues of a language."""

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from languages.extraction import ROOT, Text, collect_pages, collect_scripts

LOCALE = ROOT / "locale"
DOMAINS = {"django": collect_pages, "djangojs": collect_scripts}
_NO_DATE = datetime(2026, 1, 1, tzinfo=UTC)  # a date would change the catalogue on every run
_HEADER = "# Review Loop: translations. `make languages` adds what is new and compiles."


def find_languages() -> list[str]:
    """Returns the languages that have a folder."""
    return sorted(each.name for each in LOCALE.iterdir() if each.is_dir())


def find_file(language: str, domain: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.po"


def read(path: Path) -> Catalog:
    """Reads a catalogue; an empty one if there is no file."""
    if not path.exists():
        return Catalog()
    with path.open("rb") as file:
        return read_po(file)


def build(language: str, texts: list[Text], translations: Catalog) -> Catalog:
    """Builds the catalogue of the texts. A text without a translation has an empty one."""
    catalog = Catalog(
        locale=language,
        project="Review Loop",
        version="1",
        creation_date=_NO_DATE,
        revision_date=_NO_DATE,
        last_translator="Review Loop",
        language_team="Review Loop",
        msgid_bugs_address="",
        header_comment=_HEADER,
        fuzzy=False,
    )
    for context, forms in texts:
        known = translations.get(forms[0], context or None)
        string = known.string if known else ""
        is_plural = len(forms) > 1
        if isinstance(string, str) == is_plural:
            string = ("", "") if is_plural else ""
        catalog.add(forms if is_plural else forms[0], string, context=context or None)
    return catalog


def compile_catalogue(catalog: Catalog) -> bytes:
    """Returns the bytes of the .mo file."""
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def format_catalogue(catalog: Catalog) -> bytes:
    """Returns the bytes of the .po file."""
    file = BytesIO()
    write_po(file, catalog, width=100, omit_header=False)
    return file.getvalue()


def is_missing(string: str | tuple[str, ...] | list[str] | None) -> bool:
    """Tells whether a text, or one of its forms, has no translation."""
    return not string or not all(string)


def update(language: str) -> int:
    """Writes both catalogues of a language and returns how many texts have no translation."""
    missing = 0
    for domain, collect in DOMAINS.items():
        path = find_file(language, domain)
        catalog = build(language, collect(), read(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(format_catalogue(catalog))
        path.with_suffix(".mo").write_bytes(compile_catalogue(catalog))
        missing += sum(is_missing(message.string) for message in catalog if message.id)
    return missing

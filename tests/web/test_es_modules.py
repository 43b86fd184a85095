"""The scripts of the pages: modules that state their imports, and load under any file name."""

import re
import shutil
from itertools import product
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.files.storage import FileSystemStorage
from django.template import Context, Template

from web.es_modules import IMPORT, LATER_IMPORT, find_all_imports
from web.storage import StaticStorage

ROOT = Path(settings.BASE_DIR) / "static"
MODULES = sorted(
    str(path.relative_to(ROOT))
    for path in ROOT.rglob("*.js")
    if re.search(r"^(im|ex)port ", path.read_text(), re.MULTILINE)
)


@pytest.mark.parametrize("name", MODULES)
def test_what_is_imported_is_exported(name: str) -> None:
    source = (ROOT / name).read_text()
    stated = re.findall(r'^import \{ (.+?) \} from "(.+?)";$', source, re.MULTILINE)
    assert len(stated) == len(re.findall(IMPORT, source))
    later = re.findall(r'const \{ (.+?) \} = await import\("(.+?)"\);', source)
    used = re.findall(r'import\("(.+?)"\), \(script\) => script\.(\w+)\(', source)
    later += [(word, url) for url, word in used]
    assert len(later) == len(re.findall(LATER_IMPORT, source)) == source.count("import(")
    for words, url in stated + later:
        other = ((ROOT / name).parent / url).read_text()
        for word in words.split(", "):
            assert re.search(rf"^export (async )?(function|class|const) {word}\b", other, re.M), (
                word
            )


def test_collected_files_import_each_other_by_their_hashed_names(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "js", tmp_path / "js")
    for each in tmp_path.glob("js/*.js"):
        if f"js/{each.name}" not in MODULES:
            each.unlink()
    storage = StaticStorage(location=str(tmp_path))
    source = FileSystemStorage(ROOT)
    done = list(storage.post_process({name: (source, name) for name in MODULES}))
    assert [each for _, _, each in done if isinstance(each, Exception)] == []
    kept = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.js")}
    assert set(storage.hashed_files.values()) == kept
    named = 0
    for name, pattern in product(kept, (IMPORT, LATER_IMPORT)):
        for match in re.finditer(pattern, (tmp_path / name).read_text()):
            other = ((tmp_path / name).parent / match["url"]).resolve()
            assert str(other.relative_to(tmp_path)) in kept, (name, match["url"])
            named += pattern == LATER_IMPORT
    assert named >= 2


def test_a_page_asks_for_all_of_them_at_once() -> None:
    page = Template(
        '{% extends "base.html" %}{% load scripts %}{% block nav %}{% endblock %}'
        '{% block scripts %}{% module_script "js/portal/question.js" %}{% endblock %}'
    ).render(Context())
    asked = re.findall(r'(?:src|href)="/static/(.+?\.js)"', page)
    assert set(asked) >= {"js/app.js", *find_all_imports("js/portal/question.js")}
    assert {name for name in asked if not finders.find(name)} == set()
    hinted = re.findall(r'modulepreload" href="/static/(.+?)"', page)
    assert len(hinted) == len(set(hinted))
    assert "js/app.js" not in hinted  # its own element came first
    assert "js/push.js" not in asked  # few pages need it, and load it when they do


def test_a_module_that_does_not_exist() -> None:
    with pytest.raises(FileNotFoundError):
        find_all_imports("js/nothing.js")

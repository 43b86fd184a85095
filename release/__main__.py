"""`python -m release [VERSION]` writes the next version everywhere, and prints the next steps."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import django
from django.db.migrations.loader import MigrationLoader

from release import Refused, make_release

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()
root = Path(__file__).resolve().parent.parent
loader = MigrationLoader(None)
leaves = {app: name for app, name in loader.graph.leaf_nodes() if (root / app).is_dir()}
try:
    version = make_release(root, "".join(sys.argv[1:2]), leaves, datetime.now(UTC).date())
except Refused as reason:
    sys.exit(str(reason))
print(f"""Wrote {version}. Nothing is committed or tagged.
Read `git diff`, run `make test`, and then:
    git commit -am "Version {version}"
    git tag -a v{version} -m "Version {version}"
    git push --follow-tags""")

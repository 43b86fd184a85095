"""The files of deploy/ha/ are filled as its script does; `make chaos` runs them (tests/faults)."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from tests.deploy.files import DEPLOY

HA = DEPLOY / "ha"


@pytest.fixture(scope="module")
def trial() -> ModuleType:
    spec = importlib.util.spec_from_file_location("deploy_ha_trial", HA / "trial.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_every_name_in_braces_has_a_value(
    trial: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "find_postgres", lambda: Path("/bin"))
    cluster = trial.Cluster(tmp_path, iter(range(1, 99)))
    variables = cluster.describe()
    for template in (*HA.glob("*.yml"), *HA.glob("*.cfg"), *HA.glob("*.conf")):
        filled = list(tmp_path.glob(f"*.{template.name.rpartition('.')[2]}"))
        assert filled, template.name
        assert not [file for file in filled if "${" in file.read_text(encoding="utf-8")]
    nodes = [yaml.safe_load((tmp_path / f"db{n}.yml").read_text()) for n in (1, 2)]
    places = [node["postgresql"]["listen"] for node in nodes]
    haproxy = (tmp_path / "haproxy.cfg").read_text(encoding="utf-8")
    assert all(f" {place} check port " in haproxy for place in places)
    assert {f"http://{node['restapi']['listen']}" for node in nodes} == {
        *variables["PATRONI_URLS"].split()
    }
    assert Path(nodes[0]["bootstrap"]["post_bootstrap"]) == HA / "create-database"
    assert os.access(HA / "create-database", os.X_OK)


def test_the_script_says_what_it_needs(tmp_path: Path) -> None:
    """Nothing of the cluster is installed, or it must not run as root."""
    ran = subprocess.run(
        [sys.executable, str(HA / "trial.py"), str(tmp_path)],
        capture_output=True,
        encoding="utf-8",
        env={"PATH": "/nowhere"},
    )
    assert ran.returncode == 1
    assert "apt-get install etcd-server patroni" in ran.stderr or "ordinary user" in ran.stderr
    assert list(tmp_path.iterdir()) == []

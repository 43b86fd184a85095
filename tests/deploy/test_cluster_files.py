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
    cluster = trial.Cluster(tmp_path, iter(range(1, 99)), "etcd3")
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


@pytest.mark.parametrize(
    ("version", "section"),
    [("patroni 3.0.2", "etcd"), ("patroni 3.0.3", "etcd3"), ("patroni 4.1.4", "etcd3")],
)
def test_an_old_patroni_does_not_take_the_lead_back(
    trial: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    section: str,
) -> None:
    """Over etcd's third API, 3.0.2 overwrites the lead of another node once it was suspended."""
    monkeypatch.setattr(trial, "find_postgres", lambda: Path("/bin"))
    cluster = trial.Cluster(tmp_path, iter(range(1, 99)), trial.choose_etcd_api(version))
    cluster.describe()
    node = yaml.safe_load((tmp_path / "db1.yml").read_text())
    assert [name for name in node if name.startswith("etcd")] == [section]
    serves_both = "--enable-v2=true" in cluster.processes["etcd"].command
    assert serves_both == (section == "etcd")


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

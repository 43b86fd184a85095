"""The running service that the faults befall."""

from collections.abc import Iterator

import pytest

from tests.faults.catalogue import Fault
from tests.faults.trial import SHORT, NotTried, Trial, trial


@pytest.fixture(scope="session")
def short_trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """One service for all faults, with leases and waits shortened."""
    with trial(tmp_path_factory.mktemp("faults"), SHORT) as under_trial:
        yield under_trial


def befall(fault: Fault, under_trial: Trial) -> None:
    """Causes the fault; a skip says why it cannot be caused on this machine."""
    under_trial.service.await_ready()
    try:
        print(fault.befall(under_trial))
    except NotTried as reason:
        pytest.skip(str(reason))

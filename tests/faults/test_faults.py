"""Killed processes and hostile receivers, with short waits. `make chaos` has the real ones."""

import pytest

from tests.faults.catalogue import KILLS_AND_RECEIVERS, Fault
from tests.faults.conftest import befall
from tests.faults.trial import Trial


@pytest.mark.parametrize("fault", KILLS_AND_RECEIVERS, ids=lambda fault: fault.name)
def test_it_is_endured(short_trial: Trial, fault: Fault) -> None:
    befall(fault, short_trial)

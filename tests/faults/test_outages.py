"""Redis and PostgreSQL away, with short waits. `make chaos` has the real ones."""

import pytest

from tests.faults.catalogue import OUTAGES, Fault
from tests.faults.conftest import befall
from tests.faults.trial import Trial


@pytest.mark.parametrize("fault", OUTAGES, ids=lambda fault: fault.name)
def test_it_is_endured(short_trial: Trial, fault: Fault) -> None:
    befall(fault, short_trial)

"""The fixtures of the trials that the tests of the clients have, too."""

from tests.clients.conftest import gate as gate
from tests.clients.conftest import key as key

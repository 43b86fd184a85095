"""The portal's tests use the requests of tests/reviews."""

from tests.reviews.conftest import make as make
from tests.reviews.notifications.conftest import push_key as push_key

"""kazoo's tests import mock, which Python has had of its own since 3.3."""
from unittest.mock import *  # noqa: F401,F403

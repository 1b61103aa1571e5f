"""A plugin of pytest: a test that hangs fails after half a minute, and the others still run."""
import signal

import pytest

SECONDS = 30


def late(signum, frame):
    raise TimeoutError("the test has not ended within %d seconds" % SECONDS)


def bounded():
    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    yield from bounded()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    yield from bounded()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    yield from bounded()

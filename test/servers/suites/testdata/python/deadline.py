"""A plugin of pytest: a test that hangs fails after half a minute, and the others still run."""
import signal
import threading

import pytest

SECONDS = 30


def late(signum, frame):
    raise TimeoutError("the test has not ended within %d seconds" % SECONDS)


def bounded():
    """Interrupts the main thread when the time is over, and again if what follows hangs, too."""
    signal.signal(signal.SIGALRM, late)
    main, done = threading.main_thread().ident, threading.Event()

    def watch():
        while not done.wait(SECONDS):
            signal.pthread_kill(main, signal.SIGALRM)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    yield
    done.set()
    watcher.join()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    yield from bounded()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    yield from bounded()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    yield from bounded()

"""kazoo's side of the comparison.

Its commands and answers are those of package peer. Arguments: the servers, the session timeout in milliseconds. The end of
its input ends it.
"""
import json
import logging
import platform
import queue
import sys
import threading
import time

import kazoo.version
from kazoo.client import KazooClient

SETTLE = 0.25  # seconds, after the last participant has queued
WORKERS = 64


class Unsupported(Exception):
    pass


class Lock:
    """A participant that acquires and releases one of kazoo's locks."""

    def __init__(self, lock):
        self.lock = lock

    def acquire(self):
        self.lock.acquire()

    def release(self):
        self.lock.release()


class Barrier:
    """Both members of a double barrier: each leaves and enters in a thread of its own."""

    def __init__(self, client, path):
        self.client, self.path = client, path

    def both(self, do):
        ends = [in_thread(lambda member=member: do(member)) for member in self.members]
        for end in ends:
            end()

    def acquire(self):
        self.members = [self.client.DoubleBarrier(self.path, 2, "m%d" % i) for i in range(2)]
        self.both(lambda member: member.enter())

    def release(self):
        self.both(lambda member: member.leave())


def in_thread(action):
    """Runs an action in a thread, and returns a function that awaits its end and raises what it raised."""
    failed = []

    def run():
        try:
            action()
        except BaseException as e:
            failed.append(e)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def end():
        thread.join()
        if failed:
            raise failed[0]

    return end


def all_of(n, action):
    """Runs an action for 0 to n-1, at most WORKERS at a time."""
    numbers = queue.SimpleQueue()
    for i in range(n):
        numbers.put(i)

    def work():
        while True:
            try:
                i = numbers.get_nowait()
            except queue.Empty:
                return
            action(i)

    for end in [in_thread(work) for _ in range(min(n, WORKERS))]:
        end()


class Peer:
    def __init__(self, servers, timeout):
        self.servers, self.timeout = servers, timeout
        self.first, self.second = self.open(), self.open()
        self.run = None

    def open(self):
        client = KazooClient(hosts=self.servers, timeout=self.timeout)
        client.start(timeout=60)
        return client

    def place(self, client, recipe, path):
        if recipe == "lock":
            return Lock(client.Lock(path))
        if recipe == "read":
            return Lock(client.ReadLock(path))
        if recipe == "write":
            return Lock(client.WriteLock(path))
        if recipe == "semaphore":
            return Lock(client.Semaphore(path))
        if recipe == "barrier":
            return Barrier(client, path)
        raise Unsupported("no recipe " + recipe)

    def answer(self, words):
        if words[0] == "versions":
            return {"versions": "kazoo %s, Python %s" % (kazoo.version.__version__, platform.python_version())}
        if words[0] == "prepare":
            self.run = self.prepare(words[1], words[2], words[3], int(words[4]))
            return {}
        if words[0] == "go":
            return {"samples": self.run[0]()}
        if words[0] == "clean":
            last, self.run = self.run, None
            last[1]()
            return {}
        raise ValueError("no command " + words[0])

    def prepare(self, scenario, recipe, path, n):
        scenes = {"cycle": self.cycle, "hand-over": self.hand_over, "line": self.line, "line-own": self.line, "clients": self.clients}
        if scenario not in scenes:
            raise Unsupported("no scenario " + scenario)
        self.first.ensure_path(path)
        return scenes[scenario](scenario, recipe, path, n)

    def cycle(self, _, recipe, path, n):
        place = self.place(self.first, recipe, path)

        def go():
            samples = {"acquire": [], "release": [], "whole": []}
            for _ in range(n):
                begin = time.monotonic_ns()
                place.acquire()
                leads = time.monotonic_ns()
                place.release()
                end = time.monotonic_ns()
                samples["acquire"].append(leads - begin)
                samples["release"].append(end - leads)
                samples["whole"].append(end - begin)
            return samples

        return go, lambda: None

    def hand_over(self, _, recipe, path, n):
        leaders, waiters, ends, grants = [], [], [], []
        for i in range(n):
            line = "%s/%d" % (path, i)
            self.first.ensure_path(line)
            leaders.append(self.place(self.first, recipe, line))
            leaders[i].acquire()
            waiters.append(self.place(self.second, recipe, line))
            grants.append(queue.SimpleQueue())
            ends.append(in_thread(lambda waiter=waiters[i], granted=grants[i]: (waiter.acquire(), granted.put(time.monotonic_ns()))))
            await_children(self.second, line, 2)
        time.sleep(SETTLE)

        def go():
            handed = []
            for i in range(n):
                begin = time.monotonic_ns()
                leaders[i].release()
                at = grants[i].get(timeout=60)
                if at < begin:
                    raise RuntimeError("two lead at %s/%d" % (path, i))
                handed.append(at - begin)
            return {"handed": handed}

        def clean():
            for end, waiter in zip(ends, waiters):
                end()
                waiter.release()

        return go, clean

    def line(self, scenario, recipe, path, n):
        clients = [self.first] * (n + 1)
        if scenario == "line-own":
            all_of(n + 1, lambda i: clients.__setitem__(i, self.open()))
        places = [self.place(client, recipe, path) for client in clients]
        places[0].acquire()
        granted = [0] * n

        def wait(i):
            places[i + 1].acquire()
            granted[i] = time.monotonic_ns()
            places[i + 1].release()

        ends = [in_thread(lambda i=i: wait(i)) for i in range(n)]
        await_children(self.second, path, n + 1)
        time.sleep(SETTLE)

        def go():
            begin = time.monotonic_ns()
            places[0].release()
            for end in ends:
                end()
            return {"whole": [max(granted) - begin]}

        def clean():
            if scenario == "line-own":
                all_of(n + 1, lambda i: close(clients[i]))

        return go, clean

    def clients(self, _, recipe, path, n):
        clients = [None] * n

        def open_one(i):
            clients[i] = self.open()
            line = "%s/%d" % (path, i)
            clients[i].ensure_path(line)
            self.place(clients[i], recipe, line).acquire()

        def go():
            begin = time.monotonic_ns()
            all_of(n, open_one)
            return {"whole": [time.monotonic_ns() - begin]}

        return go, lambda: all_of(n, lambda i: close(clients[i]))


def close(client):
    client.stop()
    client.close()


def await_children(client, path, want):
    end = time.monotonic() + 120
    while len(client.get_children(path)) != want:
        if time.monotonic() > end:
            raise RuntimeError("not all are in line at " + path)
        time.sleep(0.002)


def main():
    logging.disable(logging.ERROR)
    peer = Peer(sys.argv[1], int(sys.argv[2]) / 1000)
    for line in sys.stdin:
        try:
            answer = peer.answer(line.split())
        except Unsupported as e:
            answer = {"unsupported": str(e)}
        except Exception as e:
            answer = {"error": repr(e)}
        print(json.dumps(answer, separators=(",", ":")), flush=True)
    close(peer.first)
    close(peer.second)


main()

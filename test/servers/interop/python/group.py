"""kazoo's side of shared barriers, parties, semaphores and trees.

Arguments and manners are those of peer.py; a command that waits does so on a
thread of its own.
"""
import os
import random
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError, NoNodeError, NotEmptyError
from kazoo.recipe.cache import TreeCache, TreeEvent

said = threading.Lock()
barriers = {}
parties = {}
semaphores = {}
locks = {}
caches = {}
departing = {}


def say(*words):
    with said:
        print(*words, flush=True)


def obey(client, words):
    """Every command is a verb, a name for the answer, and the rest."""
    verb, name = words[0], words[1]
    if verb == "set":
        client.Barrier(words[2]).create()
    elif verb == "remove":
        client.Barrier(words[2]).remove()
    elif verb == "wait":
        client.Barrier(words[2]).wait()
    elif verb == "enter":
        barriers[name] = client.DoubleBarrier(words[2], int(words[3]))
        barriers[name].enter()
    elif verb == "leave":
        barriers[name].leave()
    elif verb == "join":
        parties[name] = client.Party(words[2], name)
        parties[name].join()
    elif verb == "members":
        say("members", name, *sorted(parties[name]))
        return
    elif verb == "divide":  # the items that a SetPartitioner gets of a set
        partitioner = client.SetPartitioner(words[2], set=words[3].split(","), identifier=name, time_boundary=1)
        partitioner.wait_for_acquire(60)
        say("divided", name, str(partitioner.acquired).lower(), *sorted(partitioner))
        partitioner.finish()
        return
    elif verb == "partition":  # says what it owns at each change, until it departs
        partition(client, name, words[2], int(words[3]), int(words[4]))
        return
    elif verb == "depart":
        departing[name].set()
        return
    elif verb == "pop":  # what kazoo's Queue takes
        say("popped", name, repr(client.Queue(words[2]).get()))
        return
    elif verb == "lock":  # on kazoo's own names, and after those of a pattern
        locks[name] = client.Lock(words[2], name, extra_lock_patterns=[words[3]])
        locks[name].acquire()
    elif verb in ("take", "try"):  # kazoo's have one permit each
        semaphore = client.Semaphore(words[2], name, int(words[3]))
        got = semaphore.acquire(blocking=verb == "take")
        if got:
            semaphores[name] = semaphore
        if verb == "try":
            say("tried", name, str(got).lower())
            return
    elif verb == "race":
        say("raced", name, *race(client, words[2], words[3] == "locked", int(words[4]), int(words[5]), words[6] == "one"), "true")
        return
    elif verb == "grow":
        grow(client, name, words[2], int(words[3]), random.Random(int(words[4])))
    elif verb == "walk":
        say("walk", name, *("=".join(node) for node in sorted(walk(client, words[2], ""))))
        return
    elif verb == "hold":
        caches[name], took = hold(client, name, words[2])
        say("held", name, took, count(caches[name], words[2]))
        return
    elif verb == "drop":
        caches.pop(name).close()
    elif verb == "give":
        semaphores.pop(name).release()
    say("done", verb, name)


def partition(client, name, path, items, boundary):
    """Works on its part of so many items as kazoo's documentation shows, until depart."""
    end = departing[name] = threading.Event()
    changed = client.handler.event_object()
    part = client.SetPartitioner(path, set=[str(i) for i in range(items)], identifier=name, time_boundary=boundary,
                                 state_change_event=changed)
    while not end.is_set() and not part.failed:
        changed.clear()
        if part.acquired:
            say("owns", name, *part)
        elif part.release:
            say("owns", name)
            part.release_set()
            continue
        while not (changed.wait(0.05) or end.is_set()):
            pass
    say("owns", name)
    if not part.failed:
        part.finish()
    say("departed", name)


def race(client, path, locked, items, size, one):
    """Puts so many items of a size, and consumes them if they were put one by one: the nanoseconds of both.

    One more is put before the time is taken: it creates the directories.
    """
    queue = client.LockingQueue(path) if locked else client.Queue(path)
    item = b"x" * size
    queue.put(item)
    begin = time.monotonic_ns()
    if one or not locked:  # its Queue knows no other way
        for _ in range(items):
            queue.put(item)
    else:
        most = max(1, min(100, (512 << 10) // size))
        for first in range(0, items, most):
            queue.put_all([item] * min(most, items - first))
    put = time.monotonic_ns()
    if not one:
        return put - begin, 0
    for _ in range(items + 1):
        queue.get()
        if locked:
            queue.consume()
    return put - begin, time.monotonic_ns() - put


def hold(client, name, path):
    """Keeps a tree in memory: the cache, and the nanoseconds that it took to read it."""
    cache, ready = TreeCache(client, path), threading.Event()

    def listen(event):
        if event.event_type == TreeEvent.INITIALIZED:
            ready.set()
        elif event.event_type == TreeEvent.NODE_UPDATED and event.event_data.path == path:
            say("top", name, event.event_data.data.decode())

    cache.listen(listen)
    begin = time.monotonic_ns()
    cache.start()
    ready.wait()
    return cache, time.monotonic_ns() - begin


def count(cache, path):
    return 1 + sum(count(cache, path + "/" + name) for name in cache.get_children(path))


def grow(client, name, path, changes, dice):
    """Makes, sets and deletes nodes below a path, beside others who do the same."""
    for i in range(changes):
        node = path + "".join("/" + dice.choice("abc") for _ in range(1 + dice.randrange(3)))
        try:
            if dice.randrange(4) == 0:
                client.delete(node, recursive=True)
            elif client.exists(node):
                client.set(node, b"%s-%d" % (name.encode(), i))
            else:
                client.create(node, b"%s-%d" % (name.encode(), i), makepath=True)
        except (NoNodeError, NodeExistsError, NotEmptyError):
            pass  # somebody else was faster


def walk(client, path, below):
    data, _ = client.get(path + below)
    yield below, data.decode()
    for child in client.get_children(path + below):
        yield from walk(client, path, below + "/" + child)


def attempt(client, words):
    try:
        obey(client, words)
    except Exception as e:  # the test must hear of it
        say("error", *words, repr(e))


def main():
    client = KazooClient(hosts=sys.argv[1], timeout=int(sys.argv[3]) / 1000)
    client.start(timeout=30)
    say("ready")
    for line in sys.stdin:
        threading.Thread(target=attempt, args=(client, line.split()), daemon=True).start()
    os._exit(0)  # no goodbye: the session is left to expire


main()

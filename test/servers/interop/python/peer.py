"""kazoo's side of a shared directory.

Arguments: the servers to elect on, the servers of the journal, the session
timeout in milliseconds, the journal. Commands come on standard input, one a
line, and what happens is told on standard output; the end of the input is the
end of the program.
"""
import os
import sys
import threading
import uuid

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock, ReadLock, WriteLock

said = threading.Lock()


def say(*words):
    with said:
        print(*words, flush=True)


class Member:
    """One member of a kazoo election."""

    def __init__(self, client, name, path):
        self.name = name
        self.turn = threading.Event()
        self.election = self.make(client, path)
        threading.Thread(target=self.run, daemon=True).start()

    def make(self, client, path):
        return client.Election(path, self.name)

    def run(self):
        try:
            self.election.run(self.lead)
        except Exception as e:  # the test must hear of it
            say("error", self.name, repr(e))

    def give(self):
        self.turn.set()

    def contenders(self):
        return self.election.contenders()

    def lead(self):
        say("leader", self.name, self.election.lock.node)
        self.turn.wait()
        say("stopped", self.name)


class Holder:
    """Locks again and again with kazoo's Lock; each hold lasts until the next yield."""

    def __init__(self, client, name, path):
        self.name = name
        self.turns = threading.Semaphore(0)
        self.lock = self.make(client, path)
        threading.Thread(target=self.run, daemon=True).start()

    def make(self, client, path):
        return client.Lock(path, self.name)

    def run(self):
        try:
            while True:
                with self.lock:
                    say("leader", self.name, self.lock.node)
                    self.turns.acquire()
                    say("stopped", self.name)
        except Exception as e:  # the test must hear of it
            say("error", self.name, repr(e))

    def give(self):
        self.turns.release()

    def contenders(self):
        return self.lock.contenders()


class Once:
    """Holds one side of a read-write lock once, until the next yield."""

    def __init__(self, side):
        self.side = side

    def __call__(self, client, name, path):
        self.name, self.turn, self.lock = name, threading.Event(), self.side(client, path, name)
        threading.Thread(target=self.run, daemon=True).start()
        return self

    def run(self):
        try:
            with self.lock:
                say("leader", self.name, self.lock.node)
                self.turn.wait()
                say("stopped", self.name)
        except Exception as e:  # the test must hear of it
            say("error", self.name, repr(e))

    def give(self):
        self.turn.set()

    def contenders(self):
        return self.lock.contenders()


PREFIX = "n_"


class Plain(Member):
    """One member of a kazoo election on the plain names of ZooKeeper's recipes."""

    def make(self, client, path):
        election = client.Election(path, self.name)
        election.lock = Lock(client, path, self.name, extra_lock_patterns=[PREFIX])
        election.lock.prefix = PREFIX
        election.lock.create_path = path + "/" + PREFIX
        return election


class Hand(Member):
    """The same election as it is written by hand, step by step as in ZooKeeper's recipes."""

    def make(self, client, path):
        self.client, self.path = client, path
        return self

    def run(self):
        try:
            own = self.client.create(self.path + "/" + PREFIX, self.name.encode(), ephemeral=True, sequence=True, makepath=True)
            own = own[len(self.path) + 1:]
            while True:
                line = sorted((n for n in self.client.get_children(self.path) if n.startswith(PREFIX)), key=number)
                at = line.index(own)
                if at == 0:
                    break
                gone = threading.Event()
                if self.client.exists(self.path + "/" + line[at - 1], watch=lambda event: gone.set()):
                    gone.wait()
            say("leader", self.name, own)
            self.turn.wait()
            say("stopped", self.name)
            self.client.delete(self.path + "/" + own)
        except Exception as e:  # the test must hear of it
            say("error", self.name, repr(e))


def of_curator(client, path, name, kind):
    """A lock that is in one line with Curator's: kind is lock or latch."""
    lock = Lock(client, path, name, extra_lock_patterns=["-%s-" % kind])
    lock.prefix = "_c_%s-%s-" % (uuid.uuid4(), kind)
    lock.create_path = path + "/" + lock.prefix
    return lock


class CuratorLock(Holder):
    """Locks again and again in the line of Curator's InterProcessMutex."""

    def make(self, client, path):
        return of_curator(client, path, self.name, "lock")


class CuratorLatch(Member):
    """One member of a kazoo election in the line of Curator's LeaderLatch."""

    def make(self, client, path):
        election = client.Election(path, self.name)
        election.lock = of_curator(client, path, self.name, "latch")
        return election


SIDES = {"kread": ReadLock, "kwrite": WriteLock}
KINDS = {"lock": Member, "kazoo": Holder, "plain": Plain, "hand": Hand, "curator-lock": CuratorLock, "curator-latch": CuratorLatch}


def number(name):
    return int(name[-10:])


def outsider(client, path):
    """Reads a line of latches as anybody may: by number, with the nodes' data."""
    names = sorted((n for n in client.get_children(path) if "-latch-" in n), key=number)
    return [client.get(path + "/" + n)[0].decode() for n in names]


def main():
    client = KazooClient(hosts=sys.argv[1], timeout=int(sys.argv[3]) / 1000)
    client.start(timeout=30)
    members = {}
    say("ready")
    for line in sys.stdin:
        words = line.split()
        try:
            if words[0] == "join":
                kind = Once(SIDES[words[1]]) if words[1] in SIDES else KINDS[words[1]]
                members[words[2]] = kind(client, words[2], words[3])
            elif words[0] == "yield":
                members[words[1]].give()
            elif words[0] == "line":
                say("line", words[1], *members[words[1]].contenders())
            elif words[0] == "outsider":
                say("line", words[1], *outsider(client, words[1]))
        except Exception as e:
            say("error", line.strip(), repr(e))
    os._exit(0)  # no goodbye: the session is left to expire


main()

"""kazoo's side of a shared directory.

Arguments: the servers to elect on, the servers of the journal, the session
timeout in milliseconds, the journal. Commands come on standard input, one a
line, and what happens is told on standard output; the end of the input is the
end of the program.
"""
import os
import sys
import threading

from kazoo.client import KazooClient

said = threading.Lock()


def say(*words):
    with said:
        print(*words, flush=True)


class Member:
    """One member of a kazoo election."""

    def __init__(self, client, name, path):
        self.name = name
        self.turn = threading.Event()
        self.election = client.Election(path, name)
        threading.Thread(target=self.run, daemon=True).start()

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
        self.lock = client.Lock(path, name)
        threading.Thread(target=self.run, daemon=True).start()

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
                kind = Holder if words[1] == "kazoo" else Member
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

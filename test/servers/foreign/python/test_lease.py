"""pytest with kazoo: what a service does when its session ends, a reply is lost, or its server fails."""
import threading

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionClosedError, ConnectionLoss
from kazoo.protocol.states import KazooState
from kazoo.security import CREATOR_ALL_ACL
from zk_server import Server


@pytest.fixture
def server():
    s = Server()
    yield s
    s.close()


@pytest.fixture
def client(server):
    c = KazooClient(server.address, auth_data=[("digest", "me:secret")])
    c.start(30)
    yield c
    c.stop()
    c.close()


def test_the_lease_ends_with_the_session(server, client):
    client.create("/lease", ephemeral=True)
    lost = threading.Event()
    client.add_listener(lambda state: lost.set() if state == KazooState.LOST else None)
    (session,) = server.get("/v1/state")["sessions"]
    assert session["ephemerals"] == ["/lease"]
    server.post("/v1/expire", session=session["id"])
    assert lost.wait(30)
    assert server.get("/v1/tree?path=/zookeeper")["nodes"]
    assert [n["path"] for n in server.get("/v1/tree")["nodes"] if n["path"] == "/lease"] == []


def test_a_write_may_be_done_though_its_reply_is_lost(server, client):
    server.post("/v1/next", op="create", path="/once", action="cutAfter")
    with pytest.raises((ConnectionLoss, ConnectionClosedError)):
        client.create("/once", b"x")
    assert client.retry(client.get, "/once")[0] == b"x"


def test_a_list_of_the_creator(client):
    client.create("/mine", acl=CREATOR_ALL_ACL)  # kazoo sends an ID that is null
    acls, _ = client.get_acls("/mine")
    assert [a.id.scheme for a in acls] == ["digest"]
    assert client.server_version()[:2] == (3, 9)


@pytest.fixture
def ensemble():
    s = Server("--ensemble", "3", "--tick", "100ms", "--max-session-timeout", "1m")
    yield s
    s.close()


@pytest.mark.parametrize("fault", ["stop", "isolate", "depose"])
def test_the_session_goes_on_at_another_server(ensemble, fault):
    c = KazooClient(ensemble.address)
    c.start(30)
    try:
        suspended, back = threading.Event(), threading.Event()

        def listen(state):
            if state == KazooState.SUSPENDED:
                suspended.set()
            elif suspended.is_set() and state == KazooState.CONNECTED:
                back.set()

        c.add_listener(listen)
        (before,) = ensemble.get("/v1/state")["sessions"]
        one = {} if fault == "depose" else {"server": before["server"]}
        ensemble.post("/v1/" + fault, **one)
        assert suspended.wait(30) and back.wait(30)
        (after,) = ensemble.get("/v1/state")["sessions"]
        assert after["id"] == before["id"]
        if one:
            assert after["server"] != before["server"]
        c.retry(c.create, "/after")
    finally:
        c.stop()
        c.close()

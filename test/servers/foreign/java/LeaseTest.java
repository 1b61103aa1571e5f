import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** JUnit with ZooKeeper's own client: what a service does when its session ends, and when a reply is lost. */
public class LeaseTest {
    private Server server;
    private ZooKeeper client;
    private final CountDownLatch expired = new CountDownLatch(1);

    @Before
    public void start() throws Exception {
        server = new Server();
        CountDownLatch connected = new CountDownLatch(1);
        client = new ZooKeeper(server.address, 10_000, e -> {
            if (e.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            } else if (e.getState() == KeeperState.Expired) {
                expired.countDown();
            }
        });
        assertTrue(connected.await(30, TimeUnit.SECONDS));
    }

    @After
    public void end() throws Exception {
        client.close();
        server.close();
    }

    @Test
    public void theLeaseEndsWithTheSession() throws Exception {
        client.create("/lease", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        server.post("/v1/expire", "{\"session\":\"" + Server.field(server.get("/v1/state"), "id") + "\"}");
        assertTrue(expired.await(30, TimeUnit.SECONDS));
        assertTrue(!server.get("/v1/tree").contains("/lease"));
    }

    @Test
    public void aWriteMayBeDoneThoughItsReplyIsLost() throws Exception {
        server.post("/v1/next", "{\"op\":\"create\",\"path\":\"/once\",\"action\":\"cutAfter\"}");
        try {
            client.create("/once", new byte[] {7}, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            throw new AssertionError("the reply was not lost");
        } catch (KeeperException.ConnectionLossException e) {
            assertTrue(server.get("/v1/tree?path=/once").contains("\"data\":\"Bw==\""));
        }
    }

    @Test
    public void aRecursiveWatchSeesTheTree() throws Exception {
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        client.addWatch("/t", e -> events.add(e.getType() + " " + e.getPath()), AddWatchMode.PERSISTENT_RECURSIVE);
        client.create("/t", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.create("/t/a", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        assertEquals("NodeCreated /t", events.poll(30, TimeUnit.SECONDS));
        assertEquals("NodeCreated /t/a", events.poll(30, TimeUnit.SECONDS));
        assertNotNull(client.exists("/t/a", false));
        assertNull(client.exists("/t/b", false));
    }
}

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.DistributedDelayQueue;
import org.apache.curator.framework.recipes.queue.DistributedIdQueue;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.MultiItem;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;

/**
 * Makes one of everything under a path and writes the tree: a node's path, the kind of node and its data in hexadecimal, separated by
 * tabs. The arguments are the servers and the path.
 */
public final class Layout {
  private static final Queues.Plain UTF8 = new Queues.Plain();

  public static void main(String[] args) throws Exception {
    CuratorFramework client = CuratorFrameworkFactory.builder().connectString(args[0]).retryPolicy(new ExponentialBackoffRetry(100, 5))
        .defaultData("one".getBytes(StandardCharsets.UTF_8)).build();
    client.start();
    String root = args[1];
    LeaderLatch latch = new LeaderLatch(client, root + "/latch", "one");
    latch.start();
    latch.await();
    new InterProcessMutex(client, root + "/mutex").acquire();
    new InterProcessReadWriteLock(client, root + "/write").writeLock().acquire();
    new InterProcessReadWriteLock(client, root + "/read").readLock().acquire();
    new InterProcessSemaphoreV2(client, root + "/semaphore", 2).acquire();
    new DistributedBarrier(client, root + "/barrier").setBarrier();
    new DistributedDoubleBarrier(client, root + "/doublebarrier", 1).enter();
    queues(client, root);
    new DistributedAtomicLong(client, root + "/atomic", new ExponentialBackoffRetry(100, 5)).add(-258L);
    new SharedCount(client, root + "/count", -259).start();
    GroupMember member = new GroupMember(client, root + "/group", "one", "payload".getBytes(StandardCharsets.UTF_8));
    member.start();
    PersistentNode node = new PersistentNode(client, CreateMode.EPHEMERAL, false, root + "/persistent/node", "payload".getBytes());
    node.start();
    node.waitForInitialCreate(30, TimeUnit.SECONDS);
    while (client.checkExists().forPath(root + "/group/one") == null) {
      Thread.sleep(10);
    }
    write(client, root);
    Runtime.getRuntime().halt(0);
  }

  private static void queues(CuratorFramework client, String root) throws Exception {
    DistributedQueue<String> queue = QueueBuilder.builder(client, null, UTF8, root + "/queue").buildQueue();
    queue.start();
    queue.put("one");
    queue.putMulti(new MultiItem<String>() {
      private final java.util.Iterator<String> rest = List.of("two", "").iterator();

      @Override
      public String nextItem() {
        return rest.hasNext() ? rest.next() : null;
      }
    });
    queue.flushPuts(30, TimeUnit.SECONDS);
    DistributedPriorityQueue<String> priority = QueueBuilder.builder(client, null, UTF8, root + "/priority").buildPriorityQueue(0);
    priority.start();
    priority.put("one", 258);
    priority.put("two", -258);
    priority.flushPuts(30, TimeUnit.SECONDS);
    DistributedDelayQueue<String> delay = QueueBuilder.builder(client, null, UTF8, root + "/delay").buildDelayQueue();
    delay.start();
    delay.put("one", 4102444800123L);
    delay.flushPuts(30, TimeUnit.SECONDS);
    DistributedIdQueue<String> ids = QueueBuilder.builder(client, null, UTF8, root + "/ids").buildIdQueue();
    ids.start();
    ids.put("one", "number 1");
    ids.flushPuts(30, TimeUnit.SECONDS);
  }

  private static void write(CuratorFramework client, String path) throws Exception {
    Stat stat = new Stat();
    byte[] data = client.getData().storingStatIn(stat).forPath(path);
    StringBuilder hex = new StringBuilder();
    for (byte b : data == null ? new byte[0] : data) {
      hex.append(String.format("%02x", b));
    }
    String kind = stat.getEphemeralOwner() == 0 ? "persistent" : "ephemeral";
    System.out.println(path + "\t" + kind + "\t" + hex);
    for (String child : client.getChildren().forPath(path)) {
      write(client, path + "/" + child);
    }
  }
}

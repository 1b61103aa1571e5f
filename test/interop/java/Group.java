import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.atomic.PromotedToLock;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.RetryForever;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;

/**
 * Curator's side of shared barriers, groups, semaphores and numbers. Arguments and manners are those of Peer; a command
 * that waits does so on a thread of its own.
 */
public final class Group {
  private static CuratorFramework client;
  private static final Map<String, DistributedDoubleBarrier> barriers = new ConcurrentHashMap<>();
  private static final Map<String, GroupMember> members = new ConcurrentHashMap<>();
  private static final Map<String, Collection<Lease>> leases = new ConcurrentHashMap<>();
  private static final Map<String, PersistentNode> nodes = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    int timeout = Integer.parseInt(args[2]);
    client = CuratorFrameworkFactory.newClient(args[0], timeout, timeout, new RetryForever(50));
    client.start();
    client.blockUntilConnected();
    say("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      Thread thread = new Thread(() -> attempt(words));
      thread.setDaemon(true);
      thread.start();
    }
    Runtime.getRuntime().halt(0);
  }

  private static void attempt(String[] words) {
    try {
      obey(words);
    } catch (Exception e) {
      say("error " + String.join(" ", words) + ": " + e);
    }
  }

  /** Every command is a verb, a name for the answer, and the rest. */
  private static void obey(String[] words) throws Exception {
    String name = words[1];
    switch (words[0]) {
      case "set":
        new DistributedBarrier(client, words[2]).setBarrier();
        break;
      case "remove":
        new DistributedBarrier(client, words[2]).removeBarrier();
        break;
      case "wait":
        new DistributedBarrier(client, words[2]).waitOnBarrier();
        break;
      case "enter":
        barriers.computeIfAbsent(name, n -> new DistributedDoubleBarrier(client, words[2], Integer.parseInt(words[3]))).enter();
        break;
      case "leave":
        barriers.get(name).leave();
        break;
      case "join":
        members.put(name, new GroupMember(client, words[2], name, words[3].getBytes(StandardCharsets.UTF_8)));
        members.get(name).start();
        break;
      case "part":
        members.remove(name).close();
        break;
      case "members":
        say("members " + name + " " + new TreeMap<>(members.get(name).getCurrentMembers()).entrySet().stream()
            .map(e -> e.getKey() + "=" + new String(e.getValue(), StandardCharsets.UTF_8)).collect(Collectors.joining(" ")));
        return;
      case "take":
        leases.put(name, semaphore(words).acquire(Integer.parseInt(words[4])));
        break;
      case "try":
        Collection<Lease> got = semaphore(words).acquire(Integer.parseInt(words[4]), 0, TimeUnit.MILLISECONDS);
        if (got != null) {
          leases.put(name, got);
        }
        say("tried " + name + " " + (got != null));
        return;
      case "give":
        for (Lease lease : leases.remove(name)) {
          lease.close();
        }
        break;
      case "keep":
        nodes.put(name, new PersistentNode(client, CreateMode.EPHEMERAL, false, words[2], words[3].getBytes(StandardCharsets.UTF_8)));
        nodes.get(name).start();
        break;
      case "drop":
        nodes.remove(name).close();
        break;
      case "count":
        try (SharedCount count = new SharedCount(client, words[2], Integer.parseInt(words[3]))) {
          count.start();
          for (int i = 4; i < words.length; i++) {
            boolean done = count.trySetCount(count.getVersionedValue(), Integer.parseInt(words[i]));
            if (!done) {
              say("error beaten");
              return;
            }
          }
          say("count " + name + " " + count.getCount() + " " + count.getVersionedValue().getVersion());
        }
        return;
      case "add":
        PromotedToLock lock = PromotedToLock.builder().lockPath(words[3]).retryPolicy(new RetryForever(10)).build();
        DistributedAtomicLong number = new DistributedAtomicLong(client, words[2], new RetryNTimes(2, 10), lock);
        for (int i = 4; i < words.length; i++) {
          AtomicValue<Long> sum = number.add(Long.parseLong(words[i]));
          if (!sum.succeeded()) {
            say("error beaten");
            return;
          }
        }
        say("sum " + name + " " + number.get().postValue());
        return;
      default:
        say("error what is " + words[0] + "?");
        return;
    }
    say("done " + words[0] + " " + name);
  }

  private static InterProcessSemaphoreV2 semaphore(String[] words) {
    return new InterProcessSemaphoreV2(client, words[2], Integer.parseInt(words[3]));
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}

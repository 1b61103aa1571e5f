import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.atomic.PromotedToLock;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.RetryForever;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/**
 * Curator's side of shared barriers, groups, semaphores, numbers and trees. Commands has the arguments and the form of a command. Each
 * command has a thread of its own, because many of them wait.
 */
public final class Group {
  private static CuratorFramework client;
  private static final Map<String, DistributedDoubleBarrier> barriers = new ConcurrentHashMap<>();
  private static final Map<String, GroupMember> members = new ConcurrentHashMap<>();
  private static final Map<String, Collection<Lease>> leases = new ConcurrentHashMap<>();
  private static final Map<String, PersistentNode> nodes = new ConcurrentHashMap<>();
  private static final Map<String, TreeCache> caches = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    client = Commands.client(args);
    Commands.runTogether(client, Group::obey);
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
        Commands.say("members " + name + " " + new TreeMap<>(members.get(name).getCurrentMembers()).entrySet().stream()
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
        Commands.say("tried " + name + " " + (got != null));
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
              Commands.say("error beaten");
              return;
            }
          }
          Commands.say("count " + name + " " + count.getCount() + " " + count.getVersionedValue().getVersion());
        }
        return;
      case "add":
        PromotedToLock lock = PromotedToLock.builder().lockPath(words[3]).retryPolicy(new RetryForever(10)).build();
        DistributedAtomicLong number = new DistributedAtomicLong(client, words[2], new RetryNTimes(2, 10), lock);
        for (int i = 4; i < words.length; i++) {
          AtomicValue<Long> sum = number.add(Long.parseLong(words[i]));
          if (!sum.succeeded()) {
            Commands.say("error beaten");
            return;
          }
        }
        Commands.say("sum " + name + " " + number.get().postValue());
        return;
      case "grow":
        grow(name, words[2], Integer.parseInt(words[3]), new Random(Long.parseLong(words[4])));
        break;
      case "walk":
        TreeMap<String, String> tree = new TreeMap<>();
        walk(words[2], "", tree);
        Commands.say(view("walk", name, tree));
        return;
      case "cache":
        CountDownLatch ready = new CountDownLatch(1);
        TreeCache cache = TreeCache.newBuilder(client, words[2]).build();
        cache.getListenable().addListener((c, event) -> {
          if (event.getType() == TreeCacheEvent.Type.INITIALIZED) {
            ready.countDown();
          }
        });
        caches.put(name, cache.start());
        ready.await();
        break;
      case "cached":
        TreeMap<String, String> known = new TreeMap<>();
        cached(caches.get(name), caches.get(name).getCurrentData(words[2]), words[2].length(), known);
        Commands.say(view("cached", name, known));
        return;
      default:
        Commands.unknown(words);
        return;
    }
    Commands.say("done " + words[0] + " " + name);
  }

  /** Makes, sets and deletes nodes below a path, beside others who do the same. */
  private static void grow(String name, String path, int changes, Random dice) throws Exception {
    for (int i = 0; i < changes; i++) {
      StringBuilder node = new StringBuilder(path);
      for (int level = 1 + dice.nextInt(3); level > 0; level--) {
        node.append('/').append("abc".charAt(dice.nextInt(3)));
      }
      try {
        if (dice.nextInt(4) == 0) {
          client.delete().deletingChildrenIfNeeded().forPath(node.toString());
        } else {
          byte[] data = (name + "-" + i).getBytes(StandardCharsets.UTF_8);
          client.create().orSetData().creatingParentsIfNeeded().forPath(node.toString(), data);
        }
      } catch (KeeperException.NoNodeException | KeeperException.NodeExistsException | KeeperException.NotEmptyException e) {
        continue; // somebody else was faster
      }
    }
  }

  private static void walk(String path, String below, TreeMap<String, String> into) throws Exception {
    into.put(below, new String(client.getData().forPath(path + below), StandardCharsets.UTF_8));
    for (String child : client.getChildren().forPath(path + below)) {
      walk(path, below + "/" + child, into);
    }
  }

  /** What a cache knows of a node and all below it. */
  private static void cached(TreeCache cache, ChildData node, int top, TreeMap<String, String> into) {
    if (node == null) {
      return;
    }
    into.put(node.getPath().substring(top), new String(node.getData(), StandardCharsets.UTF_8));
    Map<String, ChildData> children = cache.getCurrentChildren(node.getPath());
    if (children != null) {
      children.values().forEach(child -> cached(cache, child, top, into));
    }
  }

  private static String view(String verb, String name, TreeMap<String, String> tree) {
    return verb + " " + name + " " + tree.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).collect(Collectors.joining(" "));
  }

  private static InterProcessSemaphoreV2 semaphore(String[] words) {
    return new InterProcessSemaphoreV2(client, words[2], Integer.parseInt(words[3]));
  }
}

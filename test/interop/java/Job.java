import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.CreateMode;

/**
 * One instance of a job that asks of ZooKeeper, by Curator, what ElasticJob's election asks: the same
 * calls on the same paths. Arguments are those of Peer; the command "stand ID JOB" begins.
 */
public final class Job {
  private static CuratorFramework client;
  private static final ExecutorService elections = Executors.newSingleThreadExecutor();
  private static String id, job;

  public static void main(String[] args) throws Exception {
    int timeout = Integer.parseInt(args[2]);
    client = CuratorFrameworkFactory.newClient(args[0], timeout, timeout, new RetryForever(50));
    client.start();
    client.blockUntilConnected();
    say("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      try {
        obey(words);
      } catch (Exception e) {
        say("error " + line + ": " + e);
      }
    }
    Runtime.getRuntime().halt(0); // no goodbye: the session is left to expire
  }

  private static void obey(String[] words) throws Exception {
    switch (words[0]) {
      case "stand":
        id = words[1];
        job = words[2];
        CuratorCache cache = CuratorCache.build(client, job);
        cache
            .listenable()
            .addListener(
                (type, before, now) -> {
                  if (type == CuratorCacheListener.Type.NODE_DELETED && before.getPath().equals(marker())) {
                    elections.submit(Job::electLeader);
                  }
                });
        cache.start();
        elections.submit(Job::electLeader);
        return;
      case "who":
        say("who " + (hasLeader() ? new String(client.getData().forPath(marker()), StandardCharsets.UTF_8) : "nobody"));
        return;
      case "remove": // where it leads
        if (hasLeader() && id.equals(new String(client.getData().forPath(marker()), StandardCharsets.UTF_8))) {
          client.delete().deletingChildrenIfNeeded().forPath(marker());
        }
        say("removed " + id);
        return;
      default:
        say("error what is " + words[0] + "?");
    }
  }

  private static String marker() {
    return job + "/leader/election/instance";
  }

  private static boolean hasLeader() throws Exception {
    return client.checkExists().forPath(marker()) != null;
  }

  /** A latch as a short mutex, a look, and the marker. */
  private static void electLeader() {
    try (LeaderLatch latch = new LeaderLatch(client, job + "/leader/election/latch")) {
      latch.start();
      latch.await();
      if (!hasLeader()) {
        persistEphemeral(marker(), id);
        say("leader " + id);
      }
    } catch (Exception e) {
      say("error elect " + id + ": " + e);
    }
  }

  /** What is there already is deleted first. */
  private static void persistEphemeral(String path, String value) throws Exception {
    if (client.checkExists().forPath(path) != null) {
      client.delete().deletingChildrenIfNeeded().forPath(path);
    }
    client.create().creatingParentsIfNeeded().withMode(CreateMode.EPHEMERAL).forPath(path, value.getBytes(StandardCharsets.UTF_8));
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.zookeeper.CreateMode;

/**
 * One instance of a job that asks of ZooKeeper, by Curator, what ElasticJob's election asks: the same
 * calls on the same paths. Commands has the arguments and the form of a command; "stand ID JOB" begins.
 */
public final class Job {
  private static CuratorFramework client;
  private static final ExecutorService elections = Executors.newSingleThreadExecutor();
  private static String id, job;

  public static void main(String[] args) throws Exception {
    client = Commands.client(args);
    Commands.run(client, Job::obey);
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
        Commands.say("who " + (hasLeader() ? new String(client.getData().forPath(marker()), StandardCharsets.UTF_8) : "nobody"));
        return;
      case "remove": // where it leads
        if (hasLeader() && id.equals(new String(client.getData().forPath(marker()), StandardCharsets.UTF_8))) {
          client.delete().deletingChildrenIfNeeded().forPath(marker());
        }
        Commands.say("removed " + id);
        return;
      default:
        Commands.unknown(words);
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
        Commands.say("leader " + id);
      }
    } catch (Exception e) {
      Commands.say("error elect " + id + ": " + e);
    }
  }

  /** What is there already is deleted first. */
  private static void persistEphemeral(String path, String value) throws Exception {
    if (client.checkExists().forPath(path) != null) {
      client.delete().deletingChildrenIfNeeded().forPath(path);
    }
    client.create().creatingParentsIfNeeded().withMode(CreateMode.EPHEMERAL).forPath(path, value.getBytes(StandardCharsets.UTF_8));
  }
}

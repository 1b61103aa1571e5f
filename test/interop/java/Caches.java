import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.retry.RetryForever;

/**
 * Curator's newest cache of a tree, for comparisons. Arguments and manners are those of Peer. "hold" keeps
 * the tree at a path and says how many nanoseconds it took to read it; the data of its top are said
 * whenever they change; "drop" ends it.
 */
public final class Caches {
  private static CuratorFramework client;
  private static final Map<String, CuratorCache> caches = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    int timeout = Integer.parseInt(args[2]);
    client = CuratorFrameworkFactory.newClient(args[0], timeout, timeout, new RetryForever(50));
    client.start();
    client.blockUntilConnected();
    say("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      try {
        obey(line.split(" "));
      } catch (Exception e) {
        say("error " + line + ": " + e);
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private static void obey(String[] words) throws Exception {
    String name = words[1];
    switch (words[0]) {
      case "hold":
        String path = words[2];
        CountDownLatch ready = new CountDownLatch(1);
        CuratorCache cache = CuratorCache.build(client, path);
        cache.listenable().addListener(CuratorCacheListener.builder()
            .forInitialized(ready::countDown)
            .forChanges((before, now) -> {
              if (now.getPath().equals(path)) {
                say("top " + name + " " + new String(now.getData(), StandardCharsets.UTF_8));
              }
            })
            .build());
        caches.put(name, cache);
        long begin = System.nanoTime();
        cache.start();
        ready.await();
        say("held " + name + " " + (System.nanoTime() - begin) + " " + cache.size());
        return;
      case "drop":
        caches.remove(name).close();
        say("done drop " + name);
        return;
      default:
        say("error what is " + words[0] + "?");
    }
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}

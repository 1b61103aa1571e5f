import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;

/**
 * Curator's newest cache of a tree, for comparisons. Commands has the arguments and the form of a command. "hold" keeps
 * the tree at a path and says how many nanoseconds it took to read it; the data of its top are said
 * whenever they change; "drop" ends it.
 */
public final class Caches {
  private static CuratorFramework client;
  private static final Map<String, CuratorCache> caches = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    client = Commands.client(args);
    Commands.run(client, Caches::obey);
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
                Commands.say("top " + name + " " + new String(now.getData(), StandardCharsets.UTF_8));
              }
            })
            .build());
        caches.put(name, cache);
        long begin = System.nanoTime();
        cache.start();
        ready.await();
        Commands.say("held " + name + " " + (System.nanoTime() - begin) + " " + cache.size());
        return;
      case "drop":
        caches.remove(name).close();
        Commands.say("done drop " + name);
        return;
      default:
        Commands.unknown(words);
    }
  }
}

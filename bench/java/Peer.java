import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.KeeperException;

/**
 * Curator's side of the comparison. Its commands and answers are those of package peer. Arguments: the servers, the session
 * timeout in milliseconds. The end of its input ends it.
 */
public final class Peer {
  private static int timeout;
  private static String servers;
  private static CuratorFramework first;
  private static CuratorFramework second;
  private static Run run;

  /** A participant of a line. One thread uses it. */
  interface Place {
    void acquire() throws Exception;

    void release() throws Exception;
  }

  /** A scenario that was prepared: go returns the samples as JSON. */
  static final class Run {
    Callable<String> go;
    Callable<Void> clean = () -> null;
  }

  static final class Unsupported extends Exception {
    Unsupported(String what) {
      super(what);
    }
  }

  public static void main(String[] args) throws Exception {
    servers = args[0];
    timeout = Integer.parseInt(args[1]);
    first = open();
    second = open();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(answer(line.split(" ")));
      System.out.flush();
    }
    first.close();
    second.close();
    System.exit(0);
  }

  private static String answer(String[] words) {
    try {
      switch (words[0]) {
        case "versions":
          return "{\"versions\":\"" + versions() + "\"}";
        case "prepare":
          run = prepare(words[1], words[2], words[3], Integer.parseInt(words[4]));
          return "{}";
        case "go":
          return "{\"samples\":{" + run.go.call() + "}}";
        case "clean":
          Run last = run;
          run = null;
          last.clean.call();
          return "{}";
        default:
          return "{\"error\":\"no command\"}";
      }
    } catch (Unsupported e) {
      return "{\"unsupported\":\"" + e.getMessage() + "\"}";
    } catch (Throwable e) {
      e.printStackTrace();
      return "{\"error\":\"" + e.toString().replaceAll("[^ -~]|[\"\\\\]", "?") + "\"}";
    }
  }

  private static String versions() {
    return "Curator " + System.getProperty("release") + ", Java " + System.getProperty("java.version");
  }

  static CuratorFramework open() throws Exception {
    CuratorFramework client = CuratorFrameworkFactory.newClient(servers, timeout, timeout, new RetryForever(50));
    client.start();
    client.blockUntilConnected();
    return client;
  }

  static void directory(CuratorFramework client, String path) throws Exception {
    try {
      client.create().creatingParentsIfNeeded().forPath(path, new byte[0]);
    } catch (KeeperException.NodeExistsException e) {
      // that is what was wanted
    }
  }

  private static Run prepare(String scenario, String recipe, String path, int n) throws Exception {
    directory(first, path);
    switch (scenario) {
      case "cycle":
        return Scenarios.cycle(first, recipe, path, n);
      case "hand-over":
        return Scenarios.handOver(first, second, recipe, path, n);
      case "line":
      case "line-own":
        return Scenarios.line(first, recipe, path, n, scenario.equals("line-own"));
      case "fresh":
      case "existing":
      case "release":
        return Scenarios.many(first, recipe, path, n, scenario);
      case "clients":
        return Scenarios.clients(recipe, path, n);
      default:
        throw new Unsupported("no scenario " + scenario);
    }
  }

  static Place place(CuratorFramework client, String recipe, String path) throws Unsupported {
    switch (recipe) {
      case "mutex":
        return new Lock(new InterProcessMutex(client, path));
      case "read":
        return new Lock(new InterProcessReadWriteLock(client, path).readLock());
      case "write":
        return new Lock(new InterProcessReadWriteLock(client, path).writeLock());
      case "latch":
        return new Latch(client, path);
      case "selector":
        return new Selector(client, path);
      case "semaphore":
        return new Semaphore(client, path);
      case "barrier":
        return new Barrier(client, path);
      default:
        throw new Unsupported("no recipe " + recipe);
    }
  }

  static final class Lock implements Place {
    private final InterProcessMutex mutex;

    Lock(InterProcessMutex mutex) {
      this.mutex = mutex;
    }

    public void acquire() throws Exception {
      mutex.acquire();
    }

    public void release() throws Exception {
      mutex.release();
    }
  }

  /** A new latch for each term: Curator's cannot be started twice. */
  static final class Latch implements Place {
    private final CuratorFramework client;
    private final String path;
    private LeaderLatch latch;

    Latch(CuratorFramework client, String path) {
      this.client = client;
      this.path = path;
    }

    public void acquire() throws Exception {
      latch = new LeaderLatch(client, path);
      latch.start();
      latch.await();
    }

    public void release() throws Exception {
      latch.close();
    }
  }

  /** A new selector for each term. Its release ends when the term has, and its node is deleted. */
  static final class Selector implements Place {
    private final CuratorFramework client;
    private final String path;
    private LeaderSelector selector;
    private CountDownLatch leave;
    private ExecutorService thread;
    private Future<?> term;

    Selector(CuratorFramework client, String path) {
      this.client = client;
      this.path = path;
    }

    public void acquire() throws Exception {
      CountDownLatch leads = new CountDownLatch(1);
      CountDownLatch end = new CountDownLatch(1);
      leave = end;
      thread = Executors.newSingleThreadExecutor();
      selector = new LeaderSelector(client, path, thread, new LeaderSelectorListenerAdapter() {
        @Override
        public void takeLeadership(CuratorFramework c) throws Exception {
          leads.countDown();
          end.await();
        }
      });
      selector.start();
      leads.await();
      term = thread.submit(() -> { }); // runs after the term
    }

    public void release() throws Exception {
      leave.countDown();
      term.get();
      selector.close();
      thread.shutdown();
    }
  }

  static final class Semaphore implements Place {
    private final InterProcessSemaphoreV2 semaphore;
    private Lease lease;

    Semaphore(CuratorFramework client, String path) {
      semaphore = new InterProcessSemaphoreV2(client, path, 1);
    }

    public void acquire() throws Exception {
      lease = semaphore.acquire();
    }

    public void release() throws Exception {
      lease.close();
    }
  }

  /** Both members of a double barrier. */
  static final class Barrier implements Place {
    private final DistributedDoubleBarrier one;
    private final DistributedDoubleBarrier other;

    Barrier(CuratorFramework client, String path) {
      one = new DistributedDoubleBarrier(client, path, 2);
      other = new DistributedDoubleBarrier(client, path, 2);
    }

    public void acquire() throws Exception {
      CompletableFuture<Throwable> second = inThread(other::enter);
      one.enter();
      fail(second.get());
    }

    public void release() throws Exception {
      CompletableFuture<Throwable> second = inThread(other::leave);
      one.leave();
      fail(second.get());
    }
  }

  interface Action {
    void run() throws Exception;
  }

  /** Runs an action in a thread of its own. The future has what it threw, or null. */
  static CompletableFuture<Throwable> inThread(Action action) {
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    Thread thread = new Thread(() -> {
      try {
        action.run();
        end.complete(null);
      } catch (Throwable e) {
        end.complete(e);
      }
    });
    thread.setDaemon(true);
    thread.start();
    return end;
  }

  static void fail(Throwable e) throws Exception {
    if (e != null) {
      throw new Exception(e);
    }
  }

  static String samples(String name, List<Long> nanos) {
    StringBuilder text = new StringBuilder("\"" + name + "\":[");
    for (int i = 0; i < nanos.size(); i++) {
      text.append(i == 0 ? "" : ",").append(nanos.get(i));
    }
    return text.append("]").toString();
  }

  static List<Long> one(long nanos) {
    List<Long> list = new ArrayList<>();
    list.add(nanos);
    return list;
  }

  private Peer() {}
}

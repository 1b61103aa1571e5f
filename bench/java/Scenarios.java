import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;

/** The scenarios, as package peer has them in Go. */
final class Scenarios {
  private static final int SETTLE = 250; // milliseconds, after the last participant has queued
  private static final int WORKERS = 64;
  private static final long QUEUED = TimeUnit.MINUTES.toNanos(2);

  static Peer.Run cycle(CuratorFramework client, String recipe, String path, int n) throws Exception {
    Peer.Place place = Peer.place(client, recipe, path);
    Peer.Run run = new Peer.Run();
    run.go = () -> {
      List<Long> acquired = new ArrayList<>();
      List<Long> released = new ArrayList<>();
      List<Long> whole = new ArrayList<>();
      for (int i = 0; i < n; i++) {
        long begin = System.nanoTime();
        place.acquire();
        long leads = System.nanoTime();
        place.release();
        long end = System.nanoTime();
        acquired.add(leads - begin);
        released.add(end - leads);
        whole.add(end - begin);
      }
      return Peer.samples("acquire", acquired) + "," + Peer.samples("release", released) + "," + Peer.samples("whole", whole);
    };
    return run;
  }

  /** A thread that acquires, and releases when it may: the mutex of a thread is released by that thread. */
  private static final class Waiter {
    final LinkedBlockingQueue<Long> granted = new LinkedBlockingQueue<>();
    final CountDownLatch leave = new CountDownLatch(1);
    CompletableFuture<Throwable> end;

    void start(Peer.Place place) {
      end = Peer.inThread(() -> {
        place.acquire();
        granted.add(System.nanoTime());
        leave.await();
        place.release();
      });
      end.thenAccept(e -> {
        if (e != null) {
          granted.add(0L); // wakes whoever waits: the error is in end
        }
      });
    }
  }

  static Peer.Run handOver(CuratorFramework first, CuratorFramework second, String recipe, String path, int n) throws Exception {
    List<Peer.Place> leaders = new ArrayList<>();
    List<Waiter> waiters = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      String line = path + "/" + i;
      Peer.directory(first, line);
      Peer.Place leader = Peer.place(first, recipe, line);
      leader.acquire();
      leaders.add(leader);
      Waiter waiter = new Waiter();
      waiter.start(Peer.place(second, recipe, line));
      waiters.add(waiter);
      awaitChildren(second, line, 2);
    }
    Thread.sleep(SETTLE);
    Peer.Run run = new Peer.Run();
    run.go = () -> {
      List<Long> handed = new ArrayList<>();
      for (int i = 0; i < n; i++) {
        long begin = System.nanoTime();
        leaders.get(i).release();
        long at = waiters.get(i).granted.take();
        if (at < begin) {
          throw new Exception("two lead, or the waiter failed, at " + path + "/" + i);
        }
        handed.add(at - begin);
      }
      return Peer.samples("handed", handed);
    };
    run.clean = () -> {
      for (Waiter waiter : waiters) {
        waiter.leave.countDown();
      }
      for (Waiter waiter : waiters) {
        Peer.fail(waiter.end.get());
      }
      return null;
    };
    return run;
  }

  static Peer.Run line(CuratorFramework first, String recipe, String path, int n, boolean own) throws Exception {
    List<CuratorFramework> clients = new ArrayList<>();
    if (own) {
      clients = open(n + 1);
    }
    List<CuratorFramework> opened = clients;
    Peer.Place head = Peer.place(own ? opened.get(0) : first, recipe, path);
    head.acquire();
    LinkedBlockingQueue<Long> granted = new LinkedBlockingQueue<>();
    List<CompletableFuture<Throwable>> ends = new ArrayList<>();
    for (int i = 1; i <= n; i++) {
      Peer.Place place = Peer.place(own ? opened.get(i) : first, recipe, path);
      ends.add(Peer.inThread(() -> {
        place.acquire();
        granted.add(System.nanoTime());
        place.release();
      }));
    }
    awaitChildren(first, path, n + 1);
    Thread.sleep(SETTLE);
    Peer.Run run = new Peer.Run();
    run.go = () -> {
      long begin = System.nanoTime();
      head.release();
      long last = begin;
      for (CompletableFuture<Throwable> end : ends) {
        Peer.fail(end.get());
      }
      for (Long at : granted) {
        last = Math.max(last, at);
      }
      return Peer.samples("whole", Peer.one(last - begin));
    };
    run.clean = () -> close(opened);
    return run;
  }

  static Peer.Run many(CuratorFramework client, String recipe, String path, int n, String scenario) throws Exception {
    List<Peer.Place> places = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      places.add(Peer.place(client, recipe, path + "/" + i));
    }
    if (!scenario.equals("fresh")) {
      all(WORKERS, n, i -> Peer.directory(client, path + "/" + i));
    }
    // A mutex belongs to its thread: one for each place, as long as it is held.
    ExecutorService threads = Executors.newCachedThreadPool();
    CountDownLatch leave = new CountDownLatch(1);
    Peer.Run run = new Peer.Run();
    List<Future<?>> ends = new ArrayList<>();
    Peer.Action acquire = () -> {
      CountDownLatch lead = new CountDownLatch(n);
      for (Peer.Place place : places) {
        ends.add(threads.submit(() -> {
          try {
            place.acquire();
          } finally {
            lead.countDown();
          }
          leave.await();
          place.release();
          return null;
        }));
      }
      lead.await();
    };
    Peer.Action release = () -> {
      leave.countDown();
      for (Future<?> end : ends) {
        end.get();
      }
    };
    if (scenario.equals("release")) {
      acquire.run();
      run.go = () -> timed(release);
      run.clean = () -> {
        threads.shutdown();
        return null;
      };
      return run;
    }
    run.go = () -> timed(acquire);
    run.clean = () -> {
      release.run();
      threads.shutdown();
      return null;
    };
    return run;
  }

  static Peer.Run clients(String recipe, String path, int n) throws Exception {
    List<CuratorFramework> clients = new ArrayList<>();
    Peer.Run run = new Peer.Run();
    List<Peer.Place> places = new ArrayList<>();
    run.go = () -> timed(() -> {
      all(WORKERS, n, i -> {
        CuratorFramework client = Peer.open();
        synchronized (clients) {
          clients.add(client);
        }
        Peer.directory(client, path + "/" + i);
        Peer.Place place = Peer.place(client, recipe, path + "/" + i);
        place.acquire();
        synchronized (places) {
          places.add(place);
        }
      });
    });
    run.clean = () -> close(clients);
    return run;
  }

  private static String timed(Peer.Action action) throws Exception {
    long begin = System.nanoTime();
    action.run();
    return Peer.samples("whole", Peer.one(System.nanoTime() - begin));
  }

  interface Numbered {
    void run(int i) throws Exception;
  }

  /** Runs an action for 0 to n-1, at most so many at a time. */
  private static void all(int atOnce, int n, Numbered action) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(Math.min(n, atOnce));
    List<Future<?>> ends = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      int number = i;
      ends.add(threads.submit(() -> {
        action.run(number);
        return null;
      }));
    }
    threads.shutdown();
    for (Future<?> end : ends) {
      end.get();
    }
  }

  private static List<CuratorFramework> open(int n) throws Exception {
    CuratorFramework[] clients = new CuratorFramework[n];
    all(WORKERS, n, i -> clients[i] = Peer.open());
    return List.of(clients);
  }

  private static Void close(List<CuratorFramework> clients) throws Exception {
    if (!clients.isEmpty()) {
      all(WORKERS, clients.size(), i -> clients.get(i).close());
    }
    return null;
  }

  private static void awaitChildren(CuratorFramework client, String path, int want) throws Exception {
    long end = System.nanoTime() + QUEUED;
    for (int got = client.getChildren().forPath(path).size(); got != want; got = client.getChildren().forPath(path).size()) {
      if (System.nanoTime() > end) {
        throw new Exception(got + " of " + want + " are in line at " + path);
      }
      Thread.sleep(2);
    }
  }

  private Scenarios() {}
}

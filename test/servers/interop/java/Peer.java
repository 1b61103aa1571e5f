import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Curator's side of a shared election. Commands has the arguments and the form of a command. */
public final class Peer {
  private static CuratorFramework elections;
  private static ZooKeeper journal;
  private static String entries;
  private static final Map<String, Member> members = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    entries = args[3];
    CountDownLatch there = new CountDownLatch(1);
    journal = new ZooKeeper(args[1], 40000, event -> there.countDown());
    there.await();
    elections = Commands.client(args);
    elections.getConnectionStateListenable().addListener((c, state) -> Commands.say("connection " + state));
    Commands.run(elections, Peer::obey);
  }

  private static void obey(String[] words) throws Exception {
    switch (words[0]) {
      case "join":
        members.put(words[2], member(words[1], words[2], words[3]));
        members.get(words[2]).start();
        return;
      case "yield":
        members.get(words[1]).yield();
        return;
      case "lower":
        ((Mutex) members.get(words[1])).lower();
        return;
      case "leave":
        members.remove(words[1]).leave();
        Commands.say("left " + words[1]);
        return;
      case "close":
        ((Latch) members.get(words[1])).closeFirst();
        return;
      case "line":
        Commands.say("line " + words[1] + " " + members.get(words[1]).line());
        return;
      case "revoke":
        Revoker.attemptRevoke(elections, words[2]);
        Commands.say("asked " + words[1]);
        return;
      case "has":
        Commands.say("has " + words[1] + " " + members.get(words[1]).leads());
        return;
      default:
        Commands.unknown(words);
    }
  }

  private static Member member(String recipe, String id, String path) {
    switch (recipe) {
      case "latch":
        return new Latch(id, path);
      case "mutex":
        return new Mutex(id, path);
      case "revocable":
        Mutex mutex = new Mutex(id, path);
        mutex.mutex.makeRevocable(m -> Commands.say("revoked " + id)); // Curator writes no data then
        return mutex;
      case "read":
      case "write":
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(elections, path, id.getBytes(StandardCharsets.UTF_8));
        return recipe.equals("read")
            ? new Mutex(id, path, "__READ__", lock.readLock(), null)
            : new Mutex(id, path, "__WRIT__", lock.writeLock(), lock.readLock());
      default:
        return new Selector(id, path);
    }
  }

  /** One member of a line, and what it writes into the journal. */
  private abstract static class Member {
    final String id, path, label;
    private boolean inside;

    Member(String id, String path, String label) {
      this.id = id;
      this.path = path;
      this.label = label;
    }

    abstract void start() throws Exception;

    abstract void yield() throws Exception;

    abstract void leave() throws Exception;

    abstract boolean leads();

    abstract Collection<Participant> participants() throws Exception;

    String line() throws Exception {
      return participants().stream()
          .map(p -> p.getId() + (p.isLeader() ? "*" : ""))
          .collect(Collectors.joining(" "));
    }

    /** Writes the beginning of a term, with the node that heads the line. */
    synchronized void enter() {
      if (entries.equals("-")) {
        inside = true;
        Commands.say("leader " + id);
        return;
      }
      try {
        List<String> names =
            journal.getChildren(path, false).stream()
                .filter(n -> n.contains("-" + label))
                .sorted((a, b) -> a.substring(a.length() - 10).compareTo(b.substring(b.length() - 10)))
                .collect(Collectors.toList());
        String first = names.isEmpty() ? "nobody" : names.get(0);
        String data = names.isEmpty() ? "" : new String(journal.getData(path + "/" + first, false, null), StandardCharsets.UTF_8);
        write("enter " + id + " " + first + " " + data);
        inside = true;
        Commands.say("leader " + id + " " + first);
      } catch (Exception e) {
        Commands.say("error enter " + id + ": " + e);
      }
    }

    /** Writes the end of a term, once. */
    synchronized void exit() {
      if (!inside) {
        return;
      }
      inside = false;
      try {
        if (!entries.equals("-")) {
          write("exit " + id);
        }
        Commands.say("stopped " + id);
      } catch (Exception e) {
        Commands.say("error exit " + id + ": " + e);
      }
    }
  }

  private static void write(String entry) throws Exception {
    journal.create(entries + "/e-", entry.getBytes(StandardCharsets.UTF_8), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
  }

  private static final class Latch extends Member implements LeaderLatchListener {
    private final LeaderLatch latch;
    private final Semaphore turns = new Semaphore(0);
    private volatile boolean slow;

    Latch(String id, String path) {
      super(id, path, "latch-");
      latch = new LeaderLatch(elections, path, id, LeaderLatch.CloseMode.NOTIFY_LEADER);
      latch.addListener(this);
    }

    void start() throws Exception {
      latch.start();
    }

    public void isLeader() {
      enter();
    }

    public void notLeader() {
      turns.acquireUninterruptibly(slow ? 1 : 0);
      exit();
    }

    /** A careless program closes while its work runs, and the work takes until the next yield. */
    void closeFirst() {
      slow = true;
      new Thread(
              () -> {
                try {
                  latch.close();
                } catch (Exception e) {
                  Commands.say("error close " + id + ": " + e);
                }
              })
          .start();
    }

    /** A careful program stops its work before it closes: Curator deletes the node first. */
    void yield() throws Exception {
      if (slow) {
        turns.release();
      } else {
        leave();
      }
    }

    void leave() throws Exception {
      exit();
      latch.close();
    }

    boolean leads() {
      return latch.hasLeadership();
    }

    Collection<Participant> participants() throws Exception {
      return latch.getParticipants();
    }
  }

  private static final class Selector extends Member {
    private final LeaderSelector selector;
    private final Semaphore turns = new Semaphore(0);

    Selector(String id, String path) {
      super(id, path, "lock-");
      selector =
          new LeaderSelector(
              elections,
              path,
              new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework client) {
                  enter();
                  try {
                    turns.acquire();
                  } catch (InterruptedException e) {
                    // the connection was suspended: the flag is clear now
                  }
                  exit();
                }
              });
      selector.setId(id);
      selector.autoRequeue();
    }

    void start() {
      selector.start();
    }

    void yield() {
      turns.release();
    }

    void leave() {
      selector.close();
    }

    boolean leads() {
      return selector.hasLeadership();
    }

    Collection<Participant> participants() throws Exception {
      return selector.getParticipants();
    }
  }

  /** Locks again and again; each hold is a term, and lasts until the next yield. */
  private static final class Mutex extends Member {
    private final InterProcessMutex mutex, beside;
    private final Semaphore turns = new Semaphore(0);
    private final Thread thread = new Thread(this::run);
    private volatile boolean held, lowers, over;

    Mutex(String id, String path) {
      this(
          id,
          path,
          "lock-",
          new InterProcessMutex(elections, path) {
            @Override
            protected byte[] getLockNodeBytes() {
              return id.getBytes(StandardCharsets.UTF_8);
            }
          },
          null);
    }

    /** Beside is the reader that a writer may become. */
    Mutex(String id, String path, String label, InterProcessMutex mutex, InterProcessMutex beside) {
      super(id, path, label);
      this.mutex = mutex;
      this.beside = beside;
      // Nobody else tells the holder of a lock that its session may be over.
      elections
          .getConnectionStateListenable()
          .addListener(
              (c, state) -> {
                if (!state.isConnected()) {
                  thread.interrupt();
                }
              });
    }

    void start() {
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      while (!over) {
        Thread.interrupted(); // Curator sets the flag again when it was interrupted
        try {
          elections.blockUntilConnected();
          mutex.acquire();
          held = true;
          enter();
          turns.acquire();
          if (lowers) {
            lowers = false;
            beside.acquire();
            mutex.release();
            Commands.say("lowered " + id);
            turns.acquire();
          }
        } catch (Exception e) {
          // the connection was suspended: the lock may be lost
        }
        held = false;
        exit();
        try {
          if (mutex.isAcquiredInThisProcess()) {
            mutex.release();
          }
          if (beside != null && beside.isAcquiredInThisProcess()) {
            beside.release();
          }
        } catch (Exception e) {
          // the node goes with the session
        }
      }
    }

    void yield() {
      turns.release();
    }

    void lower() {
      lowers = true;
      turns.release();
    }

    void leave() {
      over = true;
      turns.release();
    }

    boolean leads() {
      return held;
    }

    Collection<Participant> participants() throws Exception {
      List<Participant> all = new ArrayList<>();
      for (String node : mutex.getParticipantNodes()) {
        String id = new String(elections.getData().forPath(node), StandardCharsets.UTF_8);
        all.add(new Participant(id, all.isEmpty()));
      }
      return all;
    }
  }
}

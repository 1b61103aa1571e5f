import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedDelayQueue;
import org.apache.curator.framework.recipes.queue.DistributedIdQueue;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.MultiItem;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.state.ConnectionState;

/**
 * Curator's side of shared queues. Commands has the arguments and the form of a command. A queue is opened by
 * "produce" or "consume", with its name, kind and path, and "locked" or "plain".
 */
public final class Queues {
  private static CuratorFramework client;
  private static final Map<String, DistributedQueue<String>> fifo = new ConcurrentHashMap<>();
  private static final Map<String, DistributedPriorityQueue<String>> priority = new ConcurrentHashMap<>();
  private static final Map<String, DistributedDelayQueue<String>> delay = new ConcurrentHashMap<>();
  private static final Map<String, DistributedIdQueue<String>> ids = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    client = Commands.client(args);
    Commands.run(client, Queues::obey);
  }

  private static void obey(String[] words) throws Exception {
    String name = words[1];
    switch (words[0]) {
      case "produce":
        open(name, null, words[2], words[3], words[4]);
        break;
      case "consume":
        open(name, new Teller(name), words[2], words[3], words[4]);
        break;
      case "put":
        put(name, words[2], words.length > 3 ? words[3] : "");
        break;
      case "together":
        List<String> items = new ArrayList<>(List.of(words).subList(2, words.length));
        fifo.get(name).putMulti(new MultiItem<String>() {
          @Override
          public String nextItem() {
            return items.isEmpty() ? null : items.remove(0);
          }
        });
        fifo.get(name).flushPuts(30, TimeUnit.SECONDS);
        break;
      case "race":
        race(name, words[2], words[3], Integer.parseInt(words[4]), Integer.parseInt(words[5]), words[6].equals("one"));
        return;
      case "remove":
        Commands.say("removed " + name + " " + ids.get(name).remove(words[2]));
        return;
      default:
        Commands.unknown(words);
        return;
    }
    Commands.say("done " + words[0] + " " + name);
  }

  private static void open(String name, QueueConsumer<String> consumer, String kind, String path, String locks) throws Exception {
    QueueBuilder<String> builder = QueueBuilder.builder(client, consumer, new Plain(), path);
    if (locks.equals("locked")) {
      builder = builder.lockPath(path + "-locks");
    }
    switch (kind) {
      case "fifo":
        fifo.put(name, builder.buildQueue());
        fifo.get(name).start();
        break;
      case "priority":
        priority.put(name, builder.buildPriorityQueue(0));
        priority.get(name).start();
        break;
      case "delay":
        delay.put(name, builder.buildDelayQueue());
        delay.get(name).start();
        break;
      default:
        ids.put(name, builder.buildIdQueue());
        ids.get(name).start();
    }
  }

  /**
   * Puts so many items of a size, and consumes them if they were put one by one: tells the nanoseconds of both. One more is
   * put before the time is taken.
   */
  private static void race(String name, String path, String locks, int items, int size, boolean one) throws Exception {
    CountDownLatch left = new CountDownLatch(items + 1);
    open(name, null, "fifo", path, locks);
    String item = "x".repeat(size);
    fifo.get(name).put(item);
    fifo.get(name).flushPuts(30, TimeUnit.SECONDS);
    long begin = System.nanoTime();
    for (int i = 0; i < items; i++) {
      fifo.get(name).put(item);
      if (one) {
        fifo.get(name).flushPuts(30, TimeUnit.SECONDS);
      }
    }
    fifo.get(name).flushPuts(60, TimeUnit.SECONDS);
    long put = System.nanoTime();
    if (!one) {
      Commands.say("raced " + name + " " + (put - begin) + " 0 true");
      return;
    }
    open(name + "-consumer", new Counter(left), "fifo", path, locks);
    boolean all = left.await(60, TimeUnit.SECONDS);
    long consumed = System.nanoTime();
    fifo.get(name + "-consumer").close();
    Commands.say("raced " + name + " " + (put - begin) + " " + (consumed - put) + " " + all);
  }

  /** Counts what it consumes. */
  private static final class Counter implements QueueConsumer<String> {
    private final CountDownLatch left;

    Counter(CountDownLatch left) {
      this.left = left;
    }

    @Override
    public void consumeMessage(String item) {
      left.countDown();
    }

    @Override
    public void stateChanged(CuratorFramework client, ConnectionState state) {}
  }

  private static void put(String name, String item, String key) throws Exception {
    if (fifo.containsKey(name)) {
      fifo.get(name).put(item);
      fifo.get(name).flushPuts(30, TimeUnit.SECONDS);
    } else if (priority.containsKey(name)) {
      priority.get(name).put(item, Integer.parseInt(key));
      priority.get(name).flushPuts(30, TimeUnit.SECONDS);
    } else if (delay.containsKey(name)) {
      delay.get(name).put(item, Long.parseLong(key));
      delay.get(name).flushPuts(30, TimeUnit.SECONDS);
    } else {
      ids.get(name).put(item, key);
      ids.get(name).flushPuts(30, TimeUnit.SECONDS);
    }
  }

  /** Tells every item that it consumes. */
  private static final class Teller implements QueueConsumer<String> {
    private final String name;

    Teller(String name) {
      this.name = name;
    }

    @Override
    public void consumeMessage(String item) {
      Commands.say("item " + name + " " + item);
    }

    @Override
    public void stateChanged(CuratorFramework client, ConnectionState state) {}
  }

  static final class Plain implements QueueSerializer<String> {
    @Override
    public byte[] serialize(String item) {
      return item.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String deserialize(byte[] bytes) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }
}

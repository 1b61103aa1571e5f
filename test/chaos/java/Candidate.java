import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.RetryForever;

/**
 * A client with Curator's LeaderLatch, which leads and works as worker.go has it: the same words on standard input and
 * output, the same times between one thing and the next. Its one argument is the orders, as there.
 *
 * <p>A latch gives leadership up by its close; the next turn is a new one's. Times are nanoseconds of System.nanoTime, which
 * is the machine's monotonic clock.
 */
public final class Candidate {
    private static final long LOOK_MS = 2, HOLDS_NS = 50_000_000, SAVE_MS = 60, DWELL_MS = 20, AGAIN_MS = 50;

    private static String id, path;
    private static long session;
    private static CuratorFramework client;
    private static Random chance;
    private static PrintWriter toStore;
    private static BufferedReader fromStore;
    private static volatile LeaderLatch latch;
    private static volatile boolean hold = true;
    private static final CountDownLatch ending = new CountDownLatch(1), ended = new CountDownLatch(1);

    public static void main(String[] args) throws Exception {
        String[] orders = args[0].split("\\|", -1);
        id = orders[1];
        path = orders[3];
        session = Long.parseLong(orders[4]);
        chance = new Random(Long.parseUnsignedLong(orders[8]));
        int colon = orders[7].lastIndexOf(':');
        Socket store = new Socket(orders[7].substring(0, colon), Integer.parseInt(orders[7].substring(colon + 1)));
        store.setTcpNoDelay(true);
        toStore = new PrintWriter(store.getOutputStream(), true, StandardCharsets.UTF_8);
        fromStore = new BufferedReader(new InputStreamReader(store.getInputStream(), StandardCharsets.UTF_8));
        toStore.println("hello curator " + id);
        client = CuratorFrameworkFactory.newClient(orders[2], (int) session, 2000, new RetryForever(200));
        client.start();
        daemon(Candidate::look);
        daemon(Candidate::run);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            obey(line.substring(line.indexOf(' ') + 1)); // "curator WORD"
        }
        Runtime.getRuntime().halt(0);
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    private static void obey(String word) throws Exception {
        switch (word) {
            case "clock":
                say("clock " + System.nanoTime());
                break;
            case "hold":
            case "rotate":
                hold = word.equals("hold");
                break;
            default: // "leave"
                ending.countDown();
                ended.await();
                client.close();
                say("left");
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static boolean believes() {
        LeaderLatch now = latch;
        return now != null && now.hasLeadership();
    }

    private static void look() {
        boolean held = false;
        long last = 0, told = 0;
        while (true) {
            sleep(LOOK_MS);
            long before = System.nanoTime();
            boolean holds = believes();
            long after = System.nanoTime();
            if (holds && !held) {
                say("leads " + after);
                last = after;
                told = after;
            } else if (holds) {
                last = before;
                if (last - told > HOLDS_NS) {
                    say("holds " + last);
                    told = last;
                }
            } else if (held) {
                say("stops " + last);
            }
            held = holds;
        }
    }

    private static void run() {
        try {
            while (ending.getCount() > 0) {
                latch = new LeaderLatch(client, path, id);
                latch.start();
                boolean yields = false;
                while (!yields && ending.getCount() > 0) {
                    if (latch.hasLeadership()) {
                        yields = term();
                    } else {
                        sleep(LOOK_MS);
                    }
                }
                latch.close();
            }
        } catch (Exception e) {
            say("error " + e);
        } finally {
            ended.countDown();
        }
    }

    /** How long the next term is to be, in milliseconds: some end soon, most last until something happens. */
    private static long length() {
        if (chance.nextInt(5) < 2) {
            return 150 + (long) (chance.nextDouble() * session / 4);
        }
        return session + (long) (chance.nextDouble() * 5 * session);
    }

    private static boolean term() throws IOException {
        long enough = System.nanoTime() + length() * 1_000_000;
        long value = ask("load", 0);
        while (true) {
            sleep(SAVE_MS);
            if (ending.getCount() == 0 || !hold && System.nanoTime() - enough > 0) {
                return true;
            }
            if (!believes()) {
                return false;
            }
            sleep(DWELL_MS);
            value = ask("save", value + 1);
        }
    }

    private static long ask(String verb, long value) throws IOException {
        say("call " + verb + " " + value + " " + System.nanoTime());
        toStore.println(verb + " 0 " + value);
        String[] answer = fromStore.readLine().split(" ");
        long heard = Long.parseLong(answer[1]);
        say("heard " + answer[0] + " " + heard + " " + System.nanoTime());
        return heard;
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

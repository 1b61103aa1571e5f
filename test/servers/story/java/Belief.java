import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.RetryForever;

/**
 * Curator's LeaderLatches, and a stopwatch on what they say of themselves.
 *
 * <p>Commands on standard input, one to a line: "open NAME SERVERS TIMEOUT_MS PATH" starts a latch; "clock" asks for the
 * time. Lines on standard output, times in nanoseconds of the machine's monotonic clock: "clock NOW"; "leads NAME AFTER BY"
 * and "stops NAME AFTER BY", of a change that came after one look and by the next. The end of the input is the end.
 */
public final class Belief {
    private static final class Latch {
        final String name;
        final CuratorFramework client;
        final LeaderLatch latch;
        boolean leads;
        long looked = System.nanoTime();

        Latch(String[] words) throws Exception {
            name = words[1];
            int timeout = Integer.parseInt(words[3]);
            client = CuratorFrameworkFactory.newClient(words[2], timeout, 2000, new RetryForever(200));
            client.start();
            latch = new LeaderLatch(client, words[4], name);
            latch.start();
        }

        void look() {
            long before = System.nanoTime();
            boolean now = latch.hasLeadership();
            long after = System.nanoTime();
            if (now != leads) {
                say((now ? "leads " : "stops ") + name + " " + looked + " " + after);
            }
            leads = now;
            looked = before;
        }
    }

    private static final List<Latch> latches = new ArrayList<>();

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        Thread sampler = new Thread(Belief::sample);
        sampler.setDaemon(true);
        sampler.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("clock")) {
                say("clock " + System.nanoTime());
                continue;
            }
            Latch latch = new Latch(words);
            synchronized (latches) {
                latches.add(latch);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void sample() {
        try {
            while (true) {
                synchronized (latches) {
                    for (Latch latch : latches) {
                        latch.look();
                    }
                }
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

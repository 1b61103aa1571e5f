import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Loads classes that the other programs load, without a server, and ends: the virtual machine archives them for those. */
public final class Warm {
  public static void main(String[] args) throws Exception {
    CuratorFramework client = Commands.client(new String[] {"127.0.0.1:1", "", "5000"});
    client.start();
    new LeaderLatch(client, "/warm").start();
    new InterProcessMutex(client, "/warm");
    client.blockUntilConnected(200, TimeUnit.MILLISECONDS); // it loads more when it is refused
    System.exit(0);
  }
}

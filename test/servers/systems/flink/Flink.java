import java.util.Map;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.leaderelection.LeaderElectionDriver;
import org.apache.flink.runtime.leaderelection.LeaderInformation;
import org.apache.flink.runtime.leaderelection.LeaderInformationRegister;
import org.apache.flink.runtime.leaderelection.ZooKeeperLeaderElectionDriverFactory;
import org.apache.flink.runtime.util.ZooKeeperUtils;

/**
 * Flink is one driver of Flink's leader election, as a job manager has one. Its arguments: the servers, its name, the session timeout
 * in milliseconds, the cluster. It says "grant", "published", "revoke", and "error". In each term it publishes an address,
 * "akka://NAME".
 */
public class Flink {
  static LeaderElectionDriver driver;
  static String name;

  static synchronized void publish(UUID term) {
    driver.publishLeaderInformation("jobmanager", LeaderInformation.known(term, "akka://" + name));
    Program.say("published " + term);
  }

  static class Listener implements LeaderElectionDriver.Listener {
    public void onGrantLeadership(UUID term) {
      Program.say("grant " + term);
      new Thread(() -> publish(term)).start(); // as the election service does, on a thread of its own
    }

    public void onRevokeLeadership() {
      Program.say("revoke");
    }

    public void onLeaderInformationChange(String component, LeaderInformation information) {}

    public void onLeaderInformationChange(LeaderInformationRegister register) {}

    public void onError(Throwable error) {
      Program.say("error " + error);
    }
  }

  public static void main(String[] a) throws Exception {
    name = a[1];
    Configuration c = new Configuration();
    c.setString("high-availability.type", "zookeeper");
    c.setString("high-availability.storageDir", "file:./storage");
    c.setString("high-availability.zookeeper.quorum", a[0]);
    c.setString("high-availability.zookeeper.client.session-timeout", a[2]);
    c.setString("high-availability.zookeeper.client.retry-wait", "500");
    c.setString("high-availability.cluster-id", a[3]);
    var curator = ZooKeeperUtils.startCuratorFramework(c, error -> Program.say("error " + error));
    synchronized (Flink.class) {
      driver = new ZooKeeperLeaderElectionDriverFactory(curator.asCuratorFramework()).create(new Listener());
    }
    Program.serve(Map.of());
  }
}

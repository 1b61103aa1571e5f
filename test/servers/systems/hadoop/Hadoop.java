import java.util.Collections;
import java.util.Map;
import org.apache.hadoop.ha.ActiveStandbyElector;
import org.apache.zookeeper.ZooDefs;

/**
 * Hadoop is one elector of Hadoop's high availability, as its failover controllers have one. Its arguments: the servers, the parent
 * of the lock, its name, the session timeout in milliseconds. It says "active", "standby", "neutral" and "fence NAME".
 */
public class Hadoop {
  static class Callback implements ActiveStandbyElector.ActiveStandbyElectorCallback {
    public void becomeActive() {
      Program.say("active");
    }

    public void becomeStandby() {
      Program.say("standby");
    }

    public void enterNeutralMode() {
      Program.say("neutral");
    }

    public void notifyFatalError(String message) {
      Program.say("fatal " + message);
    }

    public void fenceOldActive(byte[] data) {
      Program.say("fence " + new String(data));
    }
  }

  public static void main(String[] a) throws Exception {
    ActiveStandbyElector elector = new ActiveStandbyElector(a[0], Integer.parseInt(a[3]), a[1], ZooDefs.Ids.OPEN_ACL_UNSAFE,
        Collections.emptyList(), new Callback(), 5, null);
    elector.ensureParentZNode();
    Program.serve(Map.of("join", words -> {
      elector.joinElection(a[2].getBytes());
      return "";
    }, "quit", words -> {
      elector.quitElection(false);
      return "";
    }));
  }
}

import java.util.Map;
import org.apache.helix.HelixManager;
import org.apache.helix.HelixManagerFactory;
import org.apache.helix.InstanceType;
import org.apache.helix.NotificationContext;
import org.apache.helix.model.Message;
import org.apache.helix.participant.statemachine.StateModel;
import org.apache.helix.participant.statemachine.StateModelFactory;
import org.apache.helix.participant.statemachine.StateModelInfo;
import org.apache.helix.participant.statemachine.Transition;
import org.apache.helix.tools.ClusterSetup;

/**
 * HelixSystem is a controller or a participant of a cluster, with the arguments "CONTROLLER" or "PARTICIPANT", the servers, the cluster
 * and its name. "setup", the servers, the cluster and the names of two participants makes the cluster, with a resource of four
 * partitions.
 */
public class HelixSystem {
  /** States is what a participant does for a partition: nothing. Helix keeps the states. */
  @StateModelInfo(initialState = "OFFLINE", states = {"MASTER", "SLAVE", "OFFLINE"})
  public static class States extends StateModel {
    @Transition(from = "OFFLINE", to = "SLAVE")
    public void follow(Message m, NotificationContext c) {}

    @Transition(from = "SLAVE", to = "MASTER")
    public void lead(Message m, NotificationContext c) {}

    @Transition(from = "MASTER", to = "SLAVE")
    public void yield(Message m, NotificationContext c) {}

    @Transition(from = "SLAVE", to = "OFFLINE")
    public void stop(Message m, NotificationContext c) {}

    @Transition(from = "OFFLINE", to = "DROPPED")
    public void drop(Message m, NotificationContext c) {}
  }

  static class Factory extends StateModelFactory<States> {
    public States createNewStateModel(String resource, String partition) {
      return new States();
    }
  }

  public static void main(String[] a) throws Exception {
    if (a[0].equals("setup")) {
      ClusterSetup setup = new ClusterSetup(a[1]);
      setup.addCluster(a[2], true);
      setup.addInstanceToCluster(a[2], a[3]);
      setup.addInstanceToCluster(a[2], a[4]);
      setup.addResourceToCluster(a[2], "db", 4, "MasterSlave", "FULL_AUTO");
      setup.rebalanceStorageCluster(a[2], "db", 2);
      Program.serve(Map.of());
    }
    InstanceType type = InstanceType.valueOf(a[0]);
    HelixManager manager = HelixManagerFactory.getZKHelixManager(a[2], a[3], type, a[1]);
    if (type == InstanceType.PARTICIPANT) {
      manager.getStateMachineEngine().registerStateModelFactory("MasterSlave", new Factory());
    }
    manager.connect();
    Program.serve(Map.of());
  }
}

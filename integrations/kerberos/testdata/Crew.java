import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;

/** Curator's LeaderLatch at args[0], in the line args[1], for each line that it reads: it leads until the next one. */
public final class Crew {
  public static void main(String[] args) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.builder()
            .connectString(args[0])
            .retryPolicy(new RetryForever(100))
            .aclProvider(new CreatorAll())
            .build();
    client.start();
    while (System.in.read() >= 0) {
      LeaderLatch latch = new LeaderLatch(client, args[1], "java");
      latch.start();
      latch.await();
      System.out.println("leads");
      System.in.read();
      latch.close();
      System.out.println("left");
    }
    client.close();
  }

  private static final class CreatorAll implements ACLProvider {
    @Override
    public List<ACL> getDefaultAcl() {
      return ZooDefs.Ids.CREATOR_ALL_ACL;
    }

    @Override
    public List<ACL> getAclForPath(String path) {
      return ZooDefs.Ids.CREATOR_ALL_ACL;
    }
  }
}

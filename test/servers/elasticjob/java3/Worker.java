import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import org.apache.shardingsphere.elasticjob.api.JobConfiguration;
import org.apache.shardingsphere.elasticjob.api.ShardingContext;
import org.apache.shardingsphere.elasticjob.infra.env.IpUtils;
import org.apache.shardingsphere.elasticjob.lite.api.bootstrap.impl.ScheduleJobBootstrap;
import org.apache.shardingsphere.elasticjob.reg.zookeeper.ZookeeperConfiguration;
import org.apache.shardingsphere.elasticjob.reg.zookeeper.ZookeeperRegistryCenter;
import org.apache.shardingsphere.elasticjob.simple.job.SimpleJob;

/**
 * Worker is one instance of a job of ElasticJob 3.0.4. Its arguments: the server, the namespace, the job, the session
 * timeout in milliseconds, the instance's address, the number of items, the cron expression, and how long an item runs, in
 * milliseconds. It prints "ready", and for each item "run N MILLISECONDS" and "done N MILLISECONDS". The line "close" on its
 * standard input ends it in order, the end of that input at once.
 */
public class Worker {
  static long length;

  static synchronized void say(String words) {
    System.out.println(words);
    System.out.flush();
  }

  public static class Job implements SimpleJob {
    public void execute(ShardingContext c) {
      say("run " + c.getShardingItem() + " " + System.currentTimeMillis());
      try {
        Thread.sleep(length);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      say("done " + c.getShardingItem() + " " + System.currentTimeMillis());
    }
  }

  public static void main(String[] a) throws Exception {
    // Several instances run on this host: each is to be a server of its own.
    Field address = IpUtils.class.getDeclaredField("cachedIpAddress");
    address.setAccessible(true);
    address.set(null, a[4]);
    length = Long.parseLong(a[7]);
    ZookeeperConfiguration z = new ZookeeperConfiguration(a[0], a[1]);
    z.setSessionTimeoutMilliseconds(Integer.parseInt(a[3]));
    z.setConnectionTimeoutMilliseconds(Integer.parseInt(a[3]));
    z.setMaxRetries(20);
    ZookeeperRegistryCenter registry = new ZookeeperRegistryCenter(z);
    registry.init();
    ScheduleJobBootstrap job = new ScheduleJobBootstrap(registry, new Job(), JobConfiguration.newBuilder(a[2], Integer.parseInt(a[5]))
        .cron(a[6]).monitorExecution(true).failover(true).misfire(false).reconcileIntervalMinutes(1).build());
    job.schedule();
    say("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals("close")) {
        job.shutdown();
        registry.close();
        say("closed");
        break;
      }
    }
    Runtime.getRuntime().halt(0);
  }
}

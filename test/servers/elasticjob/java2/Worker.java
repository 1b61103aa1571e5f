import com.dangdang.ddframe.job.config.JobCoreConfiguration;
import com.dangdang.ddframe.job.config.simple.SimpleJobConfiguration;
import com.dangdang.ddframe.job.lite.api.JobScheduler;
import com.dangdang.ddframe.job.lite.config.LiteJobConfiguration;
import com.dangdang.ddframe.job.reg.zookeeper.ZookeeperConfiguration;
import com.dangdang.ddframe.job.reg.zookeeper.ZookeeperRegistryCenter;
import com.dangdang.ddframe.job.util.env.IpUtils;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;

/** Worker does for ElasticJob 2.1.5 what java3/Worker does for 3.0.4, with the same arguments and lines. */
public class Worker {
  static long length;

  static synchronized void say(String words) {
    System.out.println(words);
    System.out.flush();
  }

  public static void main(String[] a) throws Exception {
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
    JobCoreConfiguration core = JobCoreConfiguration.newBuilder(a[2], a[6], Integer.parseInt(a[5])).failover(true).misfire(false).build();
    JobScheduler job = new JobScheduler(registry, LiteJobConfiguration.newBuilder(new SimpleJobConfiguration(core, Job.class.getName()))
        .monitorExecution(true).reconcileIntervalMinutes(1).build());
    job.init();
    say("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals("close")) {
        job.getSchedulerFacade().shutdownInstance();
        registry.close();
        say("closed");
        break;
      }
    }
    Runtime.getRuntime().halt(0);
  }
}

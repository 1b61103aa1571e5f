import com.dangdang.ddframe.job.api.ShardingContext;
import com.dangdang.ddframe.job.api.simple.SimpleJob;

/** Job is in a file of its own: 2.1.5 makes it by its class's name. */
public class Job implements SimpleJob {
  public void execute(ShardingContext c) {
    Worker.say("run " + c.getShardingItem() + " " + System.currentTimeMillis());
    try {
      Thread.sleep(Worker.length);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Worker.say("done " + c.getShardingItem() + " " + System.currentTimeMillis());
  }
}

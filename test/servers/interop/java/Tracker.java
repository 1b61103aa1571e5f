import org.apache.curator.ensemble.fixed.FixedEnsembleProvider;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;

/**
 * A client of Curator whose EnsembleTracker follows the servers, and which says each list that it is given. Commands has
 * the arguments and the form of a command.
 */
public final class Tracker {
  private static CuratorFramework client;

  public static void main(String[] args) throws Exception {
    int timeout = Integer.parseInt(args[2]);
    client =
        CuratorFrameworkFactory.builder()
            .ensembleProvider(
                new FixedEnsembleProvider(args[0]) {
                  @Override
                  public void setConnectionString(String servers) {
                    Commands.say("servers " + servers);
                    super.setConnectionString(servers);
                  }
                })
            .sessionTimeoutMs(timeout)
            .connectionTimeoutMs(timeout)
            .retryPolicy(new RetryForever(50))
            .build();
    client.getConnectionStateListenable().addListener((c, state) -> Commands.say("connection " + state));
    Commands.runTogether(client, Tracker::obey);
  }

  private static void obey(String[] words) throws Exception {
    switch (words[0]) {
      case "create":
        Commands.say("created " + client.create().forPath(words[1]));
        return;
      case "remove":
        client.reconfig().leaving(words[1]).forEnsemble();
        Commands.say("removed " + words[1]);
        return;
      default:
        Commands.unknown(words);
    }
  }
}

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;

/**
 * What the programs here share. Their arguments are the servers, the servers of the journal, the session timeout in
 * milliseconds, and the path of the journal ("-": none). Commands come on standard input, one a line: a verb and its operands,
 * separated by single spaces. What happens is written to standard output, one a line. The end of the input is the end of the program.
 */
final class Commands {
  /** Carries one command out. An exception is written as an error, and the program goes on. */
  interface Command {
    void obey(String[] words) throws Exception;
  }

  private Commands() {}

  /** Returns a client with the program's arguments, not started. With -Dcreator=all, what it creates is its user's alone. */
  static CuratorFramework client(String[] args) {
    int timeout = Integer.parseInt(args[2]);
    CuratorFrameworkFactory.Builder builder =
        CuratorFrameworkFactory.builder()
            .connectString(args[0])
            .sessionTimeoutMs(timeout)
            .connectionTimeoutMs(timeout)
            .retryPolicy(new RetryForever(50));
    if ("all".equals(System.getProperty("creator"))) {
      builder.aclProvider(new CreatorAll());
    }
    return builder.build();
  }

  /** The access list of every node, also of the directories that a recipe creates. */
  private static final class CreatorAll implements ACLProvider {
    public List<ACL> getDefaultAcl() {
      return ZooDefs.Ids.CREATOR_ALL_ACL;
    }

    public List<ACL> getAclForPath(String path) {
      return getDefaultAcl();
    }
  }

  /** Starts the client and carries out all commands, one after another. It does not return. */
  static void run(CuratorFramework client, Command command) throws Exception {
    loop(client, line -> attempt(command, line));
  }

  /** Does the same as run, with each command on a thread of its own. */
  static void runTogether(CuratorFramework client, Command command) throws Exception {
    loop(
        client,
        line -> {
          Thread thread = new Thread(() -> attempt(command, line));
          thread.setDaemon(true);
          thread.start();
        });
  }

  private static void loop(CuratorFramework client, Consumer<String> each) throws Exception {
    client.start();
    client.blockUntilConnected();
    say("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      each.accept(line);
    }
    Runtime.getRuntime().halt(0); // no session is closed: it is left to expire
  }

  private static void attempt(Command command, String line) {
    try {
      command.obey(line.split(" "));
    } catch (Exception e) {
      say("error " + line + ": " + e);
    }
  }

  /** Says that there is no such command. */
  static void unknown(String[] words) {
    say("error what is " + words[0] + "?");
  }

  /** Writes one line. */
  static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}

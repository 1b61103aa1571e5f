package org.apache.curator.test;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;

/**
 * Stands before the class of this name in curator-test, which starts servers. These are zkmem's: the hub that the environment names
 * serves one as long as a connection to it is open.
 */
public final class ZooKeeperServerEmbeddedAdapter implements ZooKeeperMainFace {
  private static final String[] PROPERTIES = {
    "zookeeper.DigestAuthenticationProvider.superDigest", "zookeeper.extendedTypesEnabled", "readonlymode.enabled",
    "znode.container.checkIntervalMs", "jute.maxbuffer"
  };

  private Socket hub;
  private int port;

  @Override
  public synchronized void start(QuorumPeerConfigBuilder builder) {
    try {
      Properties settings = builder.buildProperties();
      if (QuorumPeerConfig.isReconfigEnabled()) {
        settings.setProperty("reconfigEnabled", "true");
      }
      List<String> arguments = new ArrayList<>();
      for (String name : PROPERTIES) {
        if (System.getProperty(name) != null) {
          arguments.add("-D" + name + "=" + System.getProperty(name));
        }
      }
      Path dir = Files.createDirectories(Paths.get(settings.getProperty("dataDir")));
      Files.write(dir.resolve("myid"), String.valueOf(builder.getInstanceSpec().getServerId()).getBytes(StandardCharsets.UTF_8));
      Path file = dir.resolve("zoo.cfg");
      List<String> lines = settings.stringPropertyNames().stream().map(n -> n + "=" + settings.getProperty(n)).collect(Collectors.toList());
      arguments.add(Files.write(file, lines).toString());
      open(arguments);
    } catch (Exception e) {
      throw new FailedServerStartException(e);
    }
  }

  private void open(List<String> arguments) throws IOException {
    String[] address = System.getenv("INCUMBENT_SUITES_HUB").split(":");
    hub = new Socket(address[0], Integer.parseInt(address[1]));
    String opening = arguments.stream().map(a -> '"' + a + '"').collect(Collectors.joining(",", "{\"Args\":[", "]}\n"));
    hub.getOutputStream().write(opening.getBytes(StandardCharsets.UTF_8));
    StringBuilder answer = new StringBuilder();
    for (int c = hub.getInputStream().read(); c >= 0 && c != '\n'; c = hub.getInputStream().read()) {
      answer.append((char) c);
    }
    try {
      port = Integer.parseInt(answer.toString());
    } catch (NumberFormatException e) {
      close();
      throw new IOException("the hub says: " + answer);
    }
  }

  @Override
  public synchronized int getClientPort() {
    return port;
  }

  public ServerCnxnFactory getServerCnxnFactory() {
    throw new UnsupportedOperationException("zkmem has none");
  }

  @Override
  public void kill() {
    close();
  }

  /** Returns when the server has ended. */
  @Override
  public synchronized void close() {
    if (hub == null) {
      return;
    }
    try (Socket closing = hub) {
      hub = null;
      closing.shutdownOutput();
      while (closing.getInputStream().read() >= 0) {}
    } catch (IOException e) {
      // the hub has ended, and all its servers
    }
  }
}

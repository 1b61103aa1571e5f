import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.solr.client.solrj.SolrQuery;
import org.apache.solr.client.solrj.impl.CloudHttp2SolrClient;
import org.apache.solr.client.solrj.impl.CloudSolrClient;
import org.apache.solr.client.solrj.request.CollectionAdminRequest;
import org.apache.solr.common.SolrInputDocument;
import org.apache.solr.common.cloud.SolrZkClient;
import org.apache.solr.embedded.JettyConfig;
import org.apache.solr.embedded.JettySolrRunner;

/**
 * SolrSystem is a node of SolrCloud, with the arguments "node", the servers, its port and the session timeout in milliseconds, or a
 * client, with "client" and the servers. The client's commands: "configure FOLDER", "create", which makes a collection of two shards,
 * each with two replicas, and "work N", which adds N documents and searches them.
 */
public class SolrSystem {
  static final String CHROOT = "/solr";

  static void node(String[] a) throws Exception {
    Path home = Path.of("home").toAbsolutePath();
    Files.createDirectories(home);
    Files.writeString(home.resolve("solr.xml"), "<solr><solrcloud><str name=\"host\">127.0.0.1</str><int name=\"hostPort\">" + a[2]
        + "</int><str name=\"hostContext\">solr</str><int name=\"zkClientTimeout\">" + a[3]
        + "</int><int name=\"leaderVoteWait\">5000</int></solrcloud></solr>");
    System.setProperty("zkHost", a[1] + CHROOT);
    System.setProperty("hostPort", a[2]);
    System.setProperty("solr.home", home.toString());
    System.setProperty("solr.install.dir", home.toString());
    new JettySolrRunner(home.toString(), JettyConfig.builder().setContext("/solr").setPort(Integer.parseInt(a[2])).build()).start();
    Program.serve(Map.of());
  }

  static SolrZkClient connect(String servers) {
    return new SolrZkClient.Builder().withUrl(servers).withTimeout(60, TimeUnit.SECONDS).build();
  }

  static String configure(String servers, String folder) throws Exception {
    try (SolrZkClient client = connect(servers)) {
      client.makePath(CHROOT, true);
    }
    try (SolrZkClient client = connect(servers + CHROOT)) {
      for (String file : new String[] {"solrconfig.xml", "schema.xml"}) {
        client.makePath("/configs/c/" + file, Files.readAllBytes(Path.of(folder, file)), true);
      }
    }
    return "";
  }

  static String work(CloudSolrClient client, int documents) throws Exception {
    String run = UUID.randomUUID().toString();
    List<SolrInputDocument> all = new ArrayList<>();
    for (int i = 0; i < documents; i++) {
      SolrInputDocument one = new SolrInputDocument();
      one.setField("id", run + i);
      one.setField("name", run);
      all.add(one);
    }
    client.add("c", all);
    client.commit("c");
    long found = client.query("c", new SolrQuery("name:" + run)).getResults().getNumFound();
    if (found != documents) {
      throw new Exception("found " + found + " of " + documents);
    }
    return documents + " documents added and found";
  }

  static CloudSolrClient client;

  static CloudSolrClient client(String servers) {
    if (client == null) {
      client = new CloudHttp2SolrClient.Builder(List.of(servers), Optional.of(CHROOT)).build();
    }
    return client;
  }

  public static void main(String[] a) throws Exception {
    if (a[0].equals("node")) {
      node(a);
    }
    Program.serve(Map.of("configure", w -> configure(a[1], w[1]), "create", w -> {
      CollectionAdminRequest.createCollection("c", "c", 2, 2).process(client(a[1]));
      return "";
    }, "work", w -> work(client(a[1]), Integer.parseInt(w[1]))));
  }
}

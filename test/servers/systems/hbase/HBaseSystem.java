import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * HBaseSystem is a master or a region server of HBase, or a client. Its arguments: "master", "region" or "client", the server's port,
 * the session timeout in milliseconds, the folder of the data, and its own port, but for a client. The client's command "work N" puts N
 * rows into a table, scans them, and asks the master how many region servers there are. A server that ends takes its process along.
 */
public class HBaseSystem {
  static final TableName TABLE = TableName.valueOf("t");
  static final byte[] FAMILY = Bytes.toBytes("f");

  static Configuration settings(String[] a) {
    Configuration c = HBaseConfiguration.create();
    c.set("hbase.cluster.distributed", "true");
    c.set("hbase.rootdir", "file://" + a[3]);
    c.set("hbase.wal.provider", "filesystem");
    c.set("hbase.unsafe.stream.capability.enforce", "false");
    c.set("hbase.zookeeper.quorum", "127.0.0.1");
    c.set("hbase.zookeeper.property.clientPort", a[1]);
    c.set("zookeeper.session.timeout", a[2]);
    c.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.ZKConnectionRegistry");
    c.set("hbase.client.retries.number", "60");
    c.set("hbase.client.pause", "250");
    for (String role : new String[] {"master", "regionserver"}) {
      c.set("hbase." + role + ".hostname", "localhost");
      c.set("hbase." + role + ".ipc.address", "127.0.0.1");
      c.set("hbase." + role + ".info.port", "-1");
      c.set("hbase." + role + ".handler.count", "5");
      if (a.length > 4) {
        c.set("hbase." + role + ".port", a[4]);
      }
    }
    return c;
  }

  static void serve(Thread server) throws Exception {
    server.start();
    new Thread(() -> {
      try {
        server.join();
      } catch (InterruptedException e) {
        // the process ends either way
      }
      Runtime.getRuntime().halt(0);
    }).start();
    Program.serve(Map.of());
  }

  static String work(Connection connection, int rows) throws Exception {
    try (Admin admin = connection.getAdmin(); Table table = connection.getTable(TABLE)) {
      if (!admin.tableExists(TABLE)) {
        admin.createTable(
            TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
      }
      String run = UUID.randomUUID() + "-";
      List<Put> all = new ArrayList<>();
      for (int i = 0; i < rows; i++) {
        all.add(new Put(Bytes.toBytes(run + i)).addColumn(FAMILY, Bytes.toBytes("q"), Bytes.toBytes(i)));
      }
      table.put(all);
      int found = 0;
      try (ResultScanner scanner = table.getScanner(new Scan().setStartStopRowForPrefixScan(Bytes.toBytes(run)))) {
        for (Result one : scanner) {
          found += one.size();
        }
      }
      if (found != rows) {
        throw new Exception("found " + found + " of " + rows);
      }
      return rows + " rows put and scanned, region servers: " + admin.getClusterMetrics().getLiveServerMetrics().size();
    }
  }

  static Connection connection;

  public static void main(String[] a) throws Exception {
    Configuration settings = settings(a);
    switch (a[0]) {
      case "master":
        serve(new HMaster(settings));
        break;
      case "region":
        serve(new HRegionServer(settings));
        break;
      default:
        Program.serve(Map.of("work", words -> {
          if (connection == null) {
            connection = ConnectionFactory.createConnection(settings);
          }
          return work(connection, Integer.parseInt(words[1]));
        }));
    }
  }
}

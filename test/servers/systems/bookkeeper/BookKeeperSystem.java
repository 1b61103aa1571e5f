import java.io.FileWriter;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.client.BookKeeperAdmin;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.conf.ServerConfiguration;

/**
 * BookKeeperSystem is a bookie with auto-recovery, with the arguments "bookie", the servers, its port and the session timeout in
 * milliseconds, or a client, with "client", the servers and the timeout. The client's commands: "format", and "work N", which writes N
 * entries to ten ledgers, reads them back, and deletes three of the ledgers, once there are enough bookies.
 */
public class BookKeeperSystem {
  static final byte[] PASSWORD = "password".getBytes();

  static String uri(String servers) {
    return "zk+hierarchical://" + servers.replace(',', ';') + "/ledgers";
  }

  static void bookie(String[] a) throws Exception {
    Properties p = new Properties();
    p.put("bookiePort", a[2]);
    p.put("advertisedAddress", "127.0.0.1");
    p.put("listeningInterface", "lo");
    p.put("allowLoopback", "true");
    p.put("metadataServiceUri", uri(a[1]));
    p.put("zkTimeout", a[3]);
    p.put("journalDirectory", "journal");
    p.put("ledgerDirectories", "ledgers");
    p.put("indexDirectories", "index");
    p.put("httpServerEnabled", "false");
    p.put("autoRecoveryDaemonEnabled", "true");
    p.put("journalSyncData", "false");
    p.put("diskUsageThreshold", "0.99");
    p.put("diskUsageWarnThreshold", "0.98");
    p.put("journalMaxSizeMB", "16");
    p.put("logSizeLimit", "16777216");
    try (Writer w = new FileWriter("bookie.conf")) {
      p.store(w, null);
    }
    new Thread(() -> org.apache.bookkeeper.server.Main.main(new String[] {"-c", "bookie.conf"})).start();
    Program.serve(Map.of());
  }

  static String format(String servers) throws Exception {
    ServerConfiguration c = new ServerConfiguration();
    c.setMetadataServiceUri(uri(servers));
    if (!BookKeeperAdmin.format(c, false, true)) {
      throw new Exception("not formatted");
    }
    return "";
  }

  static String work(BookKeeper client, int entries) throws Exception {
    List<Long> ledgers = new ArrayList<>();
    for (int l = 0; l < 10; l++) {
      LedgerHandle h = client.createLedger(2, 2, 2, BookKeeper.DigestType.CRC32C, PASSWORD);
      for (int i = 0; i < entries / 10; i++) {
        h.addEntry((l + "-" + i).getBytes());
      }
      h.close();
      ledgers.add(h.getId());
    }
    int read = 0;
    for (int l = 0; l < 10; l++) {
      LedgerHandle h = client.openLedger(ledgers.get(l), BookKeeper.DigestType.CRC32C, PASSWORD);
      int i = 0;
      for (var found = h.readEntries(0, h.getLastAddConfirmed()); found.hasMoreElements(); i++) {
        if (new String(found.nextElement().getEntry()).equals(l + "-" + i)) {
          read++;
        }
      }
      h.close();
    }
    for (long ledger : ledgers.subList(0, 3)) {
      client.deleteLedger(ledger);
    }
    if (read != entries) {
      throw new Exception("read " + read + " of " + entries);
    }
    return entries + " entries written and read";
  }

  /** workWhole works once there are enough bookies: one that has just started is known a little later. */
  static String workWhole(BookKeeper client, int entries) throws Exception {
    for (int left = 150; ; left--) {
      try {
        return work(client, entries);
      } catch (BKException.BKNotEnoughBookiesException e) {
        if (left == 0) {
          throw e;
        }
        Thread.sleep(1000);
      }
    }
  }

  public static void main(String[] a) throws Exception {
    if (a[0].equals("bookie")) {
      bookie(a);
    }
    BookKeeper[] client = new BookKeeper[1];
    Program.serve(Map.of("format", w -> format(a[1]), "work", w -> {
      if (client[0] == null) {
        ClientConfiguration c = new ClientConfiguration();
        c.setMetadataServiceUri(uri(a[1]));
        c.setZkTimeout(Integer.parseInt(a[2]));
        client[0] = new BookKeeper(c);
      }
      return workWhole(client[0], Integer.parseInt(w[1]));
    }));
  }
}

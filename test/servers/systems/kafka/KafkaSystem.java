import java.io.FileWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * KafkaSystem is a broker, with the arguments "broker", the servers, its number, its port and the session timeout in milliseconds, or a
 * client, with "client" and the brokers. The client's commands: "topic NAME PARTITIONS", and "work TOPIC MESSAGES REPLICAS", which sends
 * that many messages, receives each of them, and waits until so many replicas are in sync.
 */
public class KafkaSystem {
  static final long SECONDS = 150;

  static void broker(String[] a) throws Exception {
    Properties p = new Properties();
    p.put("broker.id", a[2]);
    p.put("listeners", "PLAINTEXT://127.0.0.1:" + a[3]);
    p.put("log.dirs", "logs");
    p.put("zookeeper.connect", a[1]);
    p.put("zookeeper.session.timeout.ms", a[4]);
    p.put("zookeeper.connection.timeout.ms", "60000");
    p.put("offsets.topic.replication.factor", "2");
    p.put("offsets.topic.num.partitions", "4");
    p.put("group.initial.rebalance.delay.ms", "0");
    try (Writer w = new FileWriter("server.properties")) {
      p.store(w, null);
    }
    Thread server = new Thread(() -> kafka.Kafka.main(new String[] {"server.properties"}));
    server.start();
    Program.serve(Map.of());
  }

  static Properties client(String brokers) {
    Properties p = new Properties();
    p.put("bootstrap.servers", brokers);
    p.put("key.serializer", StringSerializer.class.getName());
    p.put("value.serializer", StringSerializer.class.getName());
    p.put("key.deserializer", StringDeserializer.class.getName());
    p.put("value.deserializer", StringDeserializer.class.getName());
    p.put("acks", "all");
    p.put("delivery.timeout.ms", "140000");
    p.put("auto.offset.reset", "earliest");
    return p;
  }

  static String topic(String brokers, String name, int partitions) throws Exception {
    try (Admin admin = Admin.create(client(brokers))) {
      admin.createTopics(List.of(new NewTopic(name, partitions, (short) 2))).all().get(SECONDS, TimeUnit.SECONDS);
    }
    return "";
  }

  static String work(String brokers, String topic, int messages, int replicas) throws Exception {
    Properties p = client(brokers);
    String run = UUID.randomUUID().toString();
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(p)) {
      List<Future<?>> sent = new ArrayList<>();
      for (int i = 0; i < messages; i++) {
        sent.add(producer.send(new ProducerRecord<>(topic, "" + i, run + i)));
      }
      for (Future<?> one : sent) {
        one.get(SECONDS, TimeUnit.SECONDS);
      }
    }
    Set<String> received = new HashSet<>();
    p.put("group.id", run);
    long end = System.currentTimeMillis() + SECONDS * 1000;
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(p)) {
      consumer.subscribe(List.of(topic));
      while (received.size() < messages && System.currentTimeMillis() < end) {
        for (var record : consumer.poll(Duration.ofMillis(200))) {
          if (record.value().startsWith(run)) {
            received.add(record.value());
          }
        }
      }
      if (received.size() < messages) {
        throw new Exception("received " + received.size() + " of " + messages);
      }
    }
    try (Admin admin = Admin.create(p)) {
      for (int found = -1; found != replicas; Thread.sleep(100)) {
        if (System.currentTimeMillis() > end) {
          throw new Exception(found + " replicas are in sync, want " + replicas);
        }
        found = 0;
        for (var one : admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions()) {
          found += one.isr().size();
        }
      }
    }
    return messages + " messages sent and received";
  }

  public static void main(String[] a) throws Exception {
    if (a[0].equals("broker")) {
      broker(a);
    }
    Program.serve(Map.of("topic", w -> topic(a[1], w[1], Integer.parseInt(w[2])),
        "work", w -> work(a[1], w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3]))));
  }
}

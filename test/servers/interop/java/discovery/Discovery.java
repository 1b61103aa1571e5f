import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.x.discovery.ServiceCache;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceType;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.InstanceSerializer;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.apache.curator.x.discovery.details.ServiceCacheListener;

/** Curator's side of service discovery. Commands has the arguments and the form of a command. */
public final class Discovery {
  /** A payload that both sides know. */
  public static final class Payload {
    public String zone = "";
    public int weight;
  }

  private static ServiceDiscovery<Object> services;
  private static ServiceCache<Object> cache;
  private static final AtomicInteger changes = new AtomicInteger();
  private static final InstanceSerializer<Object> serializer = new JsonInstanceSerializer<>(Object.class);

  public static void main(String[] args) throws Exception {
    CuratorFramework client = Commands.client(args);
    Commands.run(client, words -> obey(client, words));
  }

  private static void obey(CuratorFramework client, String[] words) throws Exception {
    switch (words[0]) {
      case "open": // a base path
        services = ServiceDiscoveryBuilder.builder(Object.class).basePath(words[1]).client(client).serializer(serializer).build();
        services.start();
        break;
      case "register": // a name, an id, a type
        services.registerService(instance(words[1], words[2], ServiceType.valueOf(words[3])));
        break;
      case "unregister":
        services.unregisterService(instance(words[1], words[2], ServiceType.DYNAMIC));
        break;
      case "list": // a name
        Commands.say("listed " + ids(services.queryForInstances(words[1])));
        return;
      case "cache": // a name
        cache = services.serviceCacheBuilder().name(words[1]).build();
        cache.addListener(new ServiceCacheListener() {
          public void cacheChanged() {
            Commands.say("changed " + changes.incrementAndGet() + " " + ids(cache.getInstances()));
          }

          public void stateChanged(CuratorFramework f, ConnectionState s) {}
        });
        cache.start();
        Commands.say("cached " + ids(cache.getInstances()));
        return;
      case "show": // a name, an id
        Commands.say("shown " + show(services.queryForInstance(words[1], words[2])));
        return;
      case "read": // "=" and data in base64
        Commands.say("read " + read(words[1].substring(1)));
        return;
      case "write": // what of testdata/curator-5.9.tsv
        Commands.say("written " + new String(write(words[1]), StandardCharsets.UTF_8));
        return;
      default:
        Commands.unknown(words);
        return;
    }
    Commands.say("done " + words[0]);
  }

  private static ServiceInstance<Object> instance(String name, String id, ServiceType type) throws Exception {
    return ServiceInstance.builder().name(name).id(id).address("10.0.0.9").port(9).serviceType(type).registrationTimeUTC(1).build();
  }

  private static String ids(Iterable<ServiceInstance<Object>> all) {
    TreeSet<String> ids = new TreeSet<>();
    all.forEach(i -> ids.add(i.getId() + (i.isEnabled() ? "" : "(off)")));
    return String.join(" ", ids);
  }

  private static String read(String base64) {
    try {
      return show(serializer.deserialize(Base64.getDecoder().decode(base64)));
    } catch (Exception e) {
      return "fails";
    }
  }

  /** One line with every field that both sides show in the same way. */
  private static String show(ServiceInstance<Object> i) {
    if (i == null) {
      return "fails";
    }
    Object payload = i.getPayload();
    if (payload instanceof Payload) {
      payload = ((Payload) payload).zone + "/" + ((Payload) payload).weight;
    } else if (payload instanceof Map) {
      payload = "object";
    }
    return i.getName() + "|" + i.getId() + "|" + i.getAddress() + "|" + i.getPort() + "|" + i.getSslPort() + "|" + payload + "|"
        + i.getRegistrationTimeUTC() + "|" + i.getServiceType() + "|" + i.isEnabled() + "|"
        + (i.getUriSpec() == null ? null : i.buildUriSpec());
  }

  private static byte[] write(String what) throws Exception {
    Payload both = new Payload();
    both.zone = "eu-1";
    both.weight = 7;
    ServiceInstance<Object> all = ServiceInstance.builder().name("billing").id("billing-1").address("10.0.0.8").port(80).sslPort(443)
        .payload(both).uriSpec(new UriSpec("{scheme}://{address}:{port}/{name}")).registrationTimeUTC(1700000000000L).build();
    switch (what) {
      case "default":
        return serializer.serialize(ServiceInstance.builder().name("orders").id("3abd72da-7366-4499-9dbd-1c7f8cf10dff")
            .address("10.0.0.7").port(8080).registrationTimeUTC(1795720179025L).build());
      case "all":
        return serializer.serialize(all);
      case "enabled":
        return new JsonInstanceSerializer<>(Object.class, false).serialize(all);
      case "text":
        return payload("text");
      case "number":
        return payload(7);
      case "bytes":
        return payload(new byte[] {1, 2, 3});
      case "map":
        return payload(new LinkedHashMap<>(Map.of("zone", "x")));
      case "list":
        return payload(new java.util.ArrayList<>(List.of(1, 2)));
      default:
        throw new IllegalArgumentException(what);
    }
  }

  private static byte[] payload(Object payload) throws Exception {
    return serializer.serialize(
        ServiceInstance.builder().name("n").id("i").address("h").payload(payload).registrationTimeUTC(1).build());
  }
}

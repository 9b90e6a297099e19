package seendb;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.naming.Context;
import javax.naming.NameNotFoundException;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.InitialDirContext;

/** What a name of DNS stands for: srv+http://_seendb._tcp.example.com for the targets of that SRV record (RFC 2782). All threads may share it. */
final class Named {
  private static final Pattern URL = Pattern.compile("srv\\+(https?)://([^:/@?#\\[\\] ]+?)\\.?/?");
  private static final long MS = 1_000_000; // in ns, as what follows
  private static final long AGAIN = 30_000 * MS; // the record is asked for again after so long
  private static final long SOON = 1_000 * MS; // and after so long where no target could be reached, or none is known
  private static final int TARGETS_MOST = 64;
  private static final double LEAST = 0.1; // a weight of 0 is chosen, but seldom

  /** `rank` of its priority: 0 for the first. */
  record Target(String url, int rank, int weight) {}

  private record Place(String host, int port) {}

  final String url;
  private final String scheme;
  private final String name;
  private final String server; // null: the system's
  private final Options.Resolver resolver;
  private List<Target> targets = List.of();
  private String why = "no name server has answered yet";
  private CompletableFuture<Void> asking;
  private long asked = System.nanoTime() - AGAIN - SOON;

  Named(String url, Options options) {
    Matcher parts = URL.matcher(url);
    if (!parts.matches()) throw new IllegalArgumentException(url + " is no srv+http://name or srv+https://name");
    this.url = url;
    scheme = parts.group(1);
    name = parts.group(2);
    server = options.resolver == null ? options.dns : null;
    resolver = options.resolver == null ? this::records : options.resolver;
  }

  synchronized String why() {
    return url + ": " + why;
  }

  synchronized long asked() {
    return asked;
  }

  /** The targets in the order in which they are to be tried: by priority, by chance within it. */
  synchronized List<Target> ranked() {
    Map<Target, Double> keys = new HashMap<>();
    for (Target one : targets) keys.put(one, -Math.log(1 - ThreadLocalRandom.current().nextDouble()) / Math.max(one.weight, LEAST));
    return targets.stream().sorted(Comparator.comparingInt(Target::rank).thenComparing(keys::get)).toList();
  }

  /** Asks again, in a thread, where the answer is old. Gives what to wait for; null: nobody asks. */
  synchronized CompletableFuture<Void> refresh(boolean soon) {
    if (asking == null && System.nanoTime() - asked > (soon ? SOON : AGAIN)) asking = CompletableFuture.runAsync(this::ask, Caller::daemon);
    return asking;
  }

  /** Where no answer comes the former one goes on. */
  private void ask() {
    List<Target> told = null;
    String failure = "the service is not there";
    try {
      told = read(resolver.resolve(name));
    } catch (Exception error) { // a resolver may throw what it likes
      failure = error instanceof NameNotFoundException ? "there is no such name" : String.valueOf(error.getMessage() == null ? error : error.getMessage());
    }
    synchronized (this) {
      if (told != null) targets = told;
      why = failure;
      asked = System.nanoTime();
      asking = null;
    }
  }

  private List<Target> read(List<Options.SrvRecord> records) {
    Map<Place, Options.SrvRecord> told = new LinkedHashMap<>();
    for (Options.SrvRecord one : records.stream().sorted(Comparator.comparingInt(Options.SrvRecord::priority)).toList()) {
      String host = one.target().replaceAll("\\.$", "");
      if (host.isEmpty() && records.size() == 1) return List.of(); // the owner of the name says so
      boolean sound = host.matches("[^/@?#\\[\\] ]+") && one.port() > 0 && one.port() < 1 << 16;
      if (!sound) throw new IllegalArgumentException("a record without a target: " + one);
      if (told.size() < TARGETS_MOST) told.putIfAbsent(new Place(host, one.port()), one);
    }
    if (told.isEmpty()) throw new IllegalArgumentException("there is no such record");
    List<Integer> ranks = told.values().stream().map(Options.SrvRecord::priority).distinct().toList();
    Map<String, String> hosts = new HashMap<>();
    List<Target> found = new ArrayList<>();
    told.forEach((place, one) -> {
      String host = hosts.computeIfAbsent(place.host, this::addressOf);
      found.add(new Target(scheme + "://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + place.port, ranks.indexOf(one.priority()), one.weight()));
    });
    return found;
  }

  /** The name server's word, where one was named; of https the name stays, which the certificate has. */
  private String addressOf(String host) {
    if (server == null || scheme.equals("https")) return host;
    try {
      return query(host, "A").get(0);
    } catch (NamingException | RuntimeException error) {
      return host;
    }
  }

  private List<Options.SrvRecord> records(String asked) throws NamingException {
    List<Options.SrvRecord> found = new ArrayList<>();
    for (String text : query(asked, "SRV")) {
      String[] parts = text.split(" ");
      if (parts.length != 4) throw new NamingException("a record without a target: " + text);
      found.add(new Options.SrvRecord(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), parts[3]));
    }
    return found;
  }

  /** Records as text, by the JDK's module jdk.naming.dns. */
  private List<String> query(String asked, String kind) throws NamingException {
    Hashtable<String, String> environment = new Hashtable<>(Map.of(
        Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory", Context.PROVIDER_URL, server == null ? "dns:" : "dns://" + server,
        "com.sun.jndi.dns.timeout.initial", "1000", "com.sun.jndi.dns.timeout.retries", "2"));
    InitialDirContext context = new InitialDirContext(environment);
    try {
      Attribute told = context.getAttributes(asked + ".", new String[] {kind}).get(kind);
      List<String> found = new ArrayList<>();
      for (int i = 0; told != null && i < told.size(); ++i) found.add(String.valueOf(told.get(i)));
      return found;
    } finally {
      context.close();
    }
  }
}

package seendb;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Which node has a user, and what is remembered of users. */
public final class Routing {
  private Routing() {}

  /** Austin Appleby's MurmurHash2 with Kafka's seed: so Kafka's producers partition. */
  public static int murmur2(byte[] data) {
    final int m = 0x5bd1e995;
    int value = 0x9747b28c ^ data.length;
    final int whole = data.length & ~3;
    for (int at = 0; at < whole; at += 4) {
      int k = (data[at] & 255) | (data[at + 1] & 255) << 8 | (data[at + 2] & 255) << 16 | (data[at + 3] & 255) << 24;
      k *= m;
      k ^= k >>> 24;
      value = value * m ^ k * m;
    }
    if (data.length > whole) {
      int rest = 0;
      for (int at = data.length - 1; at >= whole; --at) rest = rest << 8 | data[at] & 255;
      value = (value ^ rest) * m;
    }
    value = (value ^ value >>> 13) * m;
    return value ^ value >>> 15;
  }

  /** The partition of a user among so many: for producers of topics that SeenDB consumes. */
  public static int partitionOf(Id user, int partitions) {
    return (murmur2(user.toString().getBytes(StandardCharsets.UTF_8)) & 0x7fffffff) % partitions;
  }

  /** What GET /cluster says: of each partition the nodes' URLs, the primary first. */
  static final class Placement {
    private final List<List<String>> urls = new ArrayList<>();

    Placement(JsonNode told) {
      if (!told.path("partitions").isInt()) throw new IllegalArgumentException("no map of a cluster");
      Map<String, String> known = new HashMap<>();
      Set<String> away = new HashSet<>();
      for (JsonNode one : told.path("nodes")) {
        known.put(one.path("node").asText(), Caller.address(one.path("url").asText()));
        if (!one.path("state").asText("up").equals("up")) away.add(one.path("node").asText());
      }
      for (int i = 0; i < told.path("partitions").asInt(); ++i) urls.add(new ArrayList<>());
      for (JsonNode shard : told.path("shards")) {
        List<String> nodes = new ArrayList<>();
        shard.path("replicas").forEach(one -> nodes.add(one.path("node").asText()));
        nodes.retainAll(known.keySet());
        nodes.sort(Comparator.comparing(away::contains)); // those that are up first, the primary before others
        nodes.forEach(node -> urls.get(shard.path("partition").asInt()).add(known.get(node)));
      }
    }

    List<String> urlsOf(Id user) {
      return urls.isEmpty() ? List.of() : urls.get(partitionOf(user, urls.size()));
    }
  }

  /**
   * Of users, the position behind their newest write here ("3:1042": partition and offset; of several partitions with commas): reads
   * send it, and see that write.
   */
  static final class Positions {
    private static final int PARTITIONS_MOST = 8; // a batch of more users than that is not read back user by user
    private static final Pattern PART = Pattern.compile("(\\d{1,9}):(\\d{1,18})");
    private final LastUsers<Map<Integer, Long>> of = new LastUsers<>();

    void note(Collection<String> users, String position) {
      List<MatchResult> told = PART.matcher(position).results().toList();
      if (told.isEmpty() || told.size() > PARTITIONS_MOST) return;
      for (String user : users) {
        of.change(user, before -> {
          Map<Integer, Long> known = new LinkedHashMap<>(before == null ? Map.of() : before);
          for (MatchResult part : told) { // answers may come in another order
            Long earlier = known.remove(Integer.valueOf(part.group(1))); // the one that was noted last comes last
            long offset = Long.parseLong(part.group(2));
            known.put(Integer.valueOf(part.group(1)), earlier == null ? offset : Math.max(earlier, offset));
          }
          while (known.size() > PARTITIONS_MOST) known.remove(known.keySet().iterator().next());
          return known;
        });
      }
    }

    /** null: none is known. */
    String of(String user) {
      Map<Integer, Long> known = of.get(user);
      return known == null ? null : new TreeMap<>(known).entrySet().stream().map(part -> part.getKey() + ":" + part.getValue()).collect(Collectors.joining(","));
    }
  }

  /** Something of each of the last users. */
  static final class LastUsers<T> {
    private static final int USERS_MOST = 10_000;
    private final Map<String, T> of = new LinkedHashMap<>();

    synchronized T get(String user) {
      return of.get(user);
    }

    synchronized void change(String user, UnaryOperator<T> to) {
      T before = of.remove(user);
      of.put(user, to.apply(before));
      while (of.size() > USERS_MOST) of.remove(of.keySet().iterator().next());
    }
  }
}

package seendb;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

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
      Map<String, String> known = new HashMap<>();
      told.path("nodes").forEach(one -> known.put(one.path("node").asText(), one.path("url").asText()));
      for (int i = 0; i < told.path("partitions").asInt(); ++i) urls.add(new ArrayList<>());
      for (JsonNode shard : told.path("shards")) {
        for (JsonNode replica : shard.path("replicas")) {
          String url = known.get(replica.path("node").asText());
          if (url != null) urls.get(shard.path("partition").asInt()).add(url);
        }
      }
    }

    List<String> urlsOf(Id user) {
      return urls.isEmpty() ? List.of() : urls.get(partitionOf(user, urls.size()));
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

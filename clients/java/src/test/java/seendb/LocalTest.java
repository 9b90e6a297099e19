package seendb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** LocalFilter on dumps that the engine made, and against the server that SEENDB_URL names. */
class LocalTest {
  private static final Path VECTORS = Path.of(System.getenv().getOrDefault("SEENDB_CONFORMANCE", "../conformance"), "local", "vectors.json");
  private final Id user = Id.of("java-local-" + UUID.randomUUID());

  private static JsonNode vectors() throws IOException {
    return Caller.JSON.readTree(Files.readAllBytes(VECTORS));
  }

  private static byte[] dumpOf(JsonNode vector) {
    return HexFormat.of().parseHex(vector.path("dump").asText());
  }

  /** Without a server. */
  private LocalFilter localOf(JsonNode vector, LocalFilter.Options options) {
    options.refresh = null;
    LocalFilter local = new LocalFilter(null, user, options, new ItemKey(vector.path("key")));
    local.take(Dump.read(dumpOf(vector), null));
    return local;
  }

  @Test
  void dumpsOfTheEngine() throws IOException {
    JsonNode vectors = vectors();
    assertEquals(4, vectors.size());
    for (JsonNode vector : vectors) {
      List<Id> items = new ArrayList<>();
      Map<Id, Groups> groups = new HashMap<>();
      for (JsonNode one : vector.path("candidates")) {
        Id item = Id.of(one.path("id").asText());
        items.add(item);
        List<String> of = new ArrayList<>();
        one.path("of").forEach(group -> of.add(group.asText()));
        groups.put(item, new Groups(of, one.has("at") ? one.path("at").asLong() : null));
      }
      List<Id> unseen = new ArrayList<>();
      vector.path("unseen").forEach(at -> unseen.add(items.get(at.asInt())));
      Filtered found = localOf(vector, new LocalFilter.Options()).filter(new Question(user, items).groups(groups::get));
      assertEquals(unseen, found.unseen(), vector.path("name").asText());
      assertEquals(List.of(items.size(), 1, items.size() - unseen.size() - 1), List.of(found.examined(), found.duplicates(), found.seen()));
      assertEquals(vector.path("etag").asText(), Dump.read(dumpOf(vector), null).etag);
    }
  }

  @Test
  void whatIsCutOrLongerOrOfAnotherKeyIsRefused() throws IOException {
    for (JsonNode vector : vectors()) {
      byte[] whole = dumpOf(vector);
      for (int cut = 0; cut < Math.min(2_000, whole.length); ++cut) {
        byte[] less = Arrays.copyOf(whole, cut);
        assertEquals("protocol", assertThrows(SeenDBException.class, () -> Dump.read(less, null), "cut at " + cut).code);
      }
      assertThrows(SeenDBException.class, () -> Dump.read(Arrays.copyOf(whole, whole.length + 1), null));
    }
    LocalFilter local = localOf(vectors().get(1), new LocalFilter.Options());
    assertEquals("incompatible", assertThrows(SeenDBException.class, () -> local.take(Dump.read(dumpOf(vectors().get(3)), null))).code);
    assertThrows(SeenDBException.class, () -> new ItemKey(Caller.JSON.readTree("{\"version\":3,\"id\":\"1\",\"secret\":\"\"}")));
  }

  @Test
  void changedBytesAreReadOrRefused() throws IOException {
    byte[] whole = dumpOf(vectors().get(1));
    Random chosen = new Random(7);
    for (int i = 0; i < 20_000; ++i) {
      byte[] other = whole.clone();
      other[chosen.nextInt(other.length)] = (byte) chosen.nextInt();
      try {
        Dump.read(other, null).seen(chosen.nextLong() >>> 16);
      } catch (SeenDBException error) {
        assertEquals("protocol", error.code);
      }
    }
  }

  /** The hashes that other languages have: 0 to 255 bytes, with a key and without. */
  @Test
  void hashesOfTextAndNumbers() throws IOException {
    ItemKey key = new ItemKey(vectors().get(0).path("key"));
    assertEquals(key.of(Id.of(7)), key.of(Id.of("7")));
    assertEquals(key.of(Id.of(-1L)), key.of(Id.of("18446744073709551615")));
    assertNotEquals(key.of(Id.of(7)), key.of(Id.of("07")));
    assertNotEquals(key.of(Id.of(0)), key.of(Id.of("18446744073709551616")));
    byte[] text = new byte[255];
    for (int i = 0; i < text.length; ++i) text[i] = (byte) (31 * i + 7);
    byte[] secret = new byte[192];
    for (int i = 0; i < secret.length; ++i) secret[i] = (byte) i;
    long keyed = 0;
    long seeded = 0;
    for (int size = 0; size <= text.length; ++size) {
      keyed = 31 * keyed + Xxh3.of(Arrays.copyOf(text, size), secret, 0);
      seeded = 31 * seeded + Xxh3.of(Arrays.copyOf(text, size), Xxh3.SECRET, 0x5EE0DB015EE0DB01L);
    }
    assertEquals(List.of(KEYED, SEEDED), List.of(keyed, seeded));
  }

  private static final long KEYED = 0xc923c911f93bbfbcL;
  private static final long SEEDED = 0x98c0c3fbcf05f9e9L;

  @Test
  void whatTheCallerNoted() throws IOException {
    LocalFilter.Options options = new LocalFilter.Options();
    options.keep = Duration.ofMillis(500);
    LocalFilter local = localOf(vectors().get(0), options);
    local.noteServed(List.of(Id.of("s"), Id.of(5)));
    local.notePlayed(List.of(Id.of("p")));
    assertEquals(List.of(Id.of("q")), local.filter(Id.of("s", "5", "p", "q")).unseen());
    long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (local.filter(List.of(Id.of("s"))).unseen().isEmpty() && System.nanoTime() < end) Thread.onSpinWait();
    assertEquals(List.of(Id.of("s")), local.filter(List.of(Id.of("s"))).unseen());
  }

  @Test
  void whatIsForTheServerIsRefused() throws IOException {
    LocalFilter local = localOf(vectors().get(0), new LocalFilter.Options());
    Question plain = new Question(user, Id.of("a", "b", "c"));
    Filtered limited = local.filter(plain.limit(2));
    assertEquals(Id.of("a", "b"), limited.unseen());
    assertEquals(2, limited.examined());
    Map<String, Question> cases = new HashMap<>(Map.of(
        "/user", new Question(Id.of("other"), List.of(Id.of("a"))),
        "/collection", plain.collection("other"),
        "/exclude", plain.exclude(List.of(Id.of("a"))),
        "/exclude_sets", plain.excludeSets("blocked"),
        "/record", plain.recording(),
        "/verify", plain.verified(),
        "/not", plain.not(new NotEntry("exposed")),
        "/caps", plain.caps(new Cap("author", 2, Duration.ofDays(1))),
        "/items/1", plain.items(Id.of("a", ""))));
    cases.put("/collections", plain.collections("default", "other"));
    cases.put("/items/0/same_as", plain.groups(id -> new Groups().sameAs("src:1")));
    cases.forEach((field, asked) -> {
      SeenDBException error = assertThrows(SeenDBException.class, () -> local.filter(asked), field);
      assertEquals("invalid_argument " + field, error.code + " " + error.field);
    });
  }

  // ---- Against a server ----

  private static Client connected() {
    Options options = new Options();
    options.timeout = Duration.ofSeconds(30);
    return new Client(options, System.getenv("SEENDB_URL"));
  }

  private void compare(Client client, LocalFilter local, Question asked) {
    Filtered there = client.filter(asked);
    local.refresh();
    Filtered here = local.filter(asked.collection(null));
    assertEquals(there.unseen(), here.unseen());
    assertEquals(List.of(there.seen(), there.examined(), there.duplicates(), there.undated(), there.degraded()),
        List.of(here.seen(), here.examined(), here.duplicates(), here.undated(), here.degraded()));
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "SEENDB_URL", matches = ".+")
  void answersAsTheServer() {
    Random chosen = new Random(7);
    IntFunction<List<Id>> some = count -> IntStream.range(0, count).mapToObj(i -> {
      long number = chosen.nextInt(20_000);
      return List.of(Id.of(number), Id.of("v" + number), Id.of(Long.MIN_VALUE + number)).get(chosen.nextInt(3));
    }).toList();
    List<Map<String, Object>> policies = List.of(Map.of(), Map.of("representation", "exact"), Map.of("max_filter_bytes", 4096));
    try (Client client = connected()) {
      for (Map<String, Object> policy : policies) {
        String name = "c" + System.nanoTime();
        Map<String, Object> all = new HashMap<>(policy);
        all.put("exposed_is_seen", true);
        all.put("history", Map.of("enabled", true, "deleted_items", "recommend_again"));
        client.putCollection(name, all);
        LocalFilter.Options options = new LocalFilter.Options();
        options.collection = name;
        options.refresh = null;
        LocalFilter local = client.localFilter(user, options);
        IntFunction<Question> page = count -> new Question(user, some.apply(count)).collection(name);
        for (int round = 0; round < 2; ++round) {
          client.recordPlays(some.apply(6_000).stream().map(item -> new Play(user, item)).toList(), name);
          compare(client, local, page.apply(3_000));
          client.call("POST", "/admin/drain", Map.of());
          compare(client, local, page.apply(3_000));
          client.recordImpressions(user, some.apply(50), name);
          client.recordExposures(some.apply(50).stream().map(item -> new Exposure(user, item)).toList(), name);
          client.deleteHistory(user, some.apply(100), name);
        }
        compare(client, local, page.apply(9_000));
        client.call("POST", "/admin/seal", Map.of("collection", name, "bucket", Instant.now().toString().substring(0, 7)));
        compare(client, local, page.apply(9_000));
        client.deleteCollection(name);
      }
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "SEENDB_URL", matches = ".+")
  void marks() {
    try (Client client = connected()) {
      LocalFilter local = client.localFilter(user);
      client.mark(user, "channel:1", Client.ALWAYS);
      client.mark(user, "channel:2", Instant.ofEpochMilli(1_000));
      Map<Id, Groups> groups = Map.of(
          Id.of("a"), new Groups("other", "channel:1"),
          Id.of("b"), new Groups(List.of("channel:1"), 5L),
          Id.of("c"), new Groups("channel:2"),
          Id.of("d"), new Groups(List.of("channel:2"), 1_000L),
          Id.of("e"), new Groups(List.of("channel:2"), 1_001L));
      Question asked = new Question(user, Id.of("a", "b", "c", "d", "e", "f", "a")).groups(groups::get);
      compare(client, local, asked);
      assertEquals(Id.of("c", "e", "f"), local.filter(asked).unseen());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "SEENDB_URL", matches = ".+")
  void refreshesBehindItsAnswers() {
    try (Client client = connected()) {
      LocalFilter.Options options = new LocalFilter.Options();
      options.refresh = Duration.ofMillis(1);
      LocalFilter local = client.localFilter(user, options);
      client.recordPlays(List.of(new Play(user, Id.of("v1"))));
      long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
      while (!local.filter(List.of(Id.of("v1"))).unseen().isEmpty() && System.nanoTime() < end) Thread.onSpinWait();
      assertEquals(List.of(), local.filter(List.of(Id.of("v1"))).unseen());
      assertNull(local.error());
      assertTrue(local.age().compareTo(Duration.ofSeconds(20)) < 0);
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "SEENDB_URL", matches = ".+")
  void withoutAServerTheFormerDumpStays() {
    Client client = connected();
    LocalFilter local = client.localFilter(user);
    client.close();
    assertThrows(SeenDBException.class, local::refresh);
    assertEquals("closed", local.error().code);
    assertEquals(List.of(Id.of("v1")), local.filter(List.of(Id.of("v1"))).unseen());
  }
}

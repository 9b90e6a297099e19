package seendb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Against the server that SEENDB_URL names, which has the role admin for everybody. */
@EnabledIfEnvironmentVariable(named = "SEENDB_URL", matches = ".+")
class ServerTest {
  private final Client client = made();
  private final Id user = Id.of("java-" + UUID.randomUUID());

  private static Client made() {
    Options options = new Options();
    options.timeout = Duration.ofSeconds(30);
    return new Client(options, System.getenv("SEENDB_URL"));
  }

  @Test
  void whatWasPlayedIsSeen() {
    List<Id> ids = List.of(Id.of((1L << 53) + 1), Id.of(-1L), Id.of("007"), Id.of("caf\u00e9"), Id.of("cafe\u0301"), Id.of("a+b"), Id.of("a b"), Id.of("a/b"), Id.of("x".repeat(255)));
    Recorded recorded = client.recordPlays(ids.subList(0, 4).stream().map(item -> new Play(user, item)).toList());
    assertEquals(new Recorded(4, 0, List.of(), false, 0), recorded);
    Filtered found = client.filter(user, ids);
    assertEquals(ids.subList(4, 9), found.unseen());
    assertEquals(List.of(4, 9), List.of(found.seen(), found.examined()));
    for (Id odd : ids) {
      client.recordPlays(List.of(new Play(odd, Id.of("v"))));
      assertTrue(client.erase(odd));
    }
  }

  @Test
  void numbersGoInBinaryAndSayTheSame() {
    List<Id> numbers = LongStream.range(0, 100).mapToObj(Id::of).toList();
    client.recordPlays(LongStream.range(0, 100).filter(n -> n % 3 == 0).mapToObj(n -> new Play(user, Id.of(n))).toList());
    List<Id> unseen = LongStream.range(0, 100).filter(n -> n % 3 != 0).mapToObj(Id::of).toList();
    assertEquals(unseen, client.filter(user, numbers).unseen());
    List<Id> mixed = new ArrayList<>(numbers);
    mixed.add(Id.of("text"));
    List<Id> more = new ArrayList<>(unseen);
    more.add(Id.of("text"));
    assertEquals(more, client.filter(user, mixed).unseen());
    Filtered limited = client.filter(new Question(user, numbers).limit(3).exclude(Id.of(1L, 2L)).recording());
    assertEquals(Id.of(4L, 5L, 7L), limited.unseen());
    assertEquals(2, limited.excluded());
    assertTrue(limited.recorded());
    assertEquals(Map.of("4", "impression"), client.filter(new Question(user, Id.of("4", "8")).explained()).reasons());
  }

  @Test
  void errorsNameTheField() {
    Map<String, Runnable> cases = Map.of(
        "invalid_argument /items/1", () -> client.filter(user, Id.of("v", "")),
        "invalid_argument /user", () -> client.filter(Id.of(""), Id.of("v", "w")),
        "not_found /collection", () -> client.filter(new Question(user, Id.of(1L, 2L)).collection("nowhere")),
        "invalid_argument /events/0/at", () -> client.recordPlays(List.of(new Play(user, Id.of("v"), Instant.ofEpochSecond(1)))),
        "invalid_argument /fpr", () -> client.putCollection("odd", Map.of("fpr", 2)),
        "not_found ", () -> client.call("GET", "/nowhere", null));
    cases.forEach((expected, call) -> {
      SeenDBException error = assertThrows(SeenDBException.class, call::run, expected);
      assertEquals(expected, error.code + " " + error.field);
      assertTrue(error.toString().contains(error.getMessage()));
    });
    RefusedException refused = assertThrows(RefusedException.class, () -> client.recordPlays(List.of(new Play(user, Id.of("v"), Instant.ofEpochSecond(1)))));
    assertEquals(1, refused.recorded.refused());
  }

  @Test
  void pages() {
    List<Id> candidates = IntStream.range(0, 50).mapToObj(i -> Id.of("p" + i)).toList();
    List<Id> all = new ArrayList<>();
    for (int i = 0; i < 3; ++i) all.addAll(client.fillPage(user, candidates, 20, Client.WhenDegraded.FAIL_OPEN));
    assertEquals(candidates, all);
    List<Integer> asked = new ArrayList<>();
    List<Id> found = client.searchUnseen(count -> {
      asked.add(count);
      List<Id> best = new ArrayList<>(candidates);
      best.addAll(Id.of("q1", "q2", "q3", "q4", "q5", "q6"));
      return best.subList(0, Math.min(count, best.size()));
    }, user, 5);
    assertEquals(Id.of("q1", "q2", "q3", "q4", "q5"), found);
    assertEquals(10, asked.get(0));
  }

  @Test
  void history() {
    String name = "c" + System.nanoTime();
    client.putCollection(name, Map.of("history", Map.of("enabled", true)));
    long now = System.currentTimeMillis();
    client.recordPlays(IntStream.range(0, 25).mapToObj(i -> new Play(user, Id.of("h" + i), now - 1_000L * i, 5, null, "tv", Map.of("n", i), null, null)).toList(), name);
    List<String> items = new ArrayList<>();
    String cursor = null;
    do {
      HistoryPage page = client.historyPage(user, name, 10, cursor);
      page.entries().forEach(entry -> items.add(entry.item() + entry.fields().get("n") + entry.progressS()));
      cursor = page.cursor();
    } while (cursor != null);
    assertEquals(IntStream.range(0, 25).mapToObj(i -> "h" + i + i + "5").toList(), items);
    client.deleteHistory(user, Id.of("h3", "h4"), name);
    client.setRecording(user, false);
    assertEquals(23, client.historyPage(user, null, 100, null).entries().size());
    client.clearHistory(user, null);
    assertEquals(false, client.historyPage(user, "default", 100, null).kept());
    client.deleteCollection(name);
  }
}

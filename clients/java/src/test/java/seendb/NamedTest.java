package seendb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Servers by a name of DNS. What all clients do with one is in conformance/names.json. */
class NamedTest {
  private static final String NAME = "srv+http://_seendb._tcp.liar.test";
  private static final String BODY = "{\"unseen\":[\"v\"],\"seen\":0,\"examined\":1,\"degraded\":false}";
  private static final String UNSEEN = "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: " + BODY.length() + "\r\n\r\n" + BODY;

  private static Options by(Options.Resolver resolver) {
    Options options = new Options();
    options.resolver = resolver;
    return options;
  }

  private static Options.SrvRecord at(String target, int priority, int weight, int port) {
    return new Options.SrvRecord(priority, weight, port, target);
  }

  private static Named asked(String url, List<Options.SrvRecord> records) {
    Named name = new Named(url, by(asked -> records));
    CompletableFuture<Void> answered = name.refresh(true);
    if (answered != null) answered.join();
    return name;
  }

  @Test
  void aResolverInPlaceOfANameServer() {
    Liar liar = new Liar(UNSEEN, UNSEEN, UNSEEN);
    List<String> told = new ArrayList<>();
    Options options = by(name -> {
      told.add(name);
      return List.of(at("127.0.0.1.", 0, 1, URI.create(liar.url).getPort()));
    });
    options.timeout = Duration.ofSeconds(10);
    Client c = new Client(options, NAME);
    for (int i = 0; i < 3; ++i) assertEquals(Id.of("v", "w").subList(0, 1), c.filter(Id.of("u"), List.of(Id.of("v"))).unseen());
    assertEquals(List.of("_seendb._tcp.liar.test"), told);
  }

  @Test
  void aResolverThatFailsOrIsSlow() {
    Map<String, Options.Resolver> resolvers = Map.of("it is down", name -> { throw new IllegalStateException("it is down"); },
        "no name server has answered yet", name -> { Thread.sleep(5_000); return List.of(); });
    resolvers.forEach((why, resolver) -> {
      Options options = by(resolver);
      List<Integer> calls = new ArrayList<>();
      options.onCall = (name, took, status, tries) -> calls.addAll(List.of(status, tries));
      SeenDBException error = assertThrows(SeenDBException.class, () -> new Client(options, NAME).filter(Id.of("u"), Id.of("v", "w")));
      assertEquals(List.of("unavailable", NAME + ": " + why), List.of(error.code, error.getMessage()));
      assertEquals(List.of(0, 0), calls);
    });
  }

  @Test
  void targetsAreChosenByPriorityAndWeight() {
    Named name = asked(NAME, List.of(at("last", 20, 1, 7), at("seldom", 10, 1, 7), at("often", 10, 9, 7), at("hardly", 10, 0, 7)));
    int often = 0;
    for (int i = 0; i < 2_000; ++i) {
      List<Named.Target> order = name.ranked();
      if (order.get(0).url().equals("http://often:7")) ++often;
      assertEquals(new Named.Target("http://last:7", 1, 1), order.get(3));
    }
    assertTrue(often > 1_600 && often < 1_950, String.valueOf(often));
  }

  @Test
  void recordsOfAName() {
    Named name = asked("srv+https://x.test./", IntStream.range(0, 200).map(i -> (199 - i) / 2).mapToObj(i -> at("h" + i + ".", i, 0, 7)).toList());
    assertEquals(IntStream.range(0, 64).mapToObj(i -> new Named.Target("https://h" + i + ":7", i, 0)).toList(), name.ranked());
    for (List<Options.SrvRecord> wrong : List.of(List.<Options.SrvRecord>of(), List.of(at("h", 0, 0, 0)), List.of(at("h/x", 0, 0, 7)), List.of(at(".", 0, 0, 7), at(".", 0, 0, 7)))) {
      Named none = asked(NAME, wrong);
      assertEquals(List.of(), none.ranked());
      assertNotEquals(NAME + ": the service is not there", none.why());
    }
    assertEquals(NAME + ": the service is not there", asked(NAME, List.of(at(".", 0, 0, 0))).why());
    for (String wrong : List.of("srv+http://", "srv+ftp://h", "srv+unix:/s", "srv+http://h:80", "srv+http://h/x", "srv+http://[::1]")) {
      assertThrows(IllegalArgumentException.class, () -> new Client(wrong));
    }
  }
}

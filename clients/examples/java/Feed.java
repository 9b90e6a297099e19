import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.IntStream;
import seendb.Client;
import seendb.Id;
import seendb.Options;
import seendb.Play;
import seendb.SeenDBException;

/**
 * Serves pages without repeats from a generated catalogue:
 * GET /feed?user=U answers {"items": [...]}, the next page, best first; POST /watched?user=U&item=I.
 */
public class Feed {
  private static final int CATALOGUE_SIZE = 5_000;
  private static final int PAGE_SIZE = 20;
  private static final Duration PAGE_TIME = Duration.ofMillis(200); // for the whole page; a feed that answers late is of no use
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) throws IOException {
    Options options = new Options();
    options.timeout = PAGE_TIME;
    options.connections = 16; // of this process to each server
    options.onCall = (name, took, status, tries) -> { // a metric, in a real service
      if (status != 200 || tries > 1) System.err.println(name + ": " + status + " after " + tries + " tries, " + took);
    };
    Client c = new Client(options, System.getenv().getOrDefault("SEENDB_URL", "http://127.0.0.1:7373"));
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "0"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.setExecutor(Executors.newFixedThreadPool(16));
    // LAST_KNOWN: where SeenDB does not answer in time, a page all the same, without what was served just before.
    server.createContext("/feed", exchange -> answer(exchange, asked -> {
      List<Id> page = c.fillPage(Id.of(asked.get("user")), candidates(asked.get("user")), PAGE_SIZE, Client.WhenDegraded.LAST_KNOWN);
      return Map.of("items", page.stream().map(Id::toString).toList());
    }));
    server.createContext("/watched", exchange -> answer(exchange, asked -> {
      c.recordPlays(List.of(new Play(Id.of(asked.get("user")), Id.of(asked.get("item")))));
      return Map.of();
    }));
    server.start();
    System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Stands for a recommender: the same for a user each time, best first. */
  private static List<Id> candidates(String user) {
    List<Integer> videos = new ArrayList<>(IntStream.range(0, CATALOGUE_SIZE).boxed().toList());
    Collections.shuffle(videos, new Random(user.hashCode()));
    return videos.stream().map(video -> Id.of(String.format("video-%04d", video))).toList();
  }

  private static void answer(HttpExchange exchange, Function<Map<String, String>, Object> call) throws IOException {
    Map<String, String> asked = new HashMap<>(Map.of("user", "", "item", ""));
    String query = exchange.getRequestURI().getRawQuery();
    for (String pair : (query == null ? "" : query).split("&")) {
      String[] parts = pair.split("=", 2);
      if (parts.length == 2) asked.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    int status = 200;
    Object told;
    try {
      told = call.apply(asked);
    } catch (SeenDBException error) {
      status = error.code.equals("invalid_argument") ? 400 : 503; // the browser's own fault, or not
      told = Map.of("error", error.toString());
    }
    byte[] body = JSON.writeValueAsBytes(told);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }
}

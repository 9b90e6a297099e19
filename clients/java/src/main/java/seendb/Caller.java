package seendb;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** What all calls of a client share: connections, second tries, tokens, positions. */
final class Caller {
  static final ObjectMapper JSON = new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
  private static final Duration PLACEMENT_FOR = Duration.ofSeconds(30);
  private static final Duration LATER = Duration.ofMillis(50); // the server ends the wait, and the connection stays usable
  private static final double SHARE = 0.1;
  private static final double MOST = 10;

  record Call(String name, String method, String path, Map<String, String> query, byte[] body, String contentType, Id user, Duration timeout, boolean once) {}

  final Routing.LastUsers<String> positions = new Routing.LastUsers<>();
  private final List<String> urls = new ArrayList<>();
  private final Options options;
  private final HttpClient http;
  private final AtomicInteger turn = new AtomicInteger();
  private double budget = MOST;
  private Routing.Placement placement;
  private long placementUntil;
  private String token;
  private long tokenSeen = -1;

  Caller(List<String> urls, Options options) {
    if (urls.isEmpty()) throw new IllegalArgumentException("no server is named");
    for (String url : urls) {
      URI at = URI.create(url);
      boolean sound = ("http".equals(at.getScheme()) || "https".equals(at.getScheme())) && at.getHost() != null && at.getPath().replace("/", "").isEmpty();
      if (!sound) throw new IllegalArgumentException(url + " is no http://host:port or https://host:port");
      this.urls.add(at.getScheme() + "://" + at.getHost() + ":" + (at.getPort() < 0 ? 7373 : at.getPort()));
    }
    this.options = options;
    this.token = options.token;
    HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER);
    if (options.tls != null) builder.sslContext(options.tls);
    http = builder.build();
  }

  private synchronized String authorization() {
    if (options.tokenFile != null) {
      try {
        long changed = Files.getLastModifiedTime(options.tokenFile).toMillis();
        if (changed != tokenSeen) {
          token = Files.readAllLines(options.tokenFile).get(0).strip();
          tokenSeen = changed;
        }
      } catch (IOException error) {
        throw SeenDBException.refuse("", "the token: " + error);
      }
    }
    return token;
  }

  private synchronized List<String> own(Id user) {
    return user == null || placement == null ? List.of() : placement.urlsOf(user);
  }

  private List<String> any() {
    List<String> turned = new ArrayList<>(urls);
    Collections.rotate(turned, -Math.floorMod(turn.getAndIncrement(), urls.size()));
    return turned;
  }

  private void learn(long deadline) {
    synchronized (this) {
      if (!options.cluster || System.nanoTime() < placementUntil) return;
      placementUntil = System.nanoTime() + PLACEMENT_FOR.toNanos();
    }
    try {
      HttpResponse<byte[]> answer = once(any().get(0), new Call(null, "GET", "/cluster", Map.of(), null, null, null, null, false), Map.of(), deadline);
      if (answer.statusCode() == 200) {
        Routing.Placement told = new Routing.Placement(JSON.readTree(answer.body()));
        synchronized (this) {
          placement = told;
        }
      }
    } catch (SeenDBException | IOException error) {
      synchronized (this) {
        placementUntil = System.nanoTime() + Duration.ofSeconds(1).toNanos(); // the former one goes on
      }
    }
  }

  private HttpResponse<byte[]> once(String url, Call call, Map<String, String> headers, long deadline) {
    Duration left = Duration.ofNanos(deadline - System.nanoTime());
    if (left.toMillis() < 1) throw new SeenDBException("timeout", "no answer in time", "", 0);
    String query = call.query.entrySet().stream().map(one -> one.getKey() + "=" + encoded(one.getValue())).collect(Collectors.joining("&"));
    HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(url + call.path + (query.isEmpty() ? "" : "?" + query)))
        .timeout(left.plus(LATER))
        .header("SeenDB-Timeout-Ms", String.valueOf(left.toMillis()))
        .method(call.method, call.body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofByteArray(call.body));
    headers.forEach(builder::header);
    if (call.contentType != null) builder.header("Content-Type", call.contentType);
    String bearer = authorization();
    if (bearer != null) builder.header("Authorization", "Bearer " + bearer);
    try {
      return http.send(builder.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (HttpTimeoutException error) {
      throw new SeenDBException("timeout", "no answer in time", "", 0);
    } catch (IOException error) {
      boolean ended = error.getCause() instanceof EOFException || String.valueOf(error.getMessage()).contains("EOF");
      boolean malformed = error instanceof ProtocolException || error.getCause() instanceof ProtocolException || error.getCause() instanceof NumberFormatException
          || String.valueOf(error.getMessage()).contains("Invalid status line");
      boolean lied = malformed && !ended;
      throw new SeenDBException(lied ? "protocol" : "unavailable", url + ": " + error, "", 0);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new SeenDBException("interrupted", "the thread was interrupted", "", 0);
    } catch (IllegalArgumentException error) {
      throw new SeenDBException("protocol", url + ": " + error, "", 0);
    }
  }

  /** The answer of 2xx or 422, with second tries where they are allowed. */
  HttpResponse<byte[]> ask(Call call) {
    long began = System.nanoTime();
    long deadline = began + (call.timeout == null ? options.timeout : call.timeout).toNanos();
    String position = call.user == null ? null : positions.get(call.user.toString());
    learn(deadline);
    synchronized (this) {
      budget = Math.min(MOST, budget + SHARE);
    }
    int status = 0;
    int attempt = 0;
    try {
      boolean direct = !own(call.user).isEmpty();
      List<String> places = direct ? own(call.user) : any();
      for (;; ++attempt) {
        Map<String, String> headers = new java.util.HashMap<>();
        if (position != null) headers.put("SeenDB-Position", position);
        if (attempt > 0) headers.put("SeenDB-Attempt", String.valueOf(attempt));
        if (attempt == 0 && direct) headers.put("SeenDB-Route", "direct");
        SeenDBException failure;
        boolean again;
        long wait;
        status = 0;
        try {
          HttpResponse<byte[]> answer = once(places.get(attempt % places.size()), call, headers, deadline);
          status = answer.statusCode();
          if (status < 300 || status == 422) return answer;
          failure = errorOf(answer);
          if (status == 421 && attempt == 0) { // the placement is old
            synchronized (this) {
              placementUntil = System.nanoTime() - 1;
            }
            learn(deadline);
            places = own(call.user).isEmpty() ? any() : own(call.user);
            continue;
          }
          again = status == 429 || status == 503;
          wait = waitOf(attempt, answer);
        } catch (SeenDBException error) {
          failure = error;
          again = error.code.equals("unavailable");
          wait = places.size() > 1 ? 0 : waitOf(attempt, null);
        }
        if (!again || call.once || attempt >= options.retries || System.nanoTime() + wait * 1_000_000 >= deadline || !spend()) throw failure;
        try {
          Thread.sleep(wait);
        } catch (InterruptedException error) {
          Thread.currentThread().interrupt();
          throw failure;
        }
      }
    } finally {
      String name = call.name == null ? call.method + " " + call.path : call.name;
      options.onCall.called(name, Duration.ofNanos(System.nanoTime() - began), status, attempt + 1);
    }
  }

  private synchronized boolean spend() {
    if (budget < 1) return false;
    budget -= 1;
    return true;
  }

  private static long waitOf(int attempt, HttpResponse<?> answer) {
    long wait = 10L << attempt;
    if (answer != null) {
      wait = answer.headers().firstValueAsLong("SeenDB-Retry-After-Ms").orElse(answer.headers().firstValueAsLong("Retry-After").orElse(-1) * 1_000);
      if (wait < 0) wait = 10L << attempt;
    }
    return wait + ThreadLocalRandom.current().nextLong(wait / 2 + 1);
  }

  private static SeenDBException errorOf(HttpResponse<byte[]> answer) {
    try {
      JsonNode told = JSON.readTree(answer.body()).path("error");
      if (told.has("code")) {
        return new SeenDBException(told.path("code").asText(), told.path("message").asText(), told.path("field").asText(), answer.statusCode());
      }
    } catch (IOException error) {
      // not in SeenDB's words
    }
    String text = new String(answer.body(), StandardCharsets.UTF_8);
    return new SeenDBException("protocol", "HTTP " + answer.statusCode() + ", and not in SeenDB's words: " + text.substring(0, Math.min(100, text.length())), "", answer.statusCode());
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}

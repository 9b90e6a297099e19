package seendb;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.EOFException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.ProtocolException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** What all calls of a client share: connections, second tries, tokens, positions. */
class Caller {
  static final ObjectMapper JSON = new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
  private static final long MS = 1_000_000; // in ns, as what follows
  private static final long PLACEMENT_FOR = 30_000 * MS;
  private static final long SOON = 1_000 * MS; // a placement is asked for no sooner; as long a server that could not be reached comes last
  private static final long LATER = 50 * MS; // the server ends the wait, and the connection stays usable
  private static final double SHARE = 0.1;
  private static final double MOST = 10;
  private static final int DOUBLINGS_MOST = 7; // 1.3 s

  record Call(String name, String method, String path, Map<String, String> query, byte[] body, String contentType, Id user, Duration timeout, boolean once, boolean hedge, boolean patient, String etag) {
    Call(String name, String method, String path, Map<String, String> query, byte[] body, String contentType, Id user, Duration timeout, boolean once) {
      this(name, method, path, query, body, contentType, user, timeout, once, false, false, null);
    }

    /** It may be made at two servers at once. */
    Call hedged(boolean may) {
      return new Call(name, method, path, query, body, contentType, user, timeout, once, may, patient, etag);
    }

    /** It is made again and again, until its time is over. */
    Call patiently() {
      return new Call(name, method, path, query, body, contentType, user, timeout, once, hedge, true, etag);
    }

    /** The answer is 304 where nothing differs from what has this ETag. */
    Call unless(String etag) {
      return new Call(name, method, path, query, body, contentType, user, timeout, once, hedge, patient, etag);
    }
  }

  /** The servers to try, in order; `direct`: the first is said to have the user. */
  private record Places(List<String> urls, boolean direct) {}

  final Routing.Positions positions = new Routing.Positions();
  private final List<String> urls;
  private final Map<String, Named> names = new LinkedHashMap<>(); // by URL
  private int targetsMost;
  private final Options options;
  private final HttpClient http;
  private final Semaphore inFlight;
  private final AtomicInteger turn = new AtomicInteger();
  private final Map<String, Long> away = new ConcurrentHashMap<>(); // until when a server comes last
  private double budget = MOST;
  private Routing.Placement placement;
  private long placementUntil = System.nanoTime();
  private volatile boolean closed;
  private String token;
  private long tokenSeen = -1;

  Caller(List<String> urls, Options options) {
    if (urls.isEmpty()) throw new IllegalArgumentException("no server is named");
    for (String url : urls) if (url.startsWith("srv+")) names.put(url, new Named(url, options));
    this.urls = urls.stream().map(url -> names.containsKey(url) ? url : address(url)).toList();
    this.options = options;
    this.token = options.token;
    inFlight = new Semaphore(options.connections * (urls.size() - names.size()), true);
    HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER);
    if (options.tls != null) builder.sslContext(options.tls);
    http = builder.build();
  }

  /** The URL of a server, in one form. */
  static String address(String url) {
    URI at = URI.create(url);
    boolean sound = ("http".equals(at.getScheme()) || "https".equals(at.getScheme())) && at.getHost() != null && at.getPath().replace("/", "").isEmpty();
    if (!sound) throw new IllegalArgumentException(url + " is no http://host:port or https://host:port");
    return at.getScheme() + "://" + at.getHost() + ":" + (at.getPort() < 0 ? 7373 : at.getPort());
  }

  void close() {
    closed = true;
  }

  /** Of a call that names none. */
  Duration timeout() {
    return options.timeout;
  }

  private synchronized String authorization() {
    if (options.tokenFile != null) {
      try {
        long changed = Files.getLastModifiedTime(options.tokenFile).toMillis();
        if (changed != tokenSeen) {
          String first = Files.readString(options.tokenFile).lines().findFirst().orElse("").strip();
          if (first.isEmpty()) throw new IOException(options.tokenFile + " has no token in its first line");
          token = first;
          tokenSeen = changed;
        }
      } catch (IOException error) {
        throw SeenDBException.refuse("", "the token: " + error);
      }
    }
    return token;
  }

  // ---- Where ----

  private Places where(Id user) {
    List<String> own;
    synchronized (this) {
      own = user == null || placement == null ? List.of() : placement.urlsOf(user);
    }
    if (!own.isEmpty() && !isAway(own.get(0))) return new Places(own, true);
    List<String> turned = new ArrayList<>(urls);
    Collections.rotate(turned, -Math.floorMod(turn.getAndIncrement(), urls.size()));
    List<Named.Target> ordered = new ArrayList<>();
    for (String url : turned) {
      if (names.containsKey(url)) ordered.addAll(names.get(url).ranked());
      else ordered.add(new Named.Target(url, 0, 0));
    }
    if (ordered.isEmpty()) throw SeenDBException.none("unavailable", names.values().stream().map(Named::why).collect(Collectors.joining("; ")));
    Map<Named.Target, Boolean> resting = new HashMap<>(); // looked at once: time goes on while it sorts
    for (Named.Target one : ordered) resting.put(one, isAway(one.url()));
    ordered.sort(Comparator.<Named.Target, Boolean>comparing(resting::get).thenComparingInt(Named.Target::rank));
    return new Places(ordered.stream().map(Named.Target::url).toList(), false);
  }

  /** Asks for the targets of names where that is due, behind this call. Where each of them has failed since, the call waits. */
  private void lookUp(long deadline) {
    for (Named name : names.values()) {
      long asked = name.asked();
      boolean none = name.ranked().stream().allMatch(one -> away.getOrDefault(one.url(), asked) - asked > 0);
      CompletableFuture<Void> answered = name.refresh(none);
      if (!none || answered == null) continue;
      try {
        answered.get((deadline - System.nanoTime()) / 3, TimeUnit.NANOSECONDS);
      } catch (TimeoutException | ExecutionException error) {
        // the former answer goes on
      } catch (InterruptedException error) {
        throw interrupted();
      }
    }
    if (names.isEmpty()) return;
    int targets = names.values().stream().mapToInt(one -> one.ranked().size()).sum();
    synchronized (this) {
      if (targets > targetsMost) inFlight.release(options.connections * (targets - targetsMost));
      targetsMost = Math.max(targets, targetsMost);
    }
  }

  private boolean isAway(String url) {
    Long until = away.get(url);
    return until != null && System.nanoTime() - until < 0;
  }

  private synchronized void learnSoon() {
    long soon = System.nanoTime() + SOON;
    if (placementUntil - soon > 0) placementUntil = soon;
  }

  /** Asks for the placement where it is old; a node that can't be asked leaves the former one. */
  private void learn(long deadline) {
    long now = System.nanoTime();
    synchronized (this) {
      if (!options.cluster || now - placementUntil < 0) return;
      placementUntil = now + PLACEMENT_FOR;
    }
    try {
      Call call = new Call(null, "GET", "/cluster", Map.of(), null, null, null, null, false);
      HttpResponse<byte[]> answer = once(where(null).urls.get(0), call, Map.of(), now + (deadline - now) / 3);
      if (answer.statusCode() == 200) {
        Routing.Placement told = new Routing.Placement(JSON.readTree(answer.body()));
        synchronized (this) {
          placement = told;
        }
      }
    } catch (RuntimeException | IOException error) {
      learnSoon();
    }
  }

  // ---- One try ----

  private HttpResponse<byte[]> once(String url, Call call, Map<String, String> headers, long deadline) {
    if (closed) throw SeenDBException.none("closed", "the client is closed");
    String bearer = authorization();
    long left = deadline - System.nanoTime();
    try {
      if (!inFlight.tryAcquire(left, TimeUnit.NANOSECONDS)) throw SeenDBException.none("timeout", "every connection is in use");
    } catch (InterruptedException error) {
      throw interrupted();
    }
    try {
      return exchange(url, call, headers, bearer, deadline);
    } catch (SeenDBException error) {
      if (error.unsent) {
        away.values().removeIf(until -> System.nanoTime() - until > 2 * PLACEMENT_FOR); // of former targets, perhaps
        away.put(url, System.nanoTime() + SOON);
      }
      throw error;
    } finally {
      inFlight.release();
    }
  }

  /** A third of the time is for the connection. */
  private HttpResponse<byte[]> exchange(String url, Call call, Map<String, String> headers, String bearer, long deadline) {
    long left = deadline - System.nanoTime();
    if (left < MS) throw SeenDBException.none("timeout", "no answer in time");
    Body body = new Body(call.body);
    CompletableFuture<HttpResponse<byte[]>> answer = http.sendAsync(request(url, call, headers, bearer, body, left / MS), Caller::whole);
    try {
      try {
        return answer.get(left / 3, TimeUnit.NANOSECONDS);
      } catch (TimeoutException error) {
        if (body.giveUp()) throw SeenDBException.unsent(url + ": no connection in time");
        return answer.get(deadline + LATER - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
    } catch (TimeoutException error) {
      throw SeenDBException.none("timeout", "no answer in time");
    } catch (ExecutionException error) {
      throw failureOf(url, error.getCause(), body);
    } catch (InterruptedException error) {
      throw interrupted();
    } finally {
      answer.cancel(true); // what is done stays
    }
  }

  /** java.net.http takes a negative length for none, and waits for the connection's end. */
  private static HttpResponse.BodySubscriber<byte[]> whole(HttpResponse.ResponseInfo head) {
    String length = head.headers().firstValue("Content-Length").orElse("0");
    if (!length.matches("\\d+")) throw new IllegalStateException("a length of " + length);
    return HttpResponse.BodySubscribers.ofByteArray();
  }

  private static HttpRequest request(String url, Call call, Map<String, String> headers, String bearer, Body body, long leftMs) {
    String query = call.query.entrySet().stream().map(one -> one.getKey() + "=" + encoded(one.getValue())).collect(Collectors.joining("&"));
    try {
      HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(url + call.path + (query.isEmpty() ? "" : "?" + query)))
          .header("SeenDB-Timeout-Ms", String.valueOf(leftMs))
          .method(call.method, body);
      headers.forEach(builder::header);
      if (call.contentType != null) builder.header("Content-Type", call.contentType);
      if (call.etag != null) builder.header("If-None-Match", call.etag);
      if (bearer != null) builder.header("Authorization", "Bearer " + bearer);
      return builder.build();
    } catch (IllegalArgumentException error) {
      throw SeenDBException.refuse("", "no request can be made: " + error.getMessage());
    }
  }

  private static SeenDBException failureOf(String url, Throwable error, Body body) {
    String told = url + ": " + error;
    if (body.giveUp()) return SeenDBException.unsent(told);
    String message = String.valueOf(error.getMessage());
    boolean ended = error.getCause() instanceof EOFException || message.contains("EOF");
    boolean malformed = !(error instanceof IOException) || error instanceof ProtocolException || error.getCause() instanceof ProtocolException
        || error.getCause() instanceof NumberFormatException || message.contains("Invalid status line");
    return SeenDBException.none(malformed && !ended ? "protocol" : "unavailable", told);
  }

  private static SeenDBException interrupted() {
    Thread.currentThread().interrupt();
    return SeenDBException.none("interrupted", "the thread was interrupted");
  }

  // ---- Two tries at once ----

  static void daemon(Runnable work) {
    Thread thread = new Thread(work, "seendb-client");
    thread.setDaemon(true);
    thread.start();
  }

  /** What the first of two tries gives that is answered well; the second begins late, if the budget lets it: `began` is told. */
  private HttpResponse<byte[]> hedged(Supplier<HttpResponse<byte[]>> first, Supplier<HttpResponse<byte[]>> second, Runnable began) {
    CompletableFuture<HttpResponse<byte[]>> one = CompletableFuture.supplyAsync(first, Caller::daemon);
    try {
      CompletableFuture.anyOf(one.handle((answer, error) -> true)).get(options.hedge.toNanos(), TimeUnit.NANOSECONDS);
      return one.get();
    } catch (TimeoutException error) {
      // it is slow
    } catch (ExecutionException error) {
      throw causeOf(error);
    } catch (InterruptedException error) {
      throw interrupted();
    }
    try {
      if (!spend()) return one.get();
      began.run();
      CompletableFuture<HttpResponse<byte[]>> other = CompletableFuture.supplyAsync(second, Caller::daemon);
      CompletableFuture<Boolean> enough = new CompletableFuture<>();
      for (var tried : List.of(one, other)) tried.thenAccept(answer -> { if (isGood(answer)) enough.complete(true); });
      CompletableFuture.allOf(one, other).whenComplete((none, error) -> enough.complete(true));
      enough.get();
      for (var tried : List.of(one, other)) {
        if (tried.isDone() && !tried.isCompletedExceptionally() && isGood(tried.get())) return tried.get();
      }
      return (one.isCompletedExceptionally() ? other : one).get();
    } catch (ExecutionException error) {
      throw causeOf(error);
    } catch (InterruptedException error) {
      throw interrupted();
    }
  }

  private static boolean isGood(HttpResponse<?> answer) {
    return answer.statusCode() < 429;
  }

  private static RuntimeException causeOf(ExecutionException error) {
    return error.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(error.getCause());
  }

  // ---- A call ----

  /** The answer of 2xx, 304 or 422, with second tries where they are allowed. */
  HttpResponse<byte[]> ask(Call call) {
    long began = System.nanoTime();
    long deadline = began + (call.timeout == null ? options.timeout : call.timeout).toNanos();
    String position = call.user == null ? null : positions.of(call.user.toString());
    synchronized (this) {
      budget = Math.min(MOST, budget + SHARE);
    }
    int status = 0;
    int attempt = 0;
    int tries = 0;
    try {
      lookUp(deadline);
      learn(deadline);
      Places places = where(call.user);
      boolean direct = places.direct;
      int at = 0; // in places
      for (;;) {
        Map<String, String> common = position == null ? Map.of() : Map.of("SeenDB-Position", position);
        Map<String, String> headers = new HashMap<>(common);
        if (attempt > 0) headers.put("SeenDB-Attempt", String.valueOf(attempt));
        if (direct) headers.put("SeenDB-Route", "direct");
        SeenDBException failure;
        long wait; // ms; -1: no second try
        status = 0;
        ++tries;
        try {
          HttpResponse<byte[]> answer;
          if (call.hedge && options.hedge != null && attempt == 0 && places.urls.size() > 1) {
            String here = places.urls.get(at);
            String there = places.urls.get((at + 1) % places.urls.size());
            Map<String, String> again = new HashMap<>(common);
            again.put("SeenDB-Attempt", "1");
            AtomicInteger more = new AtomicInteger();
            try {
              answer = hedged(() -> once(here, call, headers, deadline), () -> once(there, call, again, deadline), more::incrementAndGet);
            } finally {
              tries += more.get();
            }
          } else {
            answer = once(places.urls.get(at), call, headers, deadline);
          }
          status = answer.statusCode();
          if (status < 300 || status == HttpURLConnection.HTTP_NOT_MODIFIED || status == 422) return answer;
          failure = errorOf(answer);
          if (status == 421 && direct) { // the placement is old: any node passes it on
            learnSoon();
            places = where(null);
            direct = false;
            at = 0;
            continue;
          }
          wait = status == 429 || status == 503 ? waitOf(attempt, retryAfterMs(answer)) : -1;
        } catch (SeenDBException error) {
          failure = error;
          if (error.unsent && at + 1 < places.urls.size()) { // nothing was done: the next one
            ++at;
            direct = false;
            continue;
          }
          wait = error.code.equals("unavailable") ? waitOf(attempt, -1) : -1;
        }
        boolean over = !call.patient && attempt >= options.retries;
        if (wait < 0 || call.once || over || System.nanoTime() + wait * MS - deadline >= 0 || !(call.patient || spend())) throw failure;
        if (places.urls.size() > 1) {
          at = (at + 1) % places.urls.size();
          direct = false;
        }
        try {
          Thread.sleep(wait);
        } catch (InterruptedException error) {
          throw interrupted();
        }
        ++attempt;
      }
    } finally {
      String name = call.name == null ? call.method + " " + call.path : call.name;
      options.onCall.called(name, Duration.ofNanos(System.nanoTime() - began), status, tries);
    }
  }

  private synchronized boolean spend() {
    if (budget < 1) return false;
    budget -= 1;
    return true;
  }

  /** ms before the second try: as the server asked, else (-1) a little more each time; longer by up to a half. */
  private static long waitOf(int attempt, long askedMs) {
    long wait = askedMs < 0 ? 10L << Math.min(attempt, DOUBLINGS_MOST) : askedMs;
    return wait + ThreadLocalRandom.current().nextLong(wait / 2 + 1);
  }

  /** What the server asked for; -1: nothing, or a date. */
  private static long retryAfterMs(HttpResponse<?> answer) {
    long ms = number(answer, "SeenDB-Retry-After-Ms", -1);
    long seconds = number(answer, "Retry-After", -1);
    return ms >= 0 || seconds < 0 ? ms : seconds * 1_000;
  }

  /** A header that is a number, the greatest for many digits; `none`: it is not there, or something else. */
  static long number(HttpResponse<?> answer, String name, long none) {
    return answer.headers().firstValue(name).filter(text -> text.matches("\\d+"))
        .map(text -> text.length() > 9 ? Integer.MAX_VALUE : Long.parseLong(text)).orElse(none);
  }

  private static SeenDBException errorOf(HttpResponse<byte[]> answer) {
    int status = answer.statusCode();
    try {
      JsonNode told = JSON.readTree(answer.body()).path("error");
      if (told.has("code")) return new SeenDBException(told.path("code").asText(), told.path("message").asText(), told.path("field").asText(), status);
    } catch (IOException error) {
      // not in SeenDB's words
    }
    String text = new String(answer.body(), StandardCharsets.UTF_8);
    String code = status == 502 || status == 504 ? "unavailable" : "protocol"; // a proxy's
    return new SeenDBException(code, "HTTP " + status + ", and not in SeenDB's words: " + text.substring(0, Math.min(100, text.length())), "", status);
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import seendb.Client;
import seendb.Id;
import seendb.Options;
import seendb.Play;

/** Prints calls a second of the client and of java.net.http for each case: for perf/clients.py, with its arguments. */
public class Rate {
  private static Callable<?> bare(String base, String folder, int number) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(folder, number + ".head"));
    byte[] body = Files.readAllBytes(Path.of(folder, number + ".body"));
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    return () -> {
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + lines.get(0)));
      for (String line : lines.subList(1, lines.size())) {
        int colon = line.indexOf(": ");
        request.header(line.substring(0, colon), line.substring(colon + 2));
      }
      request.POST(HttpRequest.BodyPublishers.ofByteArray(body));
      HttpResponse<byte[]> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      if (answer.statusCode() != 200 || answer.body().length == 0) throw new IllegalStateException("" + answer.statusCode());
      return answer;
    };
  }

  private static double rate(Callable<?> call, int count) throws Exception {
    long begin = System.nanoTime();
    for (int i = 0; i < count; ++i) call.call();
    return 1e9 * count / (System.nanoTime() - begin);
  }

  private static double median(double[] rates) {
    double[] later = Arrays.copyOfRange(rates, rates.length / 2, rates.length);
    Arrays.sort(later);
    return later[later.length / 2];
  }

  public static void main(String[] arguments) throws Exception {
    String base = System.getenv("SEENDB_URL");
    int rounds = Integer.parseInt(arguments[1]);
    Options options = new Options();
    options.timeout = Duration.ofSeconds(30);
    Client client = new Client(options, base);
    List<Id> numbers = IntStream.range(0, 5_000).mapToObj(Id::of).toList();
    List<Id> texts = IntStream.range(0, 500).mapToObj(n -> Id.of("video-" + n)).toList();
    List<Callable<?>> calls =
        List.of(
            () -> client.filter(Id.of(1), numbers),
            () -> client.filter(Id.of("u"), texts),
            () -> client.recordPlays(List.of(new Play(Id.of("p"), Id.of("v")))));
    for (int number = 0; number < calls.size(); ++number) {
      if (rounds == 0) {
        calls.get(number).call();
        continue;
      }
      Callable<?> ask = bare(base, arguments[0], number);
      int count = Integer.parseInt(arguments[2 + number]);
      double[] own = new double[rounds];
      double[] others = new double[rounds];
      for (int round = 0; round < rounds; ++round) {
        own[round] = rate(calls.get(number), count);
        others[round] = rate(ask, count);
      }
      System.out.println(median(own) + " " + median(others));
    }
    System.exit(0); // threads of pools
  }
}

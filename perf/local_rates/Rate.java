import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import seendb.Client;
import seendb.Id;
import seendb.LocalFilter;
import seendb.Options;

/** Prints candidates a second of numbers and of texts, and how many of all were unseen: for `run`, with its arguments. */
public class Rate {
  private static LocalFilter local;
  private static int[] given;
  private static long unseen;

  private static double rate(IntFunction<Id> of) {
    int items = given[0];
    int pages = given[1];
    int page = given[2];
    int rounds = given[3];
    List<List<Id>> asked = IntStream.range(0, pages).mapToObj(p -> IntStream.range(p * page, (p + 1) * page).mapToObj(i -> of.apply(i * 7_919 % items)).toList()).toList();
    double[] rates = new double[rounds];
    for (int round = 0; round < rounds; ++round) {
      long begin = System.nanoTime();
      for (List<Id> one : asked) unseen += local.filter(one).unseen().size();
      rates[round] = 1e9 * pages * page / (System.nanoTime() - begin);
    }
    Arrays.sort(rates, rounds / 2, rounds);
    return rates[rounds / 2 + rounds / 4];
  }

  public static void main(String[] arguments) {
    given = Arrays.stream(arguments).mapToInt(Integer::parseInt).toArray();
    Options options = new Options();
    options.timeout = Duration.ofMinutes(1);
    LocalFilter.Options own = new LocalFilter.Options();
    own.refresh = null;
    local = new Client(options, System.getenv("SEENDB_URL")).localFilter(Id.of("u"), own);
    double numbers = rate(Id::of);
    double texts = rate(n -> Id.of("v" + n));
    System.out.println(numbers + " " + texts + " " + unseen);
  }
}

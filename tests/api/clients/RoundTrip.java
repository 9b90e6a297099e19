// What a program with the generated Java client does: records a play, asks what is unseen, reads the
// history and the statistics, is refused. The first argument is the server's address.

import java.util.ArrayList;
import java.util.List;
import seendb.client.ApiClient;
import seendb.client.ApiException;
import seendb.client.api.AdminApi;
import seendb.client.api.ReadApi;
import seendb.client.api.WriteApi;
import seendb.client.model.Event;
import seendb.client.model.FilterRequest;
import seendb.client.model.FilterResult;
import seendb.client.model.HistoryPage;
import seendb.client.model.Id;
import seendb.client.model.PlaysRequest;
import seendb.client.model.Recorded;

public final class RoundTrip {
  private static void check(boolean holds, Object got) {
    if (!holds) throw new AssertionError(String.valueOf(got));
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    long now = Long.parseLong(arguments[1]);
    ReadApi read = new ReadApi(client);
    WriteApi write = new WriteApi(client);

    Event play = new Event().user(new Id("java")).item(new Id("v1")).at(now).progressS(95);
    Event number = new Event().user(new Id("java")).item(new Id(42L));
    Recorded recorded =
        write.recordPlays(new PlaysRequest().events(List.of(play, number)), null);
    check(recorded.getAccepted() == 2, recorded);

    FilterRequest request = new FilterRequest().user(new Id("java"));
    request.items(List.of(new Id("v1"), new Id("v2"), new Id(42L), new Id(43L)));
    FilterResult answer = read.filter(request, null, null, null, null, null, null, null);
    List<Object> unseen = new ArrayList<>();
    for (Id id : answer.getUnseen()) unseen.add(id.getActualInstance());
    check(unseen.equals(List.of("v2", 43L)) && !answer.getDegraded(), answer);

    HistoryPage page = read.readHistory("java", 10, null, null);
    check(page.getEntries().size() == 2, page);
    check(page.getEntries().stream().anyMatch(
        one -> one.getItem().equals("v1") && one.getAt() == now && one.getProgressS() == 95), page);
    check(new AdminApi(client).stats().getPlaysAccepted() >= 2, "stats");

    try {
      write.recordPlays(new PlaysRequest().events(List.of(play)), "nobody_made_it");
      throw new AssertionError("not refused");
    } catch (ApiException refused) {
      check(refused.getCode() == 404 && refused.getResponseBody().contains("/collection"), refused);
    }
    try {
      write.recordPlays(
          new PlaysRequest().events(List.of(
              new Event().user(new Id("java")).item(new Id("v9")).at(now / 1000))), null);
      throw new AssertionError("not refused");
    } catch (ApiException refused) {
      check(refused.getCode() == 422 && refused.getResponseBody().contains("seconds"), refused);
    }
  }
}

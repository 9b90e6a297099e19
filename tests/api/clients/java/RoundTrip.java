// What an application does with the Java client: RoundTrip URL USER AT_MS.

import java.util.List;
import seendb.ApiClient;
import seendb.ApiException;
import seendb.api.AdminApi;
import seendb.api.ReadApi;
import seendb.api.WriteApi;
import seendb.model.Candidate;
import seendb.model.Event;
import seendb.model.FilterRequest;
import seendb.model.FilterResult;
import seendb.model.HistoryPage;
import seendb.model.HistoryPolicy;
import seendb.model.Id;
import seendb.model.PlaysRequest;
import seendb.model.PolicyPatch;
import seendb.model.Recorded;

public class RoundTrip {

  private static void check(boolean holds, Object answer) {
    if (!holds) throw new IllegalStateException("not as expected: " + answer);
  }

  private static Event play(String user, Id item, long at) {
    return new Event().user(new Id(user)).item(item).at(at);
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    String user = args[1];
    long at = Long.parseLong(args[2]);
    ReadApi read = new ReadApi(client);
    WriteApi write = new WriteApi(client);
    AdminApi admin = new AdminApi(client);

    PolicyPatch policy = new PolicyPatch().history(new HistoryPolicy().enabled(true));
    check(admin.putCollection("default", policy).getHistory().getEnabled(), "policy");

    Recorded recorded = write.recordPlays(new PlaysRequest()
        .addEventsItem(play(user, new Id(7L), at).progressS(12))
        .addEventsItem(play(user, new Id("film"), at + 1)), null, null, null, null, null);
    check(recorded.getAccepted() == 2, recorded);

    FilterResult filtered = read.filter(new FilterRequest().user(new Id(user)).items(List.of(
        new Candidate(7L), new Candidate("film"), new Candidate(8L),
        new Candidate("18446744073709551615"), new Candidate("new"))),
        null, null, null, null, null, null, null, null, null, null, null, null);
    check(filtered.getSeen() == 2 && filtered.getUnseen().size() == 3, filtered);
    check(filtered.getUnseen().get(0).getActualInstance().toString().equals("8"), filtered);
    check(filtered.getUnseen().get(1).getActualInstance().equals("18446744073709551615"), filtered);
    check(filtered.getUnseen().get(2).getActualInstance().equals("new"), filtered);

    HistoryPage page = read.readHistory(user, 10, null, null);
    check(page.getEntries().size() == 2, page);
    check(page.getEntries().get(0).getItem().equals("film"), page);
    check(page.getEntries().get(1).getAt() == at, page);
    check(page.getEntries().get(1).getProgressS() == 12, page);

    try {
      write.recordPlays(new PlaysRequest().addEventsItem(play(user, new Id(9L), 0)), null, null, null, null, null);
      throw new IllegalStateException("a play of 1970 was accepted");
    } catch (ApiException refused) {
      check(refused.getCode() == 422, refused.getCode());
      Recorded body = client.getObjectMapper().readValue(refused.getResponseBody(), Recorded.class);
      check(body.getRefusals().get(0).getError().getField().equals("/at"), body);
    }
    try {
      read.getCollection("absent");
      throw new IllegalStateException("a collection that is absent was shown");
    } catch (ApiException refused) {
      check(refused.getCode() == 404, refused.getCode());
      seendb.model.Error body =
          client.getObjectMapper().readValue(refused.getResponseBody(), seendb.model.Error.class);
      check(body.getError().getCode().toString().equals("not_found"), body);
    }
  }
}

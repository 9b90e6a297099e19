// What a program with the generated Go client does: records a play, asks what is unseen, reads the
// history and the statistics, is refused. The first argument is the server's address.

package main

import (
	"context"
	"log"
	"os"
	"strconv"
	"strings"

	"example.com/seendb"
)

func text(id string) seendb.Id  { return seendb.Id{String: &id} }
func number(id int64) seendb.Id { return seendb.Id{Int64: &id} }
func check(holds bool, got any) {
	if !holds {
		log.Fatalf("%+v", got)
	}
}

func main() {
	configuration := seendb.NewConfiguration()
	configuration.Servers = seendb.ServerConfigurations{{URL: os.Args[1]}}
	now, _ := strconv.ParseInt(os.Args[2], 10, 64)
	client := seendb.NewAPIClient(configuration)
	ctx := context.Background()
	record := func(plays ...seendb.Event) seendb.ApiRecordPlaysRequest {
		return client.WriteAPI.RecordPlays(ctx).PlaysRequest(*seendb.NewPlaysRequest(plays))
	}

	play := *seendb.NewEvent(text("go"), text("v1"))
	play.SetAt(now)
	play.SetProgressS(95)
	recorded, _, err := record(play, *seendb.NewEvent(text("go"), number(42))).Execute()
	check(err == nil && recorded.Accepted == 2, err)

	candidates := []seendb.Id{text("v1"), text("v2"), number(42), number(43)}
	answer, _, err := client.ReadAPI.Filter(ctx).
		FilterRequest(*seendb.NewFilterRequest(text("go"), candidates)).Execute()
	check(err == nil && len(answer.Unseen) == 2 && !answer.Degraded, err)
	check(*answer.Unseen[0].String == "v2" && *answer.Unseen[1].Int64 == 43, answer.Unseen)

	page, _, err := client.ReadAPI.ReadHistory(ctx, "go").Limit(10).Execute()
	check(err == nil && len(page.Entries) == 2, err)
	found := false
	for _, one := range page.Entries {
		found = found || (one.Item == "v1" && one.At == now && one.ProgressS == 95)
	}
	check(found, page.Entries)
	stats, _, err := client.AdminAPI.Stats(ctx).Execute()
	check(err == nil && stats.PlaysAccepted >= 2, err)

	_, response, err := record(play).Collection("nobody_made_it").Execute()
	check(err != nil && response.StatusCode == 404, err)
	refused, known := err.(*seendb.GenericOpenAPIError)
	check(known && strings.Contains(string(refused.Body()), "/collection"), err)
	_, isError := refused.Model().(seendb.Error)
	check(isError, refused.Model())

	play.SetAt(now / 1000)
	_, response, err = record(play).Execute()
	check(err != nil && response.StatusCode == 422, err)
}

// What an application does with the Go client: roundtrip URL USER AT_MS.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"roundtrip/seendb"
)

func check(holds bool, answer interface{}) {
	if !holds {
		fmt.Fprintf(os.Stderr, "not as expected: %+v\n", answer)
		os.Exit(1)
	}
}

func must(err error) { check(err == nil, err) }

func text(value string) (id seendb.Id) {
	must(id.FromId0(value))
	return id
}

func number(value int64) (id seendb.Id) {
	must(id.FromId1(value))
	return id
}

func named(value string) (candidate seendb.Candidate) {
	must(candidate.FromCandidate0(value))
	return candidate
}

func numbered(value int64) (candidate seendb.Candidate) {
	must(candidate.FromCandidate1(value))
	return candidate
}

func play(user string, item seendb.Id, at int64) seendb.Event {
	return seendb.Event{User: text(user), Item: item, At: &at}
}

func main() {
	user := os.Args[2]
	at, err := strconv.ParseInt(os.Args[3], 10, 64)
	must(err)
	client, err := seendb.NewClientWithResponses(os.Args[1])
	must(err)
	ctx := context.Background()

	enabled := true
	policy, err := client.PutCollectionWithResponse(ctx, "default",
		seendb.PolicyPatch{History: &seendb.HistoryPolicy{Enabled: &enabled}})
	must(err)
	check(policy.JSON200 != nil && *policy.JSON200.History.Enabled, string(policy.Body))

	progress := int32(12)
	first := play(user, number(7), at)
	first.ProgressS = &progress
	recorded, err := client.RecordPlaysWithResponse(ctx, &seendb.RecordPlaysParams{},
		seendb.PlaysRequest{Events: []seendb.Event{first, play(user, text("film"), at+1)}})
	must(err)
	check(recorded.JSON200 != nil && recorded.JSON200.Accepted == 2, string(recorded.Body))

	filtered, err := client.FilterWithResponse(ctx, &seendb.FilterParams{}, seendb.FilterRequest{
		User: text(user),
		Items: []seendb.Candidate{numbered(7), named("film"), numbered(8),
			named("18446744073709551615"), named("new")}})
	must(err)
	check(filtered.JSON200 != nil && filtered.JSON200.Seen == 2 && len(filtered.JSON200.Unseen) == 3,
		string(filtered.Body))
	eight, err := filtered.JSON200.Unseen[0].AsId1()
	must(err)
	largest, err := filtered.JSON200.Unseen[1].AsId0()
	must(err)
	check(eight == 8 && largest == "18446744073709551615", string(filtered.Body))

	limit := int32(10)
	page, err := client.ReadHistoryWithResponse(ctx, user, &seendb.ReadHistoryParams{Limit: &limit})
	must(err)
	check(page.JSON200 != nil && len(page.JSON200.Entries) == 2, string(page.Body))
	entry := page.JSON200.Entries[1]
	check(entry.Item == "7" && entry.At == at && entry.ProgressS == 12, entry)

	refused, err := client.RecordPlaysWithResponse(ctx, &seendb.RecordPlaysParams{},
		seendb.PlaysRequest{Events: []seendb.Event{play(user, number(9), 0)}})
	must(err)
	check(refused.JSON422 != nil && refused.JSON422.Refusals[0].Error.Field == "/at",
		string(refused.Body))
	absent, err := client.GetCollectionWithResponse(ctx, "absent")
	must(err)
	check(absent.JSON404 != nil && absent.JSON404.Error.Code == "not_found", string(absent.Body))
}

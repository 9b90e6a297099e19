package seendb

// The scenarios of clients/conformance: those of a server against the one that SEENDB_URL names, the others against
// liar.py.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

type object = map[string]any

func conformance() string {
	if folder := os.Getenv("SEENDB_CONFORMANCE"); folder != "" {
		return folder
	}
	return filepath.Join("..", "conformance")
}

func scenarios(t *testing.T, lying bool, only ...string) (rows []object) {
	files, err := filepath.Glob(filepath.Join(conformance(), "*.json"))
	must(t, err)
	for _, name := range files {
		var all []object
		text, err := os.ReadFile(name)
		must(t, err)
		if base := filepath.Base(name); base == "answers.json" || len(only) > 0 && !contains(only, base) {
			continue
		}
		must(t, json.Unmarshal(text, &all))
		for _, row := range all {
			if _, has := row["servers"]; has == lying {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// args are a call's; what is not there is the zero value.
type args struct {
	Collection, Name, Method, Path   string
	Best, Candidates, Items, Exclude []any
	User, Body, Until                any
	IDs                              []any
	Kind, Group                      string
	Not                              []struct {
		Fact, Within, Surface string
		Window, Last          int
	}
	Fields      json.RawMessage
	ExcludeSets []string `json:"exclude_sets"`
	Caps        []struct {
		Of, Within, Fact string
		N                int
	}
	Where  []object
	AtMost *struct {
		Field string
		N     int
	} `json:"at_most"`
	WhenShort *struct {
		Need, Max int
		Gap       string
	} `json:"when_short"`
	Unknown, Of, Prefix string
	ExpiresMs           *int `json:"expires_ms"`
	Updates             []struct {
		ID      any
		Version int64
		Set     map[string]any
		Unset   []string
		Replace bool
		Delete  bool
	}
	Exposures                          []played
	Limit, Need, K, Batch              int
	Record, Verify, Explain, Recording bool
	DeadlineMs                         *int   `json:"deadline_ms"`
	OnError                            string `json:"on_error"`
	WhenDegraded                       string `json:"when_degraded"`
	Facts, Only, Collections           []string
	SameAs                             []string `json:"same_as"`
	Policy                             object
	Plays                              []played
}

// played is an event.
type played struct {
	User, Item      any
	AgoMs           *int64 `json:"ago_ms"`
	ProgressS       *int   `json:"progress_s"`
	DurationS       *int   `json:"duration_s"`
	Device, Surface string
	Fields          json.RawMessage
	Of              []string
	SameAs          []string `json:"same_as"`
}

// spanOf reads "1d", "36h".
func spanOf(text string) time.Duration {
	if strings.HasSuffix(text, "d") {
		number, _ := strconv.Atoi(strings.TrimSuffix(text, "d"))
		return time.Duration(number) * 24 * time.Hour
	}
	span, _ := time.ParseDuration(text)
	return span
}

func (p *played) at(now int64) (at time.Time) {
	if p.AgoMs != nil {
		at = time.UnixMilli(now - *p.AgoMs)
	}
	return at
}

func shown(list []played, now int64) (all []Exposure) {
	for _, one := range list {
		all = append(all, Exposure{given(one.User), given(one.Item), one.at(now), one.Surface, one.Of, one.SameAs})
	}
	return all
}

// exact is a value of an item, as written in a scenario.
func exact(value any) any {
	switch one := value.(type) {
	case object:
		if text, is := one["i64"].(string); is {
			number, _ := strconv.ParseInt(text, 10, 64)
			return number
		}
	case []any:
		all := []any{}
		for _, each := range one {
			all = append(all, exact(each))
		}
		return all
	}
	return value
}

// spelled is the reverse.
func spelled(value any) any {
	switch one := value.(type) {
	case object:
		all := object{}
		for name, each := range one {
			all[name] = spelled(each)
		}
		return all
	case []any:
		all := []any{}
		for _, each := range one {
			all = append(all, spelled(each))
		}
		return all
	case json.Number:
		if number, err := one.Int64(); err == nil && (number >= 1<<53 || number <= -1<<53) {
			return object{"i64": one.String()}
		}
	}
	return value
}

// whole reads the fields of an item.
func whole(text json.RawMessage) (any, error) {
	values, fields := json.NewDecoder(bytes.NewReader(text)), object{}
	values.UseNumber()
	err := values.Decode(&fields)
	return spelled(fields), err
}

func pairs(marks []Mark) []any {
	all := []any{}
	for _, one := range marks {
		if one.Until.Equal(Always) {
			all = append(all, []any{one.Group, "always"})
		} else {
			all = append(all, []any{one.Group, one.Until.UnixMilli()})
		}
	}
	return all
}

// groups tells those of the candidates that have some.
func groups(lists ...[]any) CallOption {
	known := map[string]Groups{}
	for _, list := range lists {
		for _, one := range list {
			if candidate, is := one.(object); is && candidate["id"] != nil {
				of := Groups{}
				for name, to := range map[string]*[]string{"of": &of.Of, "same_as": &of.SameAs} {
					list, _ := candidate[name].([]any)
					for _, group := range list {
						*to = append(*to, group.(string))
					}
				}
				if at, has := candidate["at"].(float64); has {
					of.At = time.UnixMilli(int64(at))
				}
				known[given(one).String()] = of
			}
		}
	}
	if len(known) == 0 {
		return GroupedBy(nil)
	}
	return GroupedBy(func(id ID) Groups { return known[id.String()] })
}

func given(one any) ID {
	if candidate, is := one.(object); is && candidate["id"] != nil {
		return given(candidate["id"])
	}
	if number, is := one.(object); is {
		value, _ := strconv.ParseUint(number["u64"].(string), 10, 64)
		return Number(value)
	}
	return Text(one.(string))
}

func givenAll(all []any) []ID {
	ids := []ID{}
	for _, one := range all {
		ids = append(ids, given(one))
	}
	return ids
}

func told(ids []ID) []any {
	all := []any{}
	for _, id := range ids {
		if id.isNumber {
			all = append(all, object{"u64": id.String()})
		} else {
			all = append(all, id.String())
		}
	}
	return all
}

func (a *args) options() (options []CallOption) {
	for _, one := range []struct {
		set    bool
		option CallOption
	}{{a.Collection != "", Collection(a.Collection)}, {a.Limit > 0, Limit(a.Limit)}, {a.Exclude != nil, Exclude(givenAll(a.Exclude)...)},
		{a.Record, Record()}, {a.Verify, Verify()}, {a.Explain, Explain()}, {a.OnError == "fail", OrFail()}, {a.Facts != nil, Facts(a.Facts...)}} {
		if one.set {
			options = append(options, one.option)
		}
	}
	entries := []NotEntry{}
	for _, one := range a.Not {
		entries = append(entries, NotEntry{one.Fact, one.Window, spanOf(one.Within), one.Last, one.Surface})
	}
	caps := []Cap{}
	for _, one := range a.Caps {
		caps = append(caps, Cap{one.Of, one.N, spanOf(one.Within), one.Fact})
	}
	rules := []Rule{}
	for _, one := range a.Where {
		list := func(name string) []any {
			all, _ := exact(one[name]).([]any)
			return all
		}
		rule := Rule{Field: one["field"].(string), Eq: exact(one["eq"]), Ne: exact(one["ne"]), Ge: exact(one["ge"]), Le: exact(one["le"]), In: list("in"), AnyOf: list("any_of")}
		if exists, is := one["exists"].(bool); is {
			rule.Exists = &exists
		}
		rules = append(rules, rule)
	}
	fields := []string{}
	_ = json.Unmarshal(a.Fields, &fields) // of other calls they are objects
	options = append(options, Caps(caps...), Where(rules...), ExcludeSets(a.ExcludeSets...), Collections(a.Collections...), WithFields(fields...))
	if a.AtMost != nil {
		options = append(options, AtMost(a.AtMost.Field, a.AtMost.N))
	}
	if a.Unknown == "drop" {
		options = append(options, DropUnknown())
	}
	if a.WhenShort != nil {
		options = append(options, WhenShort(a.WhenShort.Need, spanOf(a.WhenShort.Gap), a.WhenShort.Max))
	}
	options = append(options, Not(entries...), groups(a.Items, a.Candidates, a.Best))
	if a.DeadlineMs != nil {
		options = append(options, Within(time.Duration(*a.DeadlineMs)*time.Millisecond))
	}
	return options
}

func entries(now int64, list ...Entry) []object {
	all := []object{}
	for _, one := range list {
		all = append(all, object{"collection": one.Collection, "item": one.Item, "ago_ms": now - one.At, "progress_s": one.ProgressS,
			"duration_s": one.DurationS, "device": one.Device, "fields": one.Fields})
	}
	return all
}

func recorded(one Recorded, err error) (object, error) {
	refusals := []any{}
	for _, part := range one.Refusals {
		refusals = append(refusals, []any{part.Index, part.Error.Code, part.Error.Field})
	}
	return object{"accepted": one.Accepted, "refused": one.Refused, "pending": one.Pending, "refusals": refusals}, err
}

// make_ makes a step's call.
func make_(ctx context.Context, c *Client, call string, a *args, now int64) (object, error) {
	user := ID{}
	if a.User != nil {
		user = given(a.User)
	}
	done := object{"done": true}
	switch call {
	case "record_plays", "bulk":
		plays := []Play{}
		for _, one := range a.Plays {
			plays = append(plays, Play{User: given(one.User), Item: given(one.Item), At: one.at(now), ProgressS: one.ProgressS, DurationS: one.DurationS, Device: one.Device, Fields: one.Fields, Of: one.Of, SameAs: one.SameAs})
		}
		if call == "record_plays" {
			return recorded(c.RecordPlays(ctx, plays, a.options()...))
		}
		bulk := c.Bulk(BulkOptions{Collection: a.Collection, Batch: a.Batch, Exposures: a.Kind == "exposures"})
		events := []Event{}
		for i, one := range plays {
			if events = append(events, one); a.Kind == "exposures" {
				events[i] = shown(a.Plays, now)[i]
			}
		}
		for _, one := range events {
			if err := bulk.Add(ctx, one); err != nil {
				return nil, err
			}
		}
		err := bulk.Flush(ctx)
		answer, _ := recorded(Recorded{Accepted: bulk.Accepted, Refused: bulk.Refused, Refusals: bulk.Refusals}, nil)
		delete(answer, "pending")
		return answer, err
	case "record_exposures":
		return recorded(c.RecordExposures(ctx, shown(a.Exposures, now), a.options()...))
	case "mark":
		until := Always
		if at, is := a.Until.(float64); is {
			until = time.UnixMilli(int64(at))
		}
		return done, c.Mark(ctx, user, a.Group, until)
	case "unmark":
		deleted, err := c.Unmark(ctx, user, a.Group)
		return object{"deleted": deleted}, err
	case "marks":
		if a.Limit < 0 {
			a.Limit = 100
		}
		page, err := c.Marks(ctx, user, a.Limit, "")
		answer := object{"marks": pairs(page.Marks), "more": page.Cursor != "", "degraded": page.Degraded}
		if page.Cursor != "" {
			page, err = c.Marks(ctx, user, a.Limit, page.Cursor)
			answer["next"] = pairs(page.Marks)
		}
		return answer, err
	case "put_item_schema":
		fields := []ItemField{}
		if err := json.Unmarshal(a.Fields, &fields); err != nil {
			return nil, err
		}
		return done, c.PutItemSchema(ctx, fields)
	case "put_items":
		updates := []ItemUpdate{}
		for _, one := range a.Updates {
			for name, value := range one.Set {
				one.Set[name] = exact(value)
			}
			updates = append(updates, ItemUpdate{ID: given(one.ID), Version: one.Version, Set: one.Set, Unset: one.Unset, Replace: one.Replace, Delete: one.Delete})
		}
		taken, err := c.PutItems(ctx, updates)
		answer, err := recorded(taken, err)
		answer["stale"] = taken.Stale
		return answer, err
	case "get_items":
		fields := []string{}
		_ = json.Unmarshal(a.Fields, &fields)
		found, err := c.GetItems(ctx, givenAll(a.IDs), fields...)
		items := []any{}
		for _, one := range found {
			fields, err := whole(one.Fields)
			if err != nil {
				return nil, err
			}
			items = append(items, object{"id": told([]ID{one.ID})[0], "version": one.Version, "fields": fields})
		}
		return object{"items": items}, err
	case "put_set":
		made, err := c.PutSet(ctx, a.Name, givenAll(a.Items))
		return object{"name": made.Name, "count": made.Count}, err
	case "get_set":
		if a.Limit < 0 {
			a.Limit = 1_000
		}
		page, err := c.GetSet(ctx, a.Name, a.Limit, "")
		answer := object{"name": page.Name, "count": page.Count, "items": page.Items, "more": page.Cursor != ""}
		if page.Cursor != "" {
			page, err = c.GetSet(ctx, a.Name, a.Limit, page.Cursor)
			answer["next"] = page.Items
		}
		return answer, err
	case "delete_set":
		return done, c.DeleteSet(ctx, a.Name)
	case "sets":
		sets, err := c.Sets(ctx)
		own := []any{}
		for _, one := range sets {
			if strings.HasPrefix(one.Name, a.Prefix) {
				own = append(own, []any{one.Name, one.Count})
			}
		}
		return object{"sets": own}, err
	case "counts":
		page, err := c.Counts(ctx, user, a.Of, a.options()...)
		counts := []any{}
		for _, one := range page.Counts {
			counts = append(counts, []any{one.Key, one.Served, one.Exposed, one.Played, one.AtLeast})
		}
		return object{"counts": counts, "more": page.More, "degraded": page.Degraded}, err
	case "reserve":
		expires := time.Minute
		if a.ExpiresMs != nil {
			expires = time.Duration(*a.ExpiresMs) * time.Millisecond
		}
		made, err := c.Reserve(ctx, user, givenAll(a.Items), expires, a.options()...)
		if err != nil {
			return nil, err
		}
		return object{"reserved": told(made.Reserved), "refused": told(made.Refused)}, nil
	case "record_impressions":
		return recorded(c.RecordImpressions(ctx, user, givenAll(a.Items), a.options()...))
	case "filter":
		found, err := c.Filter(ctx, user, givenAll(a.Items), a.options()...)
		if err != nil {
			return nil, err
		}
		answer := object{"unseen": told(found.Unseen), "seen": found.Seen, "examined": found.Examined, "degraded": found.Degraded,
			"missing": append([]string{}, found.Missing...), "excluded": found.Excluded, "duplicates": found.Duplicates}
		if a.Record {
			answer["recorded"] = found.Recorded
		}
		if a.Explain {
			answer["reasons"] = found.Reasons
		}
		if len(a.Not) > 0 {
			answer["coarse"], answer["beyond"] = append([]string{}, found.Coarse...), append([]string{}, found.Beyond...)
		}
		if a.WhenShort != nil {
			answer["repeats"], answer["unseen_share"] = told(found.Repeats), found.UnseenShare()
		}
		if len(a.Fields) > len("[]") {
			fields := object{}
			for id, text := range found.Fields {
				if fields[id], err = whole(text); err != nil {
					return nil, err
				}
			}
			answer["fields"] = fields
		}
		for _, one := range a.Items {
			if candidate, is := one.(object); is && candidate["id"] != nil {
				answer["undated"] = found.Undated
			}
		}
		return answer, nil
	case "fill_page":
		when := map[string]WhenDegraded{"fail_closed": FailClosed, "last_known": LastKnown}[a.WhenDegraded]
		page, err := c.FillPage(ctx, user, givenAll(a.Candidates), a.Need, when, a.options()...)
		return object{"ids": told(page)}, err
	case "search_unseen":
		found, err := c.SearchUnseen(ctx, func(_ context.Context, count int) ([]ID, error) {
			if count > len(a.Best) {
				count = len(a.Best)
			}
			return givenAll(a.Best[:count]), nil
		}, user, a.K, a.options()...)
		return object{"ids": told(found)}, err
	case "history_page":
		if a.Limit < 0 {
			a.Limit = 100
		}
		page, err := c.HistoryPage(ctx, user, a.Limit, "", a.options()...)
		if err != nil {
			return nil, err
		}
		return object{"entries": entries(now, page.Entries...), "more": page.Cursor != "", "kept": page.Kept == nil || *page.Kept, "degraded": page.Degraded}, nil
	case "history":
		all, err := c.History(ctx, user)
		return object{"entries": entries(now, all...)}, err
	case "look_up_history":
		found, err := c.LookUpHistory(ctx, user, givenAll(a.Items), a.options()...)
		list := []Entry{}
		for _, item := range givenAll(a.Items) {
			if entry, has := found[item.String()]; has {
				list = append(list, entry)
			}
		}
		return object{"entries": entries(now, list...)}, err
	case "delete_history":
		return done, c.DeleteHistory(ctx, user, givenAll(a.Items), append(a.options(), SameAs(a.SameAs...))...)
	case "clear_history":
		return done, c.ClearHistory(ctx, user, a.options()...)
	case "set_recording":
		return done, c.SetRecording(ctx, user, a.Recording)
	case "inspect":
		held, err := c.Inspect(ctx, user)
		return object{"user": fmt.Sprint(held["user"])}, err
	case "export":
		lines, err := c.Export(ctx, user)
		types := []any{}
		for _, line := range lines {
			one := object{}
			_ = json.Unmarshal(line, &one)
			if len(types) == 0 || types[len(types)-1] != one["type"] {
				types = append(types, one["type"])
			}
		}
		return object{"types": types}, err
	case "erase":
		known, err := c.Erase(ctx, user)
		return object{"known": known}, err
	case "collections":
		all, err := c.Collections(ctx)
		names := []any{}
		for _, one := range all {
			if strings.HasPrefix(one["name"].(string), "conf-x") {
				names = append(names, one["name"])
			}
		}
		return object{"names": names}, err
	case "put_collection":
		return done, c.PutCollection(ctx, a.Name, a.Policy)
	case "delete_collection":
		return done, c.DeleteCollection(ctx, a.Name)
	case "call":
		var whole object
		err := c.Call(ctx, a.Method, a.Path, a.Body, &whole)
		answer := object{}
		for _, name := range a.Only {
			answer[name] = whole[name]
		}
		return answer, err
	}
	return nil, errors.New("no such call: " + call)
}

// play plays a scenario: what differs.
func play(t *testing.T, c *Client, row object, tokenFile string) {
	text, _ := json.Marshal(row["steps"])
	run, now := strconv.FormatInt(time.Now().UnixNano(), 36), time.Now().UnixMilli()
	var steps []struct {
		SleepMs    int    `json:"sleep_ms"`
		WriteToken string `json:"write_token"`
		Call       string
		Args       json.RawMessage
		Answer     any
		Error      object
	}
	must(t, json.Unmarshal(bytes.ReplaceAll(text, []byte("$run"), []byte(run)), &steps))
	for _, step := range steps {
		time.Sleep(time.Duration(step.SleepMs) * time.Millisecond)
		if step.WriteToken != "" {
			must(t, os.WriteFile(tokenFile, []byte(step.WriteToken+"\n"), 0o600))
			must(t, os.Chtimes(tokenFile, time.Unix(1, 0), time.Unix(1, 0)))
		}
		if step.Call == "" {
			continue
		}
		a := &args{Limit: -1}
		must(t, json.Unmarshal(step.Args, a))
		answer, err := make_(context.Background(), c, step.Call, a, now)
		var outcome, expected any = answer, step.Answer
		if err != nil || step.Error != nil {
			var told *Error
			if !errors.As(err, &told) {
				told = &Error{Code: fmt.Sprint(err)}
			}
			failure := object{"code": told.Code, "field": told.Field}
			if _, asked := step.Error["status"]; asked {
				failure["status"] = told.Status
			}
			outcome, expected = failure, step.Error
		}
		written, _ := json.Marshal(outcome)
		var same any
		must(t, json.Unmarshal(written, &same))
		wanted, _ := json.Marshal(expected)
		var as any
		must(t, json.Unmarshal(wanted, &as))
		if (step.Answer != nil || step.Error != nil) && !reflect.DeepEqual(same, as) {
			t.Errorf("%s: %s %.300s: %.600s, not %.600s", row["name"], step.Call, step.Args, written, wanted)
			return
		}
	}
}

func TestScenariosOnAServer(t *testing.T) {
	c, _, _ := connect(t)
	rows := scenarios(t, false)
	for _, row := range rows {
		play(t, c, row, "")
	}
	equal(t, len(rows) > 180, true)
}

func TestScenariosOnADouble(t *testing.T) {
	rows := scenarios(t, false, "facts.json", "ids.json", "items.json", "pages.json", "sets.json")
	for _, row := range rows {
		play(t, NewDouble().Client, row, "")
	}
	equal(t, len(rows) > 80, true)
}

func TestNamesOfTheCallerStayAsTheyAre(t *testing.T) {
	names := []string{"a", "kept"}
	_, err := NewDouble().Filter(context.Background(), Number(1), Numbers(2), Collections(names[:1]...), ExcludeSets("s"))
	equal(t, err != nil, true) // the double knows no collections
	equal(t, names, []string{"a", "kept"})
}

func TestADoubleNamesWhereGroupsAreTheSame(t *testing.T) {
	ctx, d := context.Background(), NewDouble()
	plain, same := Play{User: Text("u"), Item: Text("a")}, Play{User: Text("u"), Item: Text("b"), SameAs: []string{"g"}}
	_, played := d.RecordPlays(ctx, []Play{plain, same})
	_, shown := d.RecordExposures(ctx, []Exposure{{User: Text("u"), Item: Text("a"), SameAs: []string{"g"}}})
	_, asked := d.Filter(ctx, Text("u"), Texts("a", "b"), GroupedBy(func(id ID) (groups Groups) {
		if id == Text("b") {
			groups.SameAs = []string{"g"}
		}
		return groups
	}))
	for field, err := range map[string]error{"/events/1/same_as": played, "/events/0/same_as": shown, "/items/1/same_as": asked} {
		var told *Error
		equal(t, errors.As(err, &told), true)
		equal(t, []any{told.Code, told.Field, told.Status}, []any{"invalid_argument", field, 400})
	}
	_, err := d.RecordPlays(ctx, []Play{{User: Text("u"), Item: Text("a"), Fields: json.RawMessage(`{"same_as":["text"]}`)}})
	must(t, err) // a member of the caller's own
}

func TestADoubleTakesBatchesOfEachForm(t *testing.T) {
	ctx, d := context.Background(), NewDouble()
	bulk := d.Bulk(BulkOptions{Batch: 2})
	for _, one := range []Play{{User: Number(1), Item: Number(1<<64 - 1)}, {User: Text("u"), Item: Text("caf\u00e9")}, {User: Number(1), Item: Number(3)}, {User: Text("u"), Item: Text("b"), Device: "tv"}} {
		must(t, bulk.Add(ctx, one))
	}
	must(t, bulk.Flush(ctx))
	equal(t, bulk.Accepted, 4)
	equal(t, d.Calls(), []string{"POST /plays", "POST /plays", "POST /plays"})
	found, err := d.Filter(ctx, Number(1), Numbers(1<<64-1, 3, 5))
	must(t, err)
	equal(t, found.Unseen, Numbers(5))
	found, err = d.Filter(ctx, Text("u"), Texts("caf\u00e9", "b", "c"))
	must(t, err)
	equal(t, found.Unseen, Texts("c"))
}

func TestADoubleFailsAsItIsTold(t *testing.T) {
	ctx, d := context.Background(), NewDouble()
	d.Fail("timeout", "busy")
	page, err := d.FillPage(ctx, Text("u"), Texts("a", "b"), 1, FailOpen)
	must(t, err)
	equal(t, page, Texts("a"))
	_, err = d.FillPage(ctx, Text("u"), Texts("a", "b"), 1, FailClosed)
	equal(t, CodeOf(err), "busy")
	d.Degrade(true)
	for _, items := range [][]ID{Texts("a"), Numbers(1)} {
		found, err := d.Filter(ctx, Text("u"), items)
		must(t, err)
		equal(t, found.Missing, []string{"double"})
	}
	equal(t, len(d.Calls()), 4)
}

func TestABulkTakesOneKindOfEvents(t *testing.T) {
	ctx, d := context.Background(), NewDouble()
	shown := Exposure{User: Text("u"), Item: Text("a"), Surface: "home"}
	for exposures, wrong := range map[bool]Event{false: shown, true: Play{User: Text("u"), Item: Text("a")}} {
		var told *Error
		if err := d.Bulk(BulkOptions{Exposures: exposures}).Add(ctx, wrong); !errors.As(err, &told) || told.Field != "/events/0" {
			t.Fatal(err)
		}
	}
	bulk := d.Bulk(BulkOptions{Exposures: true})
	must(t, bulk.Add(ctx, shown))
	must(t, bulk.Flush(ctx))
	for surface, unseen := range map[string][]ID{"home": Texts("b"), "search": Texts("a", "b")} {
		found, err := d.Filter(ctx, Text("u"), Texts("a", "b"), Not(NotEntry{Fact: "exposed", Surface: surface}))
		must(t, err)
		equal(t, found.Unseen, unseen)
	}
}

func TestTimesOfNotAndOfUpdates(t *testing.T) {
	text, err := json.Marshal(NotEntry{Fact: "exposed", Within: 90 * time.Second, Last: 5})
	must(t, err)
	equal(t, string(text), `{"fact":"exposed","last":5,"within":"90000ms"}`)
	body := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		text, _ := io.ReadAll(asked.Body)
		body <- string(text)
		fmt.Fprint(w, `{"accepted":1,"stale":2,"refused":0,"refusals":[]}`)
	}))
	defer server.Close()
	c, err := New(server.URL)
	must(t, err)
	taken, err := c.PutItems(context.Background(), []ItemUpdate{{ID: Number(1<<53 + 1), Version: 3, Delete: true, ExpiresAt: time.UnixMilli(7)}})
	must(t, err)
	equal(t, taken, Recorded{Accepted: 1, Stale: 2})
	equal(t, <-body, `{"items":[{"id":"9007199254740993","version":3,"delete":true,"expires_at":7}]}`)
}

func TestScenariosOnALiar(t *testing.T) {
	process := exec.Command("python3", filepath.Join(conformance(), "liar.py"))
	input, err := process.StdinPipe() // it ends with this
	must(t, err)
	output, err := process.StdoutPipe()
	must(t, err)
	must(t, process.Start())
	defer func() { input.Close(); _ = process.Wait() }()
	line, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	control := strings.TrimSpace(line)
	rows := scenarios(t, true)
	for _, row := range rows {
		var begun struct {
			URLs    []string
			CA, DNS string
		}
		got, err := http.Post(control+"/"+url.PathEscape(row["name"].(string)), "", nil)
		must(t, err)
		must(t, json.NewDecoder(got.Body).Decode(&begun))
		said := row["client"].(object)
		options := Options{Timeout: time.Duration(said["timeout_ms"].(float64)) * time.Millisecond}
		if retries, has := said["retries"].(float64); has && retries == 0 {
			options.Retries = -1
		}
		if hedge, has := said["hedge_ms"].(float64); has {
			options.Hedge = time.Duration(hedge) * time.Millisecond
		}
		options.Cluster, _ = said["cluster"].(bool)
		options.Token, _ = said["token"].(string)
		options.DNS = begun.DNS
		if said["ca"] == true {
			options.CA = begun.CA
		}
		if text, has := said["token_file"].(string); has {
			options.TokenFile = filepath.Join(t.TempDir(), "token")
			must(t, os.WriteFile(options.TokenFile, []byte(text+"\n"), 0o600))
		}
		if only, has := row["only"].(float64); has {
			begun.URLs = begun.URLs[:int(only)]
		}
		c, err := NewWith(options, begun.URLs...)
		must(t, err)
		play(t, c, row, options.TokenFile)
		c.Close()
		var wrong []string
		got, err = http.Get(control + "/differences")
		must(t, err)
		must(t, json.NewDecoder(got.Body).Decode(&wrong))
		for _, one := range wrong {
			t.Errorf("%s: %s", row["name"], one)
		}
	}
	equal(t, len(rows) > 80, true)
}

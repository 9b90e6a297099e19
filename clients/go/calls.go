package seendb

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Play is one item that a user watched.
type Play struct {
	User ID `json:"user"`
	Item ID `json:"item"`
	// At is when; the zero time: the present, set before the first try, so that a second one counts
	// once.
	At time.Time `json:"-"`
	// ProgressS is how far the player is in seconds, -1: finished; DurationS how long the item is.
	ProgressS *int            `json:"progress_s,omitempty"`
	DurationS *int            `json:"duration_s,omitempty"`
	Device    string          `json:"device,omitempty"`
	Fields    json.RawMessage `json:"fields,omitempty"`
	// Of is groups that the item belongs to, by which the play is counted; SameAs those that are one with it for the user
	// ("src:9"): they are seen with it. At most 16 together.
	Of     []string `json:"of,omitempty"`
	SameAs []string `json:"same_as,omitempty"`
}

// Refusal is an event that was not taken.
type Refusal struct {
	Index int // in the call
	Error Error
}

// Recorded is what became of a call's events.
type Recorded struct {
	Accepted, Refused int
	Refusals          []Refusal // at most 100
	Pending           bool      // in a cluster: in the log, and not applied yet
	Stale             int       // of PutItems: fields that the items had with a higher version
}

// Event is a Play or an Exposure.
type Event interface {
	// told gives the event as the server takes it, and its user.
	told(now time.Time, index int) (any, ID, error)
}

// RecordPlays records plays. Where some are refused, Recorded.Refusals says which and why; where all
// are, the error is *Refused.
func (c *Client) RecordPlays(ctx context.Context, plays []Play, options ...CallOption) (Recorded, error) {
	return recordEvents(ctx, c, "RecordPlays", "/plays", plays, options)
}

func recordEvents[E Event](ctx context.Context, c *Client, name, path string, list []E, options []CallOption) (Recorded, error) {
	now := time.Now()
	events, users := make([]any, len(list)), make([]string, len(list))
	var only *ID
	for i, one := range list {
		event, user, err := one.told(now, i)
		if err != nil {
			return Recorded{}, err
		}
		events[i], users[i] = event, user.String()
		if i == 0 {
			only = &user
		} else if users[i] != users[0] {
			only = nil
		}
	}
	return c.record(ctx, name, path, map[string]any{"events": events}, only, users, options)
}

func (p Play) told(now time.Time, index int) (any, ID, error) {
	at, err := checkEvent(p.User, p.Item, p.At, now, index)
	return struct {
		Play
		At int64 `json:"at"`
	}{p, at}, p.User, err
}

// checkEvent gives an event's time in ms since 1970.
func checkEvent(user, item ID, at, now time.Time, index int) (int64, error) {
	where := "/events/" + strconv.Itoa(index)
	if err := user.check(where + "/user"); err != nil {
		return 0, err
	}
	if at.IsZero() {
		at = now
	}
	return at.UnixMilli(), item.check(where + "/item")
}

// RecordImpressions records that the user was served the items. They are counted by the groups that GroupedBy tells.
func (c *Client) RecordImpressions(ctx context.Context, user ID, items []ID, options ...CallOption) (Recorded, error) {
	if err := user.check("/user"); err != nil {
		return Recorded{}, err
	}
	served, err := candidatesOf(items, chosenOf(options).groups, false)
	if err != nil {
		return Recorded{}, err
	}
	body := map[string]any{"user": user, "items": served, "at": time.Now().UnixMilli()}
	return c.record(ctx, "RecordImpressions", "/impressions", body, &user, []string{user.String()}, options)
}

// record writes events, a mark or updates of items.
func (c *Client) record(ctx context.Context, name, path string, body map[string]any, user *ID, users []string, options []CallOption) (Recorded, error) {
	if chosen := chosenOf(options); chosen.collection != "" {
		body["collection"] = chosen.collection
	}
	got, err := c.send(ctx, &request{name: name, method: "POST", path: path, user: user}, body)
	if err != nil {
		return Recorded{}, err
	}
	recorded, err := c.recorded(got, users)
	if err != nil {
		return Recorded{}, err
	}
	if got.status == http.StatusUnprocessableEntity && len(recorded.Refusals) > 0 {
		first := recorded.Refusals[0]
		told := first.Error
		if users != nil && name != "Mark" { // else the server says the whole place
			told.Field = "/events/" + strconv.Itoa(first.Index) + told.Field
		}
		return recorded, &Refused{&told, recorded}
	}
	return recorded, nil
}

// recorded reads what became of events.
func (c *Client) recorded(got *answer, users []string) (Recorded, error) {
	c.note(got, users)
	var told struct {
		Accepted, Refused, Stale int
		Refusals                 []struct {
			Index int
			Error struct{ Code, Message, Field string }
		}
	}
	if err := read(got, &told, "accepted"); err != nil {
		return Recorded{}, err
	}
	recorded := Recorded{Accepted: told.Accepted, Refused: told.Refused, Pending: got.status == http.StatusAccepted, Stale: told.Stale}
	for _, one := range told.Refusals {
		recorded.Refusals = append(recorded.Refusals, Refusal{one.Index, Error{Code: one.Error.Code, Message: one.Error.Message, Field: one.Error.Field, Status: got.status}})
	}
	return recorded, nil
}

// note keeps the position behind a write, which reads of these users send.
func (c *Client) note(got *answer, users []string) {
	told := readPosition(got.header.Get("SeenDB-Position"))
	if len(told) == 0 || len(told) > partsMost {
		return
	}
	for _, user := range users {
		c.positions.change(user, func(before any) any {
			known, _ := before.(string)
			return newest(known, told)
		})
	}
}

// Filtered is what a user has not seen of the candidates.
type Filtered struct {
	Unseen     []ID              // in their order, each once, as they were given
	Seen       int               //
	Examined   int               // those behind them, where a limit ended the work, were not
	Degraded   bool              // something could not be read: items may be called unseen that were seen
	Missing    []string          // what
	Excluded   int               //
	Duplicates int               //
	Recorded   bool              // with Record: whether the unseen were recorded as served
	Reasons    map[string]string // with Explain
	Undated    int               // with GroupedBy: those without a time, of a group that is marked up to a time
	Coarse     []string          // with Not: facts of which more counted than was asked for ("played" by the bucket)
	Beyond     []string          // with Not: facts of which less is kept than was asked for
	Repeats    []ID              // with WhenShort: seen candidates that come back, the one seen longest ago first
	// Fields, with Fields: objects of JSON by the item's text, of the unseen that the server knows; FieldsLeftOut counts
	// those that did not fit into the answer (16 MiB).
	Fields        map[string]json.RawMessage
	FieldsLeftOut int `json:"fields_left_out"`
}

// UnseenShare says how dry the page runs: the unseen divided by the examined; 1 where none was examined.
func (f *Filtered) UnseenShare() float64 {
	if f.Examined == 0 {
		return 1
	}
	return float64(len(f.Unseen)) / float64(f.Examined)
}

type chosen struct {
	collection, onError     string
	groups                  func(ID) Groups
	limit                   int
	exclude                 []ID
	sets, collections       []string
	sameAs                  []string // of a deletion
	record, verify, explain bool
	deadline                time.Duration
	within                  bool
	rules                   map[string]any // what JSON alone has, by the names of the request
}

// rule is an option that sets a rule, or takes it away.
func rule(name string, value any, set bool) CallOption {
	return func(c *chosen) {
		if delete(c.rules, name); set {
			if c.rules == nil {
				c.rules = map[string]any{}
			}
			c.rules[name] = value
		}
	}
}

// CallOption changes one call.
type CallOption func(*chosen)

func chosenOf(options []CallOption) chosen {
	var all chosen
	for _, option := range options {
		option(&all)
	}
	return all
}

// Collection names the collection; "default" without.
func Collection(name string) CallOption { return func(c *chosen) { c.collection = name } }

// Collections names up to 8 of them: what was seen in any counts, in place of Collection alone, whose policy still says
// all else, such as what Record writes.
func Collections(names ...string) CallOption { return func(c *chosen) { c.collections = names } }

// Limit stops a filter once so many unseen ones are found.
func Limit(n int) CallOption { return func(c *chosen) { c.limit = n } }

// Exclude names ids that are never unseen.
func Exclude(ids ...ID) CallOption { return func(c *chosen) { c.exclude = ids } }

// Record records the unseen as served, in the same step.
func Record() CallOption { return func(c *chosen) { c.record = true } }

// Verify looks plays up in the history: none is falsely called seen.
func Verify() CallOption { return func(c *chosen) { c.verify = true } }

// Explain says why an item is seen.
func Explain() CallOption { return func(c *chosen) { c.explain = true } }

// Facts names what counts: "plays", "impressions"; without: both.
func Facts(names ...string) CallOption { return rule("facts", names, len(names) > 0) }

// OrFail makes a filter fail where its answer would be degraded.
func OrFail() CallOption { return func(c *chosen) { c.onError = "fail" } }

// Within has the server answer within so long, degraded at worst; without: four fifths of the call's time.
func Within(d time.Duration) CallOption { return func(c *chosen) { c.deadline, c.within = d, true } }

// haveComma tells whether a name can't stand in a list of the query.
func haveComma(names []string) bool {
	for _, name := range names {
		if strings.Contains(name, ",") {
			return true
		}
	}
	return false
}

// Filter tells which of the items the user has not seen. Integers alone go in binary.
func (c *Client) Filter(ctx context.Context, user ID, items []ID, options ...CallOption) (*Filtered, error) {
	asked := chosenOf(options)
	if err := user.check("/user"); err != nil {
		return nil, err
	}
	if !asked.within {
		asked.deadline = time.Until(c.deadlineOf(ctx)) * 4 / 5
		if asked.deadline < time.Millisecond {
			asked.deadline = time.Millisecond
		}
	}
	if !asked.explain && len(asked.rules) == 0 && asked.groups == nil && len(items) > 0 && !haveComma(asked.collections) && !haveComma(asked.sets) {
		if body, ok := packed(make([]byte, 0, 8*(len(items)+len(asked.exclude))), items); ok {
			if body, ok = packed(body, asked.exclude); ok {
				return c.filterBinary(ctx, user, items, body, asked)
			}
		}
	}
	candidates, err := candidatesOf(items, asked.groups, true)
	if err != nil {
		return nil, err
	}
	if err := checkAll(asked.exclude, "/exclude"); err != nil {
		return nil, err
	}
	body := map[string]any{"user": user, "items": candidates}
	for name, value := range asked.rules {
		body[name] = value
	}
	asked.each(func(name string, value any) { body[name] = value })
	if len(asked.exclude) > 0 {
		body["exclude"] = asked.exclude
	}
	if len(asked.sets) > 0 {
		body["exclude_sets"] = asked.sets
	}
	if len(asked.collections) > 0 {
		body["collections"] = asked.collections
	}
	if asked.explain {
		body["explain"] = true
	}
	got, err := c.send(ctx, &request{name: "Filter", method: "POST", path: "/filter", user: &user, hedge: !asked.record}, body)
	if err != nil {
		return nil, err
	}
	var told struct {
		Filtered
		Recorded *bool
	}
	if err := read(got, &told, "unseen"); err != nil {
		return nil, err
	}
	if err := asGiven(items, got.status, told.Unseen, told.Repeats); err != nil {
		return nil, err
	}
	told.Filtered.Recorded = asked.record && (told.Recorded == nil || *told.Recorded)
	return &told.Filtered, nil
}

// each tells what both forms of a filter say.
func (c *chosen) each(put func(name string, value any)) {
	for _, one := range []struct {
		name  string
		value any
		set   bool
	}{{"collection", c.collection, c.collection != ""}, {"limit", c.limit, c.limit != 0}, {"record", true, c.record}, {"verify", true, c.verify},
		{"on_error", c.onError, c.onError != ""}, {"deadline_ms", c.deadline.Milliseconds(), true}} {
		if one.set {
			put(one.name, one.value)
		}
	}
}

// asGiven puts the ids that were asked about in place of an answer's.
func asGiven(asked []ID, status int, told ...[]ID) error {
	given := make(map[string]ID, len(asked))
	for i := len(asked) - 1; i >= 0; i-- {
		given[asked[i].String()] = asked[i]
	}
	for _, list := range told {
		for i, id := range list {
			own, known := given[id.String()]
			if !known {
				return &Error{Code: "protocol", Message: fmt.Sprintf("the answer names what was not asked about: %q", id), Status: status}
			}
			list[i] = own
		}
	}
	return nil
}

func (c *Client) filterBinary(ctx context.Context, user ID, items []ID, body []byte, asked chosen) (*Filtered, error) {
	query := url.Values{"user": {user.String()}, "ids": {"u64"}, "count": {strconv.Itoa(len(body) / 8)}}
	asked.each(func(name string, value any) { query.Set(name, fmt.Sprint(value)) })
	if len(asked.exclude) > 0 {
		query.Set("exclude", strconv.Itoa(len(asked.exclude)))
	}
	if len(asked.sets) > 0 {
		query.Set("exclude_sets", strings.Join(asked.sets, ","))
	}
	if len(asked.collections) > 0 {
		query.Set("collections", strings.Join(asked.collections, ","))
	}
	got, err := c.ask(ctx, &request{name: "Filter", method: "POST", path: "/filter", query: query, body: body,
		contentType: "application/octet-stream", user: &user, hedge: !asked.record})
	if err != nil {
		return nil, err
	}
	if len(got.body) != (len(items)+7)/8 || got.header.Get("SeenDB-Seen") == "" {
		return nil, &Error{Code: "protocol", Message: "the answer is no bitmap of the items", Status: got.status}
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(got.header.Get(name))
		return n
	}
	found := &Filtered{Seen: number("SeenDB-Seen"), Examined: number("SeenDB-Examined"), Excluded: number("SeenDB-Excluded"),
		Duplicates: number("SeenDB-Duplicates"), Degraded: got.header.Get("SeenDB-Degraded") != "0",
		Recorded: got.header.Get("SeenDB-Recorded") == "true"}
	if missing := got.header.Get("SeenDB-Missing"); missing != "" {
		found.Missing = strings.Split(missing, ", ")
	}
	for i, item := range items {
		if got.body[i/8]>>(i%8)&1 != 0 {
			found.Unseen = append(found.Unseen, item)
		}
	}
	return found, nil
}

// Entry is an item of a user's watch history.
type Entry struct {
	Collection string          `json:"collection"`
	Item       string          `json:"item"`
	At         int64           `json:"at"` // ms since 1970
	ProgressS  int             `json:"progress_s"`
	DurationS  int             `json:"duration_s"`
	Device     string          `json:"device"`
	Fields     json.RawMessage `json:"fields"`
}

// HistoryPage is some entries, newest first.
type HistoryPage struct {
	Entries  []Entry
	Cursor   string // of the next page; empty: this is the last
	Kept     *bool  // false: none of the collections keeps history
	Degraded bool
	Missing  []string
}

// HistoryPage reads a page of what the user watched: at most `limit` entries behind the cursor of the
// page before (empty: the newest). Collection names one collection; without: all.
func (c *Client) HistoryPage(ctx context.Context, user ID, limit int, cursor string, options ...CallOption) (*HistoryPage, error) {
	page := &HistoryPage{}
	return page, c.page(ctx, "HistoryPage", &user, userPath(user, "/history"), "entries", pageOf(limit, cursor, options), page)
}

const pageMost = 1_000

// History reads all of what the user watched, newest first, page by page.
func (c *Client) History(ctx context.Context, user ID, options ...CallOption) ([]Entry, error) {
	all := []Entry{}
	for cursor := ""; ; {
		page, err := c.HistoryPage(ctx, user, pageMost, cursor, options...)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Entries...)
		if cursor = page.Cursor; cursor == "" {
			return all, nil
		}
	}
}

// LookUpHistory tells where the player is in the items, of those that are in the history.
func (c *Client) LookUpHistory(ctx context.Context, user ID, items []ID, options ...CallOption) (map[string]Entry, error) {
	if err := checkAll(items, "/items"); err != nil {
		return nil, err
	}
	var told struct{ Entries []*Entry }
	if err := c.write(ctx, "LookUpHistory", "POST", user, "/history/lookup", itemsOf(items, options), &told); err != nil {
		return nil, err
	}
	found := map[string]Entry{}
	for _, entry := range told.Entries {
		if entry != nil {
			found[entry.Item] = *entry
		}
	}
	return found, nil
}

func itemsOf(items []ID, options []CallOption) map[string]any {
	body, asked := map[string]any{"items": items}, chosenOf(options)
	if asked.collection != "" {
		body["collection"] = asked.collection
	}
	if len(asked.sameAs) > 0 {
		body["same_as"] = asked.sameAs
	}
	return body
}

// SameAs names groups that DeleteHistory lets be recommended again with the items, where the policy says so of deleted ones.
func SameAs(groups ...string) CallOption { return func(c *chosen) { c.sameAs = groups } }

// DeleteHistory takes items out of the history.
func (c *Client) DeleteHistory(ctx context.Context, user ID, items []ID, options ...CallOption) error {
	if err := checkAll(items, "/items"); err != nil {
		return err
	}
	return c.write(ctx, "DeleteHistory", "POST", user, "/history/delete", itemsOf(items, options), nil)
}

// ClearHistory takes all entries out, of one collection or of all.
func (c *Client) ClearHistory(ctx context.Context, user ID, options ...CallOption) error {
	body := map[string]any{}
	if asked := chosenOf(options); asked.collection != "" {
		body["collections"] = []string{asked.collection}
	}
	return c.write(ctx, "ClearHistory", "POST", user, "/history/clear", body, nil)
}

// SetRecording pauses the history, or goes on with it.
func (c *Client) SetRecording(ctx context.Context, user ID, recording bool) error {
	return c.write(ctx, "SetRecording", "PUT", user, "/recording", map[string]any{"paused": !recording}, nil)
}

// Erase forgets a user, for good. Whether anything was known.
func (c *Client) Erase(ctx context.Context, user ID) (bool, error) {
	var told struct{ Known bool }
	err := c.write(ctx, "Erase", "DELETE", user, "", nil, &told)
	return told.Known, err
}

// Inspect tells what is held about a user, as the server says it.
func (c *Client) Inspect(ctx context.Context, user ID) (map[string]any, error) {
	told := map[string]any{}
	return told, c.write(ctx, "Inspect", "GET", user, "", nil, &told)
}

// Export reads everything held about a user: lines of JSON, the last of type "end".
func (c *Client) Export(ctx context.Context, user ID) ([]json.RawMessage, error) {
	if err := user.check("/user"); err != nil {
		return nil, err
	}
	got, err := c.ask(ctx, &request{name: "Export", method: "GET", path: userPath(user, "/export"), user: &user})
	if err != nil {
		return nil, err
	}
	lines := []json.RawMessage{}
	for _, line := range strings.Split(string(got.body), "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, json.RawMessage(line))
		}
	}
	return lines, nil
}

func (c *Client) write(ctx context.Context, name, method string, user ID, rest string, body, to any) error {
	if err := user.check("/user"); err != nil {
		return err
	}
	r := &request{name: name, method: method, path: userPath(user, rest), user: &user, hedge: method == "GET"}
	got, err := c.send(ctx, r, body)
	if err != nil {
		return err
	}
	c.note(got, []string{user.String()})
	if to == nil {
		return nil
	}
	return read(got, to)
}

// Collections lists names and policies.
func (c *Client) Collections(ctx context.Context) ([]map[string]any, error) {
	var told struct{ Collections []map[string]any }
	return told.Collections, c.Call(ctx, "GET", "/collections", nil, &told)
}

// PutCollection makes a collection, or changes its policy: what is not named stays.
func (c *Client) PutCollection(ctx context.Context, name string, policy map[string]any) error {
	if policy == nil {
		policy = map[string]any{}
	}
	return c.Call(ctx, "PUT", "/collections/"+url.PathEscape(name), policy, nil)
}

// DeleteCollection deletes a collection with all that it holds.
func (c *Client) DeleteCollection(ctx context.Context, name string) error {
	escaped := url.PathEscape(name)
	return c.Call(ctx, "DELETE", "/collections/"+escaped+"?confirm="+url.QueryEscape(name), nil, nil)
}

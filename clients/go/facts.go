package seendb

import (
	"context"
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"time"
)

// Exposure is one item that really was on a user's screen.
type Exposure struct {
	User    ID        `json:"user"`
	Item    ID        `json:"item"`
	At      time.Time `json:"-"`                 // the zero time: the present, set before the first try
	Surface string    `json:"surface,omitempty"` // where, such as "home"; empty: it is not said
	Of      []string  `json:"of,omitempty"`      // as those of a Play
	SameAs  []string  `json:"same_as,omitempty"`
}

func (e Exposure) told(now time.Time, index int) (any, ID, error) {
	at, err := checkEvent(e.User, e.Item, e.At, now, index)
	return struct {
		Exposure
		At int64 `json:"at"`
	}{e, at}, e.User, err
}

// RecordExposures records what was on screen, as RecordPlays does plays. It makes an item seen where a filter asks for
// it (Not), or the collection's policy says exposed_is_seen.
func (c *Client) RecordExposures(ctx context.Context, exposures []Exposure, options ...CallOption) (Recorded, error) {
	return recordEvents(ctx, c, "RecordExposures", "/exposures", exposures, options)
}

// NotEntry is what makes an item seen: one event has to meet all that it says. The zero value of a member says nothing.
type NotEntry struct {
	Fact    string        `json:"fact"` // "played", "served" or "exposed"
	Window  int           `json:"window,omitempty"`
	Within  time.Duration `json:"-"` // not longer ago
	Last    int           `json:"last,omitempty"`
	Surface string        `json:"surface,omitempty"`
}

// MarshalJSON writes Within in ms.
func (n NotEntry) MarshalJSON() ([]byte, error) {
	type plain NotEntry
	return json.Marshal(struct {
		plain
		Within span `json:"within,omitempty"`
	}{plain(n), span(n.Within)})
}

// span is written in ms.
type span time.Duration

func (s span) MarshalJSON() ([]byte, error) {
	return json.Marshal(strconv.FormatInt(time.Duration(s).Milliseconds(), 10) + "ms")
}

// Not says what makes an item seen, in place of Facts: any of the entries.
func Not(entries ...NotEntry) CallOption { return rule("not", entries, len(entries) > 0) }

// Cap is at most N events of each group of a kind ("author") within a span of a minute to 30 days.
type Cap struct {
	Of     string        `json:"of"`
	N      int           `json:"n"`
	Within time.Duration `json:"-"`
	Fact   string        `json:"fact,omitempty"` // "served" without
}

// MarshalJSON writes Within in ms.
func (c Cap) MarshalJSON() ([]byte, error) {
	type plain Cap
	return json.Marshal(struct {
		plain
		Within span `json:"within"`
	}{plain(c), span(c.Within)})
}

// Caps drops a candidate if one of its groups (GroupedBy) has its number of events, those of the page before it included.
func Caps(caps ...Cap) CallOption { return rule("caps", caps, len(caps) > 0) }

// ExcludeSets names sets (PutSet), 8 at most, whose members are never unseen.
func ExcludeSets(names ...string) CallOption { return func(c *chosen) { c.sets = names } }

// WhenShort has up to `most` seen candidates come back (Filtered.Repeats) where fewer than `need` are unseen: those that
// were last seen at least `gap` ago.
func WhenShort(need int, gap time.Duration, most int) CallOption {
	return rule("when_short", map[string]any{"need": need, "gap": span(gap), "max": most}, true)
}

// Groups is what an item belongs to (Of: "channel:9"), for the user's marks, for counts and for caps, and what is one with
// it for the user (SameAs: "src:9"): it is seen if something of that is. At most 16 together.
type Groups struct {
	Of     []string
	At     time.Time // when it was published; the zero time: only a mark for ever makes it seen
	SameAs []string
}

// GroupedBy tells the groups of each item of Filter, FillPage, SearchUnseen, RecordImpressions and Reserve.
func GroupedBy(groups func(ID) Groups) CallOption { return func(c *chosen) { c.groups = groups } }

type candidate struct {
	ID     ID       `json:"id"`
	Of     []string `json:"of,omitempty"`
	SameAs []string `json:"same_as,omitempty"`
	At     *int64   `json:"at,omitempty"`
}

// candidatesOf gives the candidates as the server takes them, with their times if they are `dated`.
func candidatesOf(items []ID, groups func(ID) Groups, dated bool) (any, error) {
	if groups == nil {
		return append([]ID{}, items...), checkAll(items, "/items")
	}
	all := make([]any, len(items))
	for i, id := range items {
		of, where := groups(id), "/items/"+strconv.Itoa(i)
		if len(of.Of)+len(of.SameAs) == 0 {
			all[i] = id
		} else {
			told := candidate{ID: id, Of: of.Of, SameAs: of.SameAs}
			if dated && !of.At.IsZero() {
				at := of.At.UnixMilli()
				told.At = &at
			}
			all[i], where = told, where+"/id"
		}
		if err := id.check(where); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Always is the time up to which all of a group is seen, for ever.
var Always = time.UnixMilli(math.MaxInt64)

// Mark marks all of a group as seen that was published up to `until`, or Always. The mark that reaches furthest counts, in
// all collections, for candidates that name the group (GroupedBy). It is said at the present, set before the first try:
// one that is said no later than an Unmark does not count.
func (c *Client) Mark(ctx context.Context, user ID, group string, until time.Time) error {
	if err := user.check("/user"); err != nil {
		return err
	}
	body := map[string]any{"group": group, "until": until.UnixMilli(), "at": time.Now().UnixMilli()}
	if until.Equal(Always) {
		body["until"] = "always"
	}
	_, err := c.record(ctx, "Mark", userPath(user, "/marks"), body, &user, []string{user.String()}, nil)
	return err
}

// Unmark deletes the mark of a group; whether one counted. A repeat of it says false.
func (c *Client) Unmark(ctx context.Context, user ID, group string) (bool, error) {
	var told struct{ Deleted bool }
	err := c.write(ctx, "Unmark", "DELETE", user, "/marks/"+url.PathEscape(group), nil, &told)
	return told.Deleted, err
}

// Mark is a group that a user marked as seen.
type Mark struct {
	Group     string
	Until, At time.Time // up to when; when it was said
}

// UnmarshalJSON reads times in ms since 1970, and "always".
func (m *Mark) UnmarshalJSON(text []byte) error {
	var told struct {
		Group string
		Until any
		At    int64
	}
	err := json.Unmarshal(text, &told)
	*m = Mark{told.Group, Always, time.UnixMilli(told.At)}
	if until, is := told.Until.(float64); is {
		m.Until = time.UnixMilli(int64(until))
	}
	return err
}

// MarksPage is a page of marks, by group.
type MarksPage struct {
	Marks    []Mark
	Cursor   string // of the next page; empty: this is the last
	Degraded bool   // marks may be missing
	Missing  []string
}

// Marks reads a page of what the user marked: at most `limit` (1,000) groups behind the cursor of the page before (empty:
// from the first).
func (c *Client) Marks(ctx context.Context, user ID, limit int, cursor string) (*MarksPage, error) {
	page := &MarksPage{}
	return page, c.page(ctx, "Marks", &user, userPath(user, "/marks"), "marks", pageOf(limit, cursor, nil), page)
}

// pageOf is the query of a page of a list.
func pageOf(limit int, cursor string, options []CallOption) url.Values {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	if asked := chosenOf(options); asked.collection != "" {
		query.Set("collection", asked.collection)
	}
	return query
}

// page reads a list, or a page of it. `user`: nil, or whose it is.
func (c *Client) page(ctx context.Context, name string, user *ID, path, needs string, query url.Values, to any) error {
	if user != nil {
		if err := user.check("/user"); err != nil {
			return err
		}
	}
	got, err := c.ask(ctx, &request{name: name, method: "GET", path: path, query: query, user: user, hedge: true})
	if err != nil {
		return err
	}
	return read(got, to, needs)
}

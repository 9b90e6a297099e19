package seendb

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"time"
)

// ItemSet is a named set of items.
type ItemSet struct {
	Name    string
	Count   int   // of its ids
	Bytes   int   // of the server's memory
	At      int64 // when it was put, in ms since 1970
	Damaged bool  // part of it can't be read: put it again
}

// SetPage is a set and a page of its ids, as text, in the order of their bytes.
type SetPage struct {
	ItemSet
	Items  []string
	Cursor string // of the next page; empty: this is the last
}

const setLine = 10_000 // ids of a line of NDJSON

func setPath(name string) string { return "/sets/" + url.PathEscape(name) }

// PutSet makes these ids (a million at most) the set of all users, in place of those that it had. It is on the server's disk
// once this returns. The name has 1-64 bytes. An error of code "too_large": all sets together have no room.
func (c *Client) PutSet(ctx context.Context, name string, items []ID) (ItemSet, error) {
	var told ItemSet
	if err := checkAll(items, "/items"); err != nil {
		return told, err
	}
	var body bytes.Buffer
	for lines := json.NewEncoder(&body); ; items = items[setLine:] {
		end := len(items)
		if end > setLine {
			end = setLine
		}
		if err := lines.Encode(map[string]any{"items": append([]ID{}, items[:end]...)}); err != nil {
			return told, err
		}
		if end == len(items) {
			break
		}
	}
	got, err := c.ask(ctx, &request{name: "PutSet", method: "PUT", path: setPath(name), body: body.Bytes(), contentType: "application/x-ndjson"})
	if err != nil {
		return told, err
	}
	return told, read(got, &told, "count")
}

// GetSet reads a set and a page of its ids: at most `limit` (10,000) behind the cursor of the page before (empty: from the
// first).
func (c *Client) GetSet(ctx context.Context, name string, limit int, cursor string) (*SetPage, error) {
	page := &SetPage{}
	return page, c.page(ctx, "GetSet", nil, setPath(name), "items", pageOf(limit, cursor, nil), page)
}

// DeleteSet deletes a set: a filter that names it fails with "not_found" from then on, and so does this.
func (c *Client) DeleteSet(ctx context.Context, name string) error {
	return c.Call(ctx, "DELETE", setPath(name), nil, nil)
}

// Sets lists all sets by name, without their ids.
func (c *Client) Sets(ctx context.Context) ([]ItemSet, error) {
	var told struct{ Sets []ItemSet }
	err := c.page(ctx, "Sets", nil, "/sets", "sets", nil, &told)
	return told.Sets, err
}

// GroupCounts is how often a user was served, exposed to and played what belongs to a group: events by span, which is "1h",
// "1d", "7d" or "30d".
type GroupCounts struct {
	Key                     string // the group
	Served, Exposed, Played map[string]int
	AtLeast                 bool `json:"at_least"` // there may have been more than are kept (255 of a group and fact)
}

// CountsPage is the counts of a kind of groups, those with the newest events first.
type CountsPage struct {
	Counts   []GroupCounts
	More     bool // the user has more than 1,000 groups of the kind
	Degraded bool // counts may be missing
	Missing  []string
}

// Counts reads how often the user met what belongs to groups of a kind: "author" asks for it and all "author:...", as events
// named them.
func (c *Client) Counts(ctx context.Context, user ID, of string, options ...CallOption) (*CountsPage, error) {
	query, page := url.Values{"of": {of}}, &CountsPage{}
	if asked := chosenOf(options); asked.collection != "" {
		query.Set("collection", asked.collection)
	}
	return page, c.page(ctx, "Counts", &user, userPath(user, "/counts"), "counts", query, page)
}

// Reserved is what became of the items of a reservation, as they were given.
type Reserved struct {
	Reserved []ID
	Refused  []ID // a cap leaves no room for them
}

// Reserve promises to serve items as far as caps (Caps) leave room for their groups (GroupedBy), checked and counted in one
// step. A reservation counts as served until it expires, or an impression of the item takes its place. It has the time of the
// first try: a second one counts once.
func (c *Client) Reserve(ctx context.Context, user ID, items []ID, expires time.Duration, options ...CallOption) (*Reserved, error) {
	asked := chosenOf(options)
	if err := user.check("/user"); err != nil {
		return nil, err
	}
	candidates, err := candidatesOf(items, asked.groups, true)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"user": user, "items": candidates, "caps": []Cap{}, "expires_ms": expires.Milliseconds(), "at": time.Now().UnixMilli()}
	if caps, set := asked.rules["caps"]; set {
		body["caps"] = caps
	}
	if asked.collection != "" {
		body["collection"] = asked.collection
	}
	got, err := c.send(ctx, &request{name: "Reserve", method: "POST", path: "/reserve", user: &user}, body)
	if err != nil {
		return nil, err
	}
	c.note(got, []string{user.String()})
	told := &Reserved{}
	if err := read(got, told, "reserved", "refused"); err != nil {
		return nil, err
	}
	return told, asGiven(items, got.status, told.Reserved, told.Refused)
}

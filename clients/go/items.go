package seendb

import (
	"context"
	"encoding/json"
	"strconv"
	"time"
)

// ItemField is a field that items may have. Type is bool, i64, f32, text, list_i64 or list_text.
type ItemField struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Column bool   `json:"column,omitempty"`
}

// PutItemSchema makes these the fields that items may have. One whose name is missing is removed with its values.
func (c *Client) PutItemSchema(ctx context.Context, fields []ItemField) error {
	return c.Call(ctx, "PUT", "/items/schema", map[string]any{"fields": append([]ItemField{}, fields...)}, nil)
}

// ItemUpdate changes an item. Updates are free of order and harmless when repeated: each field keeps the value with the
// highest version.
type ItemUpdate struct {
	ID        ID             `json:"id"`
	Version   int64          `json:"version"` // from 1
	Set       map[string]any `json:"set,omitempty"`
	Unset     []string       `json:"unset,omitempty"`
	Replace   bool           `json:"replace,omitempty"` // fields with lower versions go
	Delete    bool           `json:"delete,omitempty"`  // the item goes
	ExpiresAt time.Time      `json:"-"`                 // the zero time: it is not said
}

// PutItems updates items. A malformed update is an error, and nothing is taken; where all are refused the error is *Refused.
func (c *Client) PutItems(ctx context.Context, updates []ItemUpdate) (Recorded, error) {
	type written struct {
		ItemUpdate
		ExpiresAt *int64 `json:"expires_at,omitempty"`
	}
	all := make([]written, len(updates))
	for i, one := range updates {
		if err := one.ID.check("/items/" + strconv.Itoa(i) + "/id"); err != nil {
			return Recorded{}, err
		}
		all[i].ItemUpdate = one
		if !one.ExpiresAt.IsZero() {
			at := one.ExpiresAt.UnixMilli()
			all[i].ExpiresAt = &at
		}
	}
	return c.record(ctx, "PutItems", "/items", map[string]any{"items": all}, nil, nil, nil)
}

// Item is what the server knows of an item.
type Item struct {
	ID      ID              // as it was asked for
	Version int64           // the highest that it was updated with
	Fields  json.RawMessage // an object, by the names of the schema
}

// GetItems reads items (1,000 at most), in their order, with these fields or all. Unknown ones are left out.
func (c *Client) GetItems(ctx context.Context, ids []ID, fields ...string) ([]Item, error) {
	if err := checkAll(ids, "/ids"); err != nil {
		return nil, err
	}
	body := map[string]any{"ids": append([]ID{}, ids...), "fields": append([]string{}, fields...)}
	got, err := c.send(ctx, &request{name: "GetItems", method: "POST", path: "/items/get", hedge: true}, body)
	if err != nil {
		return nil, err
	}
	var told struct{ Items []Item }
	if err := read(got, &told, "items"); err != nil {
		return nil, err
	}
	own := make([]ID, len(told.Items))
	for i, one := range told.Items {
		own[i] = one.ID
	}
	if err := asGiven(ids, got.status, own); err != nil {
		return nil, err
	}
	for i := range told.Items {
		told.Items[i].ID = own[i]
	}
	return told.Items, nil
}

// Rule is a rule on items: all its comparisons of the field must hold, of which nil and none say nothing. What has no such
// field meets Ne, and Exists of false, alone.
type Rule struct {
	Field          string
	Eq, Ne, Ge, Le any
	In, AnyOf      []any // AnyOf: of a list
	Exists         *bool
}

// MarshalJSON writes what is said.
func (r Rule) MarshalJSON() ([]byte, error) {
	told := map[string]any{"field": r.Field}
	for name, value := range map[string]any{"eq": r.Eq, "ne": r.Ne, "ge": r.Ge, "le": r.Le} {
		if value != nil {
			told[name] = value
		}
	}
	if r.In != nil {
		told["in"] = r.In
	}
	if r.AnyOf != nil {
		told["any_of"] = r.AnyOf
	}
	if r.Exists != nil {
		told["exists"] = *r.Exists
	}
	return json.Marshal(told)
}

// Where drops candidates that do not meet all rules.
func Where(rules ...Rule) CallOption { return rule("where", rules, len(rules) > 0) }

// AtMost keeps, of the unseen with one value of the field, the first n: of each 1,000 candidates of a page.
func AtMost(field string, n int) CallOption {
	return rule("at_most", map[string]any{"field": field, "n": n}, true)
}

// DropUnknown drops candidates that the server knows no item of.
func DropUnknown() CallOption { return rule("unknown", "drop", true) }

// WithFields names fields of items that the answer tells of the unseen.
func WithFields(names ...string) CallOption { return rule("fields", names, len(names) > 0) }

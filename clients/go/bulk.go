package seendb

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

const (
	bulkBatch    = 2_000
	bulkPatience = time.Minute
	bulkBytes    = 1 << 20
	refusalsMost = 100
)

// BulkOptions of a Bulk. The zero value is good.
type BulkOptions struct {
	Impressions bool          // in place of plays
	Exposures   bool          // in place of plays
	Collection  string        // empty: the default one
	Batch       int           // events; 0: 2,000
	Patience    time.Duration // for a batch to be taken; 0: a minute
}

// Bulk takes events one by one and sends them in batches, as NDJSON. Add waits while a batch is on its way: whoever reads
// faster than the server writes is slowed down, and no more than a batch is in memory. A batch that is refused for now
// (429, 503) or whose connection breaks is sent again until the patience is over; then the call fails, and the batch is
// kept: Flush sends it again. For one goroutine; more of them take a Bulk each.
type Bulk struct {
	Accepted, Refused int
	Refusals          []Refusal // at most 100; Index: the how many-th event that was added

	client  *Client
	options BulkOptions
	lines   []byte
	users   []string
	sent    int
}

// Bulk begins to take events.
func (c *Client) Bulk(options BulkOptions) *Bulk {
	if options.Batch == 0 {
		options.Batch = bulkBatch
	}
	if options.Patience == 0 {
		options.Patience = bulkPatience
	}
	return &Bulk{client: c, options: options}
}

// Add takes an event. One without a time gets the present, so that a second try counts once.
func (b *Bulk) Add(ctx context.Context, event Event) error {
	index := b.sent + len(b.users)
	one, user, err := event.told(time.Now(), index)
	if err != nil {
		return err
	}
	if _, shown := event.(Exposure); shown != b.options.Exposures {
		return refuse("/events/"+strconv.Itoa(index), "a Bulk of Exposures takes nothing else, and others take Plays")
	}
	line, err := json.Marshal(one)
	if err != nil {
		return refuse("", "%v", err)
	}
	if len(b.users) >= b.options.Batch || len(b.users) > 0 && len(b.lines)+len(line) > bulkBytes {
		if err := b.Flush(ctx); err != nil {
			return err
		}
	}
	b.lines = append(append(b.lines, line...), '\n')
	b.users = append(b.users, user.String())
	return nil
}

// Flush sends what has not been sent.
func (b *Bulk) Flush(ctx context.Context) error {
	if len(b.users) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.options.Patience)
	defer cancel()
	r := &request{name: "Bulk", method: "POST", path: "/plays", body: b.lines, contentType: "application/x-ndjson", patient: true}
	if b.options.Impressions {
		r.path = "/impressions"
	}
	if b.options.Exposures {
		r.path = "/exposures"
	}
	if b.options.Collection != "" {
		r.query = url.Values{"collection": {b.options.Collection}}
	}
	got, err := b.client.ask(ctx, r)
	if err != nil {
		return err
	}
	recorded, err := b.client.recorded(got, b.users)
	if err != nil {
		return err
	}
	b.Accepted += recorded.Accepted
	b.Refused += recorded.Refused
	for _, one := range recorded.Refusals {
		if len(b.Refusals) < refusalsMost {
			one.Index += b.sent
			b.Refusals = append(b.Refusals, one)
		}
	}
	b.sent += len(b.users)
	b.lines, b.users = nil, nil
	return nil
}

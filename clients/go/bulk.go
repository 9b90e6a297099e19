package seendb

import (
	"context"
	"encoding/binary"
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
	NDJSON      bool          // NDJSON alone, no binary
}

// The forms of a body: rows of numbers, rows of texts, lines of JSON. Each takes what those before it take.
const (
	numbers = iota
	texts
	lines
)

// formOf gives the first form that takes an event, and the event's item.
func formOf(event Event, at int64) (int, ID) {
	play, is := event.(Play)
	if !is || at <= 0 || play.ProgressS != nil || play.DurationS != nil || play.Device != "" || len(play.Fields)+len(play.Of)+len(play.SameAs) > 0 {
		return lines, ID{} // a time of 0 is the server's present
	}
	if play.User.isNumber && play.Item.isNumber {
		return numbers, play.Item
	}
	return texts, play.Item
}

// row gives the bytes of an event in a binary form.
func row(form int, at int64, ids ...ID) (bytes []byte) {
	for _, id := range ids {
		if form == numbers {
			bytes = binary.LittleEndian.AppendUint64(bytes, id.number)
		} else {
			text := id.String()
			bytes = append(binary.LittleEndian.AppendUint32(bytes, uint32(len(text))), text...)
		}
	}
	return binary.LittleEndian.AppendUint64(bytes, uint64(at))
}

// Bulk takes events one by one and sends them in batches: in binary as long as all are Plays that say no more than User,
// Item and At, from the first other one on as NDJSON. Add waits while a batch is on its way: whoever reads
// faster than the server writes is slowed down, and no more than a batch is in memory. A batch that is refused for now
// (429, 503) or whose connection breaks is sent again until the patience is over; then the call fails, and the batch is
// kept: Flush sends it again. For one goroutine; more of them take a Bulk each.
type Bulk struct {
	Accepted, Refused int
	Refusals          []Refusal // at most 100; Index: the how many-th event that was added

	client  *Client
	options BulkOptions
	form    int
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
	b := &Bulk{client: c, options: options}
	if options.NDJSON || options.Impressions || options.Exposures {
		b.form = lines
	}
	return b
}

// Add takes an event. One without a time gets the present, so that a second try counts once.
func (b *Bulk) Add(ctx context.Context, event Event) error {
	index := b.sent + len(b.users)
	now := time.Now()
	one, user, err := event.told(now, index)
	if err != nil {
		return err
	}
	if _, shown := event.(Exposure); shown != b.options.Exposures {
		return refuse("/events/"+strconv.Itoa(index), "a Bulk of Exposures takes nothing else, and others take Plays")
	}
	at := now.UnixMilli()
	if play, is := event.(Play); is && !play.At.IsZero() {
		at = play.At.UnixMilli()
	}
	form, item := formOf(event, at)
	if form < b.form {
		form = b.form
	}
	var line []byte
	if form != lines {
		line = row(form, at, user, item)
	} else if line, err = json.Marshal(one); err != nil {
		return refuse("", "%v", err)
	} else {
		line = append(line, '\n')
	}
	if len(b.users) > 0 && form > b.form || len(b.users) >= b.options.Batch || len(b.users) > 0 && len(b.lines)+len(line) > bulkBytes {
		if err := b.Flush(ctx); err != nil {
			return err
		}
	}
	b.form, b.lines = form, append(b.lines, line...)
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
	r.query = url.Values{}
	if b.options.Collection != "" {
		r.query.Set("collection", b.options.Collection)
	}
	if b.form != lines {
		r.contentType = "application/octet-stream"
		r.query.Set("ids", [...]string{"u64", "string"}[b.form])
		r.query.Set("count", strconv.Itoa(len(b.users)))
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

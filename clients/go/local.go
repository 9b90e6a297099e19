package seendb

import (
	"container/list"
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// LocalOptions are those of LocalFilter; the zero value has the defaults.
type LocalOptions struct {
	Collection string        // "default"
	Refresh    time.Duration // an answer by an older dump has a new one asked for, behind it; 30 s. Negative: by Refresh alone
	Keep       time.Duration // as long counts what was noted, whatever later dumps say; 10 min
	Key        []byte        // the body of GET /admin/item-hash-key; nil: it is asked for
}

const (
	localRefresh = 30 * time.Second
	localKeep    = 10 * time.Minute
	localAgain   = time.Second // a refresh that failed is tried again, behind an answer, so much later
	notedMost    = 100_000     // beyond it the oldest is forgotten
)

// LocalFilter answers the plain question of Filter in this process, by a dump of the user's filter and by what
// was noted since. It may be used by many goroutines.
type LocalFilter struct {
	client  *Client
	user    ID
	options LocalOptions
	key     *itemKey
	asking  sync.Mutex // one refresh at a time

	mutex   sync.Mutex
	dump    *dump
	taken   time.Time
	tried   time.Time
	waiting bool
	err     error
	noted   map[uint64]*list.Element // of order
	order   list.List                // of notedItem, the newest last
}

type notedItem struct {
	hash  uint64
	until time.Time
}

// LocalFilter takes the user's filter into this process. It needs a token of the role "filters", and TLS, a unix
// socket or loopback.
func (c *Client) LocalFilter(ctx context.Context, user ID, options LocalOptions) (*LocalFilter, error) {
	if err := user.check("/user"); err != nil {
		return nil, err
	}
	if options.Refresh == 0 {
		options.Refresh = localRefresh
	}
	if options.Keep == 0 {
		options.Keep = localKeep
	}
	if options.Key == nil {
		got, err := c.ask(ctx, &request{name: "ItemHashKey", method: "GET", path: "/admin/item-hash-key"})
		if err != nil {
			return nil, err
		}
		options.Key = got.body
	}
	key, err := readKey(options.Key)
	if err != nil {
		return nil, err
	}
	f := &LocalFilter{client: c, user: user, options: options, key: key, noted: map[uint64]*list.Element{}}
	return f, f.Refresh(ctx)
}

// Refresh asks for the dump: for the parts that differ. On failure the former one stays.
func (f *LocalFilter) Refresh(ctx context.Context) error {
	f.asking.Lock()
	defer f.asking.Unlock()
	f.mutex.Lock()
	former := f.dump
	f.mutex.Unlock()
	asked := &request{name: "LocalFilter", method: "GET", path: userPath(f.user, "/filter"), user: &f.user, header: http.Header{}}
	if f.options.Collection != "" {
		asked.query = url.Values{"collection": {f.options.Collection}}
	}
	if former != nil {
		asked.header.Set("If-None-Match", former.etag)
	}
	got, err := f.client.ask(ctx, asked)
	fresh := former
	if err == nil && got.status != http.StatusNotModified {
		fresh, err = readDump(got.body, former)
	}
	if err == nil && (fresh.keyID != f.key.id || fresh.hashVersion != f.key.version) {
		err = &Error{Code: "incompatible", Message: "the dump's items are hashed by another key than the client has"}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.err, f.tried = err, time.Now()
	if err == nil {
		f.dump, f.taken = fresh, f.tried
	}
	return err
}

// Age is how long ago the server said that the dump is its state; Err is why the last refresh failed.
func (f *LocalFilter) Age() time.Duration {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return time.Since(f.taken)
}

// Err is why the last refresh failed, or nil.
func (f *LocalFilter) Err() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.err
}

// Note has items count as seen from now on: they were just served, or played. The newest 100,000 do.
func (f *LocalFilter) Note(items ...ID) {
	now := time.Now()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, item := range items {
		hash := f.key.of(item)
		if before := f.noted[hash]; before != nil {
			f.order.Remove(before)
		}
		f.noted[hash] = f.order.PushBack(notedItem{hash, now.Add(f.options.Keep)})
	}
	for oldest := f.order.Front(); oldest != nil; oldest = f.order.Front() {
		one := oldest.Value.(notedItem)
		if one.until.After(now) && f.order.Len() <= notedMost {
			break
		}
		f.order.Remove(oldest)
		delete(f.noted, one.hash)
	}
}

// isNoted says whether the item counts as seen. The mutex is held.
func (f *LocalFilter) isNoted(hash uint64, now time.Time) bool {
	noted := f.noted[hash]
	return noted != nil && noted.Value.(notedItem).until.After(now)
}

// isDue says whether an answer has a new dump asked for. The mutex is held.
func (f *LocalFilter) isDue() bool {
	again := f.options.Refresh
	if again > localAgain {
		again = localAgain
	}
	return f.options.Refresh >= 0 && !f.waiting && time.Since(f.taken) > f.options.Refresh && time.Since(f.tried) > again
}

func (f *LocalFilter) refreshBehind() {
	ctx, cancel := context.WithTimeout(context.Background(), f.client.options.Timeout)
	defer cancel()
	_ = f.Refresh(ctx) // Err tells
	f.mutex.Lock()
	f.waiting = false
	f.mutex.Unlock()
}

// Filter says which of the items the user has not seen. Of the options it takes Limit and GroupedBy; it asks
// nothing of the server.
func (f *LocalFilter) Filter(items []ID, options ...CallOption) (*Filtered, error) {
	asked := chosenOf(options)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.isDue() {
		f.waiting = true
		go f.refreshBehind()
	}
	found := &Filtered{Unseen: []ID{}, Degraded: f.dump.degraded, Missing: f.dump.missing}
	met, now := make(map[string]bool, len(items)), time.Now()
	for _, item := range items {
		if asked.limit > 0 && len(found.Unseen) == asked.limit {
			break
		}
		if err := item.check("/items"); err != nil {
			return nil, err
		}
		found.Examined++
		text := item.String()
		if met[text] {
			found.Duplicates++
			continue
		}
		met[text] = true
		marked, undated := false, false
		if asked.groups != nil {
			of := asked.groups(item)
			if len(of.SameAs) > 0 {
				return nil, refuse("/items", "a filter in the caller's process knows no groups that are the same")
			}
			marked, undated = f.dump.marked(of)
		}
		if undated {
			found.Undated++
		}
		hash := f.key.of(item)
		if marked || f.dump.seen(hash) || f.isNoted(hash, now) {
			found.Seen++
		} else {
			found.Unseen = append(found.Unseen, item)
		}
	}
	return found, nil
}

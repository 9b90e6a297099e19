package seendb

import (
	"context"
	"math"
	"time"
)

// WhenDegraded is what FillPage does where the answer is degraded, or there is none in time.
type WhenDegraded int

const (
	// FailOpen serves what the answer says is unseen, or, without an answer, the first candidates.
	FailOpen WhenDegraded = iota
	// FailClosed fails.
	FailClosed
	// LastKnown is FailOpen without what this client itself has recorded for the user within the
	// last hour (of the last 10,000 users).
	LastKnown
)

const (
	pageChunk   = 1_000
	firstShare  = 0.5
	mostShare   = 0.95
	fetchedMost = 10_000
)

// noAnswer is the codes that let a page fail open.
var noAnswer = []string{"timeout", "unavailable", "overloaded", "busy", "rate_limited"}

type served struct {
	at   time.Time
	item string
}

// FillPage returns up to `need` unseen candidates, best first, recorded as served in the same step. The
// context's deadline, or Options.Timeout, is the time of the whole page. Where an answer was lost, what it
// had recorded is not on the page, and counts as served. Candidates that are served without an answer were judged by no rule:
// FailClosed is for sets that must hold.
func (c *Client) FillPage(ctx context.Context, user ID, candidates []ID, need int, degraded WhenDegraded, options ...CallOption) ([]ID, error) {
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.options.Timeout+later)
		defer cancel()
	}
	if degraded == FailClosed {
		options = append(append([]CallOption{}, options...), OrFail())
	}
	page := []ID{}
	for at := 0; at < len(candidates) && len(page) < need; {
		end := at + pageChunk
		if end > len(candidates) {
			end = len(candidates)
		}
		more := append(append([]CallOption{}, options...), Record(), Limit(need-len(page)), rule("when_short", nil, false), func(all *chosen) {
			all.exclude = append(append([]ID{}, all.exclude...), page...)
		})
		found, err := c.Filter(ctx, user, candidates[at:end], more...)
		if err != nil {
			if degraded == FailClosed || !contains(noAnswer, CodeOf(err)) {
				return nil, err
			}
			page = c.without(user, page, candidates[at:], need, degraded, chosenOf(options).exclude)
			break
		}
		if found.Degraded && degraded == FailClosed {
			return nil, &Error{Code: "unavailable", Message: "the answer is degraded"}
		}
		if found.Degraded && degraded == LastKnown {
			page = c.without(user, page, found.Unseen, need, degraded, nil)
		} else {
			page = append(page, found.Unseen...)
		}
		if len(page) > need {
			page = page[:need]
		}
		at = end
	}
	now := time.Now()
	c.recent.change(user.String(), func(before any) any {
		kept := []served{}
		if known, ok := before.([]served); ok {
			for _, one := range known {
				if now.Sub(one.at) < time.Hour {
					kept = append(kept, one)
				}
			}
		}
		for _, item := range page {
			kept = append(kept, served{now, item.String()})
		}
		return kept
	})
	return page, nil
}

// without fills the page from candidates that nobody judged.
func (c *Client) without(user ID, page, candidates []ID, need int, degraded WhenDegraded, exclude []ID) []ID {
	known := map[string]bool{}
	for _, id := range append(append([]ID{}, page...), exclude...) {
		known[id.String()] = true
	}
	if degraded == LastKnown {
		if recent, ok := c.recent.get(user.String()).([]served); ok {
			for _, one := range recent {
				known[one.item] = known[one.item] || time.Since(one.at) < time.Hour
			}
		}
	}
	for _, candidate := range candidates {
		if len(page) == need {
			break
		}
		if !known[candidate.String()] {
			known[candidate.String()] = true
			page = append(page, candidate)
		}
	}
	return page
}

// SearchUnseen returns up to `k` unseen ids of a search that knows no users: search(count) returns the
// best `count` ids, in order. It is asked for k / (1 - s), where s is the share of its candidates that
// this user has seen, as learned so far, and for more until enough are unseen.
func (c *Client) SearchUnseen(ctx context.Context, search func(context.Context, int) ([]ID, error), user ID, k int, options ...CallOption) ([]ID, error) {
	share := func() float64 {
		if known, ok := c.shares.get(user.String()).(float64); ok {
			return known
		}
		return firstShare
	}
	for count := int(math.Ceil(float64(k) / (1 - share()))); ; {
		if count > fetchedMost {
			count = fetchedMost
		}
		found, err := search(ctx, count)
		if err != nil {
			return nil, err
		}
		filtered, err := c.Filter(ctx, user, found, options...)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			seen := 1 - float64(len(filtered.Unseen))/float64(len(found))
			c.shares.change(user.String(), func(before any) any {
				if known, ok := before.(float64); ok {
					seen = known + (seen-known)/2
				}
				return math.Min(mostShare, seen)
			})
		}
		if len(filtered.Unseen) >= k {
			return filtered.Unseen[:k], nil
		}
		if len(found) < count || count >= fetchedMost {
			return filtered.Unseen, nil
		}
		next := int(math.Ceil(float64(k) / (1 - share())))
		if next < count*2 {
			next = count * 2
		}
		count = next
	}
}

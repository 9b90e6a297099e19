package seendb

import (
	"context"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"time"
)

const (
	placementFor = 30 * time.Second // a map of a cluster is asked for again after so long
	soon         = time.Second      // and no sooner; as long a server that could not be reached comes last
)

// where is the servers to try, in order, and whether the first is said to have the user.
func (c *Client) where(user *ID) (urls []string, direct bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if user != nil {
		if own := c.placed.urlsOf(user.String()); len(own) > 0 && !c.isAway(own[0]) {
			urls, direct = append(urls, own...), true
		}
	}
	own, ranks := len(urls), map[string]int{}
	for i := range c.urls {
		targets := []target{{url: c.urls[(c.turn+i)%len(c.urls)]}}
		if name := c.named[targets[0].url]; name != nil {
			targets = name.ranked()
		}
		for _, one := range targets {
			if !contains(urls[:own], one.url) {
				urls, ranks[one.url] = append(urls, one.url), one.rank
			}
		}
	}
	c.turn = (c.turn + 1) % len(c.urls)
	others := urls[own:]
	sort.SliceStable(others, func(i, j int) bool {
		first, second := c.isAway(others[i]), c.isAway(others[j])
		return !first && second || first == second && ranks[others[i]] < ranks[others[j]]
	})
	return urls, direct
}

// lookUp asks for the targets of names where that is due, behind this call. Where each of them has failed since, the call waits.
func (c *Client) lookUp(ctx context.Context, deadline time.Time) {
	for _, name := range c.named {
		none, most, targets, asked := true, namedFor, name.ranked(), name.askedAt()
		c.mutex.Lock()
		for _, one := range targets {
			none = none && c.away[one.url].After(asked)
		}
		c.mutex.Unlock()
		if none {
			most = soon
		}
		answered := name.refresh(most)
		if answered == nil || !none {
			continue
		}
		timer := time.NewTimer(time.Until(deadline) / 3)
		select {
		case <-answered:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// nobody is why there is no server to ask.
func (c *Client) nobody() error {
	told := []string{}
	for url, name := range c.named {
		name.mutex.Lock()
		told = append(told, fmt.Sprintf("%s: %v", url, name.err))
		name.mutex.Unlock()
	}
	sort.Strings(told)
	return &Error{Code: "unavailable", Message: strings.Join(told, "; ")}
}

func contains(all []string, one string) bool {
	for _, other := range all {
		if other == one {
			return true
		}
	}
	return false
}

// isAway says whether a server could not be reached just now. The mutex is held.
func (c *Client) isAway(url string) bool { return time.Now().Before(c.away[url]) }

func (c *Client) markAway(url string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for other, until := range c.away {
		if time.Since(until) > 2*namedFor { // a target of a former answer, perhaps
			delete(c.away, other)
		}
	}
	c.away[url] = time.Now().Add(soon)
}

// learn asks for the map where it is old. Where that fails, the former one goes on.
func (c *Client) learn(ctx context.Context, deadline time.Time) {
	if !c.options.Cluster || !c.takeLearning() {
		return
	}
	urls, _ := c.where(nil)
	if len(urls) == 0 {
		c.learnSoon()
		return
	}
	third := time.Now().Add(time.Until(deadline) / 3)
	got, err := c.once(ctx, urls[0], &request{method: "GET", path: "/cluster"}, http.Header{}, third)
	if err == nil && got.status == http.StatusOK {
		if placed, wrong := readPlacement(got.body); wrong == nil {
			c.mutex.Lock()
			defer c.mutex.Unlock()
			c.placed = placed
			return
		}
	}
	c.learnSoon()
}

// takeLearning says whether the map is old; then the caller is the one to ask for it.
func (c *Client) takeLearning() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	now := time.Now()
	if now.Before(c.placedTill) {
		return false
	}
	c.placedTill = now.Add(placementFor)
	return true
}

// learnSoon is for a map that turns out to be old, or could not be had.
func (c *Client) learnSoon() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if next := time.Now().Add(soon); next.Before(c.placedTill) {
		c.placedTill = next
	}
}

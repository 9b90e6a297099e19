package seendb

import (
	"context"
	"net/http"
	"sort"
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
	own := len(urls)
	for i := range c.urls {
		if one := c.urls[(c.turn+i)%len(c.urls)]; !contains(urls[:own], one) {
			urls = append(urls, one)
		}
	}
	c.turn = (c.turn + 1) % len(c.urls)
	others := urls[own:]
	sort.SliceStable(others, func(i, j int) bool { return !c.isAway(others[i]) && c.isAway(others[j]) })
	return urls, direct
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
	c.away[url] = time.Now().Add(soon)
}

// learn asks for the map where it is old. Where that fails, the former one goes on.
func (c *Client) learn(ctx context.Context, deadline time.Time) {
	if !c.options.Cluster || !c.takeLearning() {
		return
	}
	urls, _ := c.where(nil)
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

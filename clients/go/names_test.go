package seendb

// Servers by a name of DNS. What all clients do with one is in ../conformance/names.json.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

const aName = "srv+http://_seendb._tcp.liar.test"

func portOf(t *testing.T, l *liar) uint16 {
	t.Helper()
	parsed, err := url.Parse(l.url)
	must(t, err)
	port, err := strconv.Atoi(parsed.Port())
	must(t, err)
	return uint16(port)
}

func TestAResolverInPlaceOfANameServer(t *testing.T) {
	l := lie(t, repeated(says(200, unseen), 3)...)
	told := []string{}
	c := client(t, Options{Resolver: func(_ context.Context, name string) ([]*net.SRV, error) {
		told = append(told, name)
		return []*net.SRV{{Target: "127.0.0.1.", Port: portOf(t, l), Weight: 1}}, nil
	}}, aName)
	for i := 0; i < 3; i++ {
		must(t, ask(c))
	}
	equal(t, told, []string{"_seendb._tcp.liar.test"})
	n := c.named[aName]
	equal(t, n.refresh(namedFor) == nil, true)
	n.mutex.Lock()
	n.asked = n.asked.Add(-namedFor)
	n.mutex.Unlock()
	<-n.refresh(namedFor)
	equal(t, len(told), 2)
}

func TestAResolverThatFailsOrIsSlow(t *testing.T) {
	fails := func(context.Context, string) ([]*net.SRV, error) { return nil, errors.New("it is down") }
	hangs := func(ctx context.Context, _ string) ([]*net.SRV, error) { <-ctx.Done(); return nil, ctx.Err() }
	for why, resolver := range map[string]func(context.Context, string) ([]*net.SRV, error){
		"it is down": fails, "no name server has answered yet": hangs} {
		calls := 0
		count := func(_ string, _ time.Duration, status, tries int) { calls += 1 + status + tries }
		err := ask(client(t, Options{Resolver: resolver, Timeout: time.Second, OnCall: count}, aName))
		equal(t, CodeOf(err), "unavailable")
		equal(t, strings.Contains(err.Error(), aName+": "+why), true)
		equal(t, calls, 1)
	}
}

func TestTargetsAreChosenByPriorityAndWeight(t *testing.T) {
	n, err := newNamed(aName, &Options{})
	must(t, err)
	n.targets, err = n.read(context.Background(), []*net.SRV{{Target: "last", Port: 7, Priority: 20}, {Target: "seldom", Port: 7, Priority: 10, Weight: 1},
		{Target: "often", Port: 7, Priority: 10, Weight: 9}, {Target: "hardly", Port: 7, Priority: 10}})
	must(t, err)
	first := map[string]int{}
	for i := 0; i < 2_000; i++ {
		order := n.ranked()
		first[order[0].url]++
		equal(t, order[3].url, "http://last:7")
		equal(t, order[3].rank, 1)
	}
	if often := first["http://often:7"]; often < 1_600 || often > 1_950 {
		t.Error(first)
	}
}

func TestRecordsOfAName(t *testing.T) {
	n, err := newNamed("srv+https://x.test./", &Options{})
	must(t, err)
	many := []*net.SRV{}
	for i := 199; i >= 0; i-- {
		many = append(many, &net.SRV{Target: fmt.Sprintf("h%d.", i/2), Port: 7, Priority: uint16(i / 2)})
	}
	targets, err := n.read(context.Background(), many)
	must(t, err)
	equal(t, len(targets), targetsMost)
	for i, one := range targets {
		equal(t, one, target{url: fmt.Sprintf("https://h%d:7", i), rank: i})
	}
	for _, wrong := range [][]*net.SRV{nil, {{Target: "h"}}, {{Target: "h/x", Port: 7}}, {{Target: ".", Port: 7}, {Target: ".", Port: 7}}} {
		if _, err := n.read(context.Background(), wrong); err == nil {
			t.Error(wrong)
		}
	}
	targets, err = n.read(context.Background(), []*net.SRV{{Target: "."}})
	must(t, err)
	equal(t, len(targets), 0)
	for _, wrong := range []string{"srv+http://", "srv+ftp://h", "srv+unix:/s", "srv+http://h:80", "srv+http://h/x", "srv+http://[::1]"} {
		if _, err := New(wrong); err == nil {
			t.Error(wrong)
		}
	}
}

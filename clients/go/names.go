package seendb

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"net"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	namedFor    = 30 * time.Second // a record is asked for again after so long; after `soon` where each target has failed
	lookUpMost  = 5 * time.Second
	targetsMost = 64
)

// target is a server that a record names: the rank of its priority, 0 for the first.
type target struct {
	url    string
	rank   int
	weight uint16
}

// named is what a name of DNS stands for: srv+http://_seendb._tcp.example.com for the targets of that SRV record
// (RFC 2782).
type named struct {
	url, scheme, name string
	resolve           func(ctx context.Context, name string) ([]*net.SRV, error)
	servers           *net.Resolver // for the targets' addresses; nil: the system's, as for any host

	mutex    sync.Mutex
	chance   *rand.Rand
	targets  []target
	err      error
	asked    time.Time
	answered chan struct{} // closed once the answer is there; nil: nobody asks
}

// newNamed gives nil for a URL that is no name.
func newNamed(url string, options *Options) (*named, error) {
	rest := strings.TrimPrefix(url, "srv+")
	if rest == url {
		return nil, nil
	}
	n := &named{url: url, resolve: options.Resolver, chance: rand.New(rand.NewSource(time.Now().UnixNano())), err: errors.New("no name server has answered yet")}
	n.scheme, n.name, _ = strings.Cut(rest, "://")
	n.name = strings.TrimRight(n.name, "/.")
	if n.scheme != "http" && n.scheme != "https" || n.name == "" || strings.ContainsAny(n.name, ":/@?#[] ") {
		return nil, fmt.Errorf("seendb: %q is no srv+http://name or srv+https://name", url)
	}
	if n.resolve != nil {
		return n, nil
	}
	asking := net.DefaultResolver
	if options.DNS != "" {
		place := options.DNS
		if _, _, err := net.SplitHostPort(place); err != nil {
			place = net.JoinHostPort(place, "53")
		}
		asking = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, place)
		}}
		n.servers = asking
	}
	n.resolve = func(ctx context.Context, name string) ([]*net.SRV, error) {
		_, records, err := asking.LookupSRV(ctx, "", "", name+".")
		return records, err
	}
	return n, nil
}

// ranked is the targets in the order in which they are to be tried: by priority, by chance within it.
func (n *named) ranked() []target {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	keys := map[string]float64{}
	for _, one := range n.targets {
		keys[one.url] = n.chance.ExpFloat64() / (float64(one.weight) + 0.1)
	}
	ordered := append([]target{}, n.targets...)
	sort.SliceStable(ordered, func(i, j int) bool {
		a, b := ordered[i], ordered[j]
		return a.rank < b.rank || a.rank == b.rank && keys[a.url] < keys[b.url]
	})
	return ordered
}

func (n *named) askedAt() time.Time {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.asked
}

// refresh asks again, in the background, where the answer is older than `most`. It gives what to wait for; nil: nobody asks.
func (n *named) refresh(most time.Duration) <-chan struct{} {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.answered == nil && time.Since(n.asked) > most {
		n.answered = make(chan struct{})
		go n.ask()
	}
	return n.answered
}

// ask takes an answer; where none comes the former one goes on.
func (n *named) ask() {
	ctx, cancel := context.WithTimeout(context.Background(), lookUpMost)
	defer cancel()
	records, err := n.resolve(ctx, n.name)
	var targets []target
	if err == nil {
		targets, err = n.read(ctx, records)
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.err = err
	if err == nil {
		n.targets, n.err = targets, errors.New("the service is not there")
	}
	n.asked = time.Now()
	close(n.answered)
	n.answered = nil
}

func (n *named) read(ctx context.Context, records []*net.SRV) (targets []target, err error) {
	if len(records) == 0 {
		return nil, errors.New("there is no such record")
	}
	sort.SliceStable(records, func(i, j int) bool { return records[i].Priority < records[j].Priority })
	hosts, met, rank := map[string]string{}, map[string]bool{}, 0
	for i, one := range records {
		host := strings.TrimSuffix(one.Target, ".")
		if host == "" && len(records) == 1 {
			return nil, nil // the owner of the name says so
		}
		if host == "" || one.Port == 0 || strings.ContainsAny(host, "/@?#[] ") {
			return nil, fmt.Errorf("a record without a target: %v", *one)
		}
		if i > 0 && one.Priority != records[i-1].Priority {
			rank++
		}
		name := net.JoinHostPort(host, strconv.Itoa(int(one.Port)))
		if met[name] || len(targets) == targetsMost {
			continue
		}
		met[name] = true
		if hosts[host] == "" {
			hosts[host] = n.addressOf(ctx, host)
		}
		targets = append(targets, target{n.scheme + "://" + net.JoinHostPort(hosts[host], strconv.Itoa(int(one.Port))), rank, one.Weight})
	}
	return targets, nil
}

// addressOf is the name server's word, where one was named; of https the name stays, which the certificate has.
func (n *named) addressOf(ctx context.Context, host string) string {
	if n.servers == nil || n.scheme == "https" {
		return host
	}
	found, err := n.servers.LookupIP(ctx, "ip4", host+".")
	if err != nil || len(found) == 0 {
		return host
	}
	return found[0].String()
}

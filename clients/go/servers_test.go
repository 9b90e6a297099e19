package seendb

// Several servers, of which some are away, and a cluster's.

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gone is a server that nobody runs: its port is taken while the test runs, and nobody listens there.
func gone(t *testing.T) string {
	t.Helper()
	held, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	must(t, err)
	t.Cleanup(func() { _ = syscall.Close(held) })
	must(t, syscall.Bind(held, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name, err := syscall.Getsockname(held)
	must(t, err)
	return fmt.Sprintf("http://127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}

func repeated(text string, times int) []string {
	texts := []string{}
	for i := 0; i < times; i++ {
		texts = append(texts, text)
	}
	return texts
}

func TestTheNextServerIsAskedWhereOneIsAway(t *testing.T) {
	dead, l := gone(t), lie(t, repeated(says(200, unseen), 100)...)
	tried := 0
	c := client(t, Options{Retries: -1, OnCall: func(_ string, _ time.Duration, _, tries int) { tried += tries }}, dead, l.url)
	for i := 0; i < 50; i++ {
		must(t, ask(c))
	}
	equal(t, l.count(), 50)
	if tried > 60 { // for a second it is asked last
		t.Error(tried)
	}
	for i := 0; i < 50; i++ { // even if it is the first each time, it costs no second try
		fresh := client(t, Options{Retries: -1}, dead, l.url)
		must(t, fresh.Call(context.Background(), "POST", "/filter", map[string]any{}, nil))
		equal(t, fresh.budget.left, retryMost)
	}
	for i := 0; i < l.count(); i++ {
		equal(t, l.header(i, "SeenDB-Attempt"), "")
	}
}

func TestEachServerThatIsAwayIsAskedOnce(t *testing.T) {
	tried := 0
	count := func(_ string, _ time.Duration, _, tries int) { tried = tries }
	equal(t, CodeOf(ask(client(t, Options{Retries: -1, OnCall: count}, gone(t), gone(t), gone(t)))), "unavailable")
	equal(t, tried, 3)
	equal(t, CodeOf(ask(client(t, Options{OnCall: count}, gone(t), gone(t)))), "unavailable")
	equal(t, tried, 3) // and the second try
}

func TestAConnectTakesAThirdOfTheTime(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it never shakes hands
	must(t, err)
	defer silent.Close()
	l := lie(t, says(200, unseen))
	began := time.Now()
	must(t, ask(client(t, Options{Timeout: 1500 * time.Millisecond}, "https://"+silent.Addr().String(), l.url)))
	if took := time.Since(began); took < 400*time.Millisecond || took > 1400*time.Millisecond {
		t.Error(took)
	}
}

func TestTLSAndUnixSockets(t *testing.T) {
	answers := http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(to, unseen) })
	secure := httptest.NewUnstartedServer(answers)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600))
	must(t, ask(client(t, Options{CA: ca}, secure.URL)))
	equal(t, CodeOf(ask(client(t, Options{}, secure.URL))), "unavailable") // nobody vouches for it
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	must(t, err)
	local := &http.Server{Handler: answers}
	defer local.Close()
	go func() { _ = local.Serve(listener) }()
	must(t, ask(client(t, Options{Retries: -1}, "unix:"+path+".none", "unix:"+path)))
}

// view is a map of four partitions, each at all nodes, in order: of a name, a URL and a state.
func view(nodes ...[3]string) string {
	replicas, told, shards := []any{}, []any{}, []any{}
	for _, one := range nodes {
		replicas = append(replicas, map[string]any{"node": one[0]})
		told = append(told, map[string]any{"node": one[0], "url": one[1], "state": one[2]})
	}
	for p := 0; p < 4; p++ {
		shards = append(shards, map[string]any{"partition": p, "replicas": replicas})
	}
	text, _ := json.Marshal(map[string]any{"partitions": 4, "placement_offset": 1, "shards": shards, "nodes": told})
	return says(200, string(text))
}

func asked(l *liar) (told []string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, request := range l.requests {
		told = append(told, strings.TrimSpace(request.URL.Path+" "+request.Header.Get("SeenDB-Route")))
	}
	return told
}

func TestAClustersNodeIsAskedDirectly(t *testing.T) {
	l := lie(t)
	l.say(view([3]string{"n1", l.url, "up"}), says(200, unseen), refusal(421, "other_node"), says(200, unseen),
		refusal(421, "other_node"), says(200, unseen))
	c := client(t, Options{Cluster: true, Retries: -1}, l.url)
	for i := 0; i < 3; i++ {
		must(t, ask(c))
	}
	// Nor is the map asked for again within the second.
	equal(t, asked(l), []string{"/cluster", "/filter direct", "/filter direct", "/filter", "/filter direct", "/filter"})
	equal(t, c.budget.left, retryMost)
	if left := time.Until(c.placedTill); left > soon {
		t.Error(left)
	}
	c.placedTill = time.Time{}
	l.say(refusal(503, "busy"), says(200, unseen)) // a map that can't be had leaves the former one
	must(t, ask(c))
	equal(t, asked(l)[6:], []string{"/cluster", "/filter direct"})
}

func TestNodesThatAreNotUpComeLast(t *testing.T) {
	one, other, entry := lie(t), lie(t, says(200, unseen), says(200, unseen)), lie(t)
	entry.say(view([3]string{"n1", one.url, "down"}, [3]string{"n2", other.url + "/", "up"}))
	c := client(t, Options{Cluster: true}, entry.url)
	must(t, ask(c))
	must(t, ask(c))
	equal(t, asked(other), []string{"/filter direct", "/filter direct"})
	equal(t, len(asked(one)), 0)
}

func TestANodeThatIsGoneIsLeftAtOnce(t *testing.T) {
	other, entry := lie(t, says(200, unseen)), lie(t)
	entry.say(append([]string{view([3]string{"n1", gone(t), "up"}, [3]string{"n2", other.url, "up"})}, repeated(says(200, unseen), 9)...)...)
	c := client(t, Options{Cluster: true, Retries: -1}, entry.url)
	for i := 0; i < 10; i++ {
		must(t, ask(c))
	}
	equal(t, asked(other), []string{"/filter"})
	equal(t, len(asked(entry)), 10) // while the user's own is away, any node passes it on
}

func TestAMapIsRead(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"partitions":-1}`, `{"partitions":9999999999}`,
		`{"partitions":1,"shards":[{"partition":1}]}`, `{"partitions":1,"shards":[{"partition":-1}]}`} {
		if _, err := readPlacement([]byte(text)); err == nil {
			t.Error(text)
		}
	}
	var none *placement
	equal(t, len(none.urlsOf("u")), 0)
}

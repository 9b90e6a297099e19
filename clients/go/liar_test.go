package seendb

// Against a server that refuses, cuts, stalls and lies.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const unseen = `{"unseen":["v"],"seen":0,"examined":1,"degraded":false}`

func says(status int, body string, headers ...string) string {
	head := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", status, len(body))
	for _, header := range headers {
		head += header + "\r\n"
	}
	return head + "\r\n" + body
}

func refusal(status int, code string, headers ...string) string {
	return says(status, `{"error":{"code":"`+code+`","message":"no","field":""}}`, headers...)
}

// liar answers request after request from a list: "" closes without an answer, a text that ends in CUT
// is sent without that and the connection closed, "STALL" is never answered.
type liar struct {
	url         string
	mutex       sync.Mutex
	texts       []string
	requests    []*http.Request
	bodies      []string
	connections int
}

func lie(t *testing.T, texts ...string) *liar {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	l := &liar{url: "http://" + listener.Addr().String(), texts: texts}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			l.mutex.Lock()
			l.connections++
			l.mutex.Unlock()
			go l.serve(connection)
		}
	}()
	return l
}

func (l *liar) serve(connection net.Conn) {
	defer connection.Close()
	reader := bufio.NewReader(connection)
	for {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(request.Body)
		l.mutex.Lock()
		l.requests = append(l.requests, request)
		l.bodies = append(l.bodies, string(body))
		text := ""
		if len(l.texts) > 0 {
			text, l.texts = l.texts[0], l.texts[1:]
		}
		l.mutex.Unlock()
		if text == "STALL" {
			time.Sleep(20 * time.Second)
			return
		}
		_, _ = io.WriteString(connection, strings.TrimSuffix(text, "CUT"))
		if text == "" || strings.HasSuffix(text, "CUT") {
			return
		}
	}
}

func client(t *testing.T, options Options, urls ...string) *Client {
	t.Helper()
	if options.Timeout == 0 {
		options.Timeout = 10 * time.Second
	}
	c, err := NewWith(options, urls...)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func ask(c *Client) error {
	found, err := c.Filter(context.Background(), Text("u"), Texts("v"))
	if err == nil && (len(found.Unseen) != 1 || found.Unseen[0] != Text("v")) {
		return fmt.Errorf("found %v", found.Unseen)
	}
	return err
}

func TestARefusalIsWaitedForAndAskedAgain(t *testing.T) {
	for _, status := range []int{429, 503} {
		l := lie(t, refusal(status, "overloaded", "SeenDB-Retry-After-Ms: 30"), says(200, unseen))
		began := time.Now()
		must(t, ask(client(t, Options{}, l.url)))
		if time.Since(began) < 30*time.Millisecond {
			t.Error("it did not wait")
		}
		equal(t, []string{l.requests[0].Header.Get("SeenDB-Attempt"), l.requests[1].Header.Get("SeenDB-Attempt")}, []string{"", "1"})
	}
}

func TestSecondTriesHaveABudget(t *testing.T) {
	texts := []string{}
	for i := 0; i < 200; i++ {
		texts = append(texts, refusal(503, "overloaded"))
	}
	l := lie(t, texts...)
	c := client(t, Options{}, l.url)
	for i := 0; i < 50; i++ {
		equal(t, CodeOf(ask(c)), "overloaded")
	}
	if len(l.requests) > 65 {
		t.Error(len(l.requests))
	}
}

func TestWhatIsWrongIsNotAskedAgain(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 409, 413, 415, 500} {
		l := lie(t, refusal(status, "no"), says(200, unseen))
		equal(t, CodeOf(ask(client(t, Options{}, l.url))), "no")
		equal(t, len(l.requests), 1)
	}
}

func TestAPlayKeepsItsTimeOverBothTries(t *testing.T) {
	l := lie(t, refusal(503, "busy"), says(200, `{"accepted":1,"refused":0,"refusals":[]}`, "SeenDB-Position: 3:7"), says(200, unseen))
	c := client(t, Options{}, l.url)
	_, err := c.RecordPlays(context.Background(), []Play{{User: Text("u"), Item: Text("v")}})
	must(t, err)
	equal(t, l.bodies[0], l.bodies[1])
	must(t, ask(c))
	equal(t, l.requests[2].Header.Get("SeenDB-Position"), "3:7")
}

func TestLiesAndCutsAreErrors(t *testing.T) {
	for text, code := range map[string]string{
		"SSH-2.0-OpenSSH\r\n\r\nCUT":                                            "protocol",
		"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nCUT":                    "protocol",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nCUT":                       "unavailable",
		"HTTP/1.1 200 OKCUT":                                                    "unavailable",
		says(200, "<html>") + "CUT":                                             "protocol",
		says(500, "<html>") + "CUT":                                             "protocol",
		"HTTP/1.1 302 X\r\nLocation: http://h/\r\nContent-Length: 0\r\n\r\nCUT": "protocol",
	} {
		equal(t, CodeOf(ask(client(t, Options{Retries: -1}, lie(t, text).url))), code)
	}
}

func TestAServerThatStallsCostsTheTimeout(t *testing.T) {
	l := lie(t, "STALL")
	began := time.Now()
	equal(t, CodeOf(ask(client(t, Options{Timeout: 500 * time.Millisecond}, l.url))), "timeout")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := client(t, Options{}, lie(t, "STALL").url).Filter(ctx, Text("u"), Texts("v"))
	equal(t, CodeOf(err), "timeout")
	if time.Since(began) > 15*time.Second {
		t.Error(time.Since(began))
	}
}

func TestTheNextServerIsAskedWhereOneIsAway(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	gone.Close()
	l := lie(t, says(200, unseen), says(200, unseen), says(200, unseen))
	c := client(t, Options{}, "http://"+gone.Addr().String(), l.url)
	for i := 0; i < 3; i++ {
		must(t, ask(c))
	}
	equal(t, CodeOf(ask(client(t, Options{}, "http://"+gone.Addr().String()))), "unavailable")
}

func TestATokenIsReadAgainWhenItsFileChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	l := lie(t, says(200, unseen), says(200, unseen))
	c := client(t, Options{TokenFile: path}, l.url)
	for i, token := range []string{"first", "second"} {
		must(t, os.WriteFile(path, []byte(token+"\n"), 0o600))
		must(t, os.Chtimes(path, time.Unix(int64(i+1), 0), time.Unix(int64(i+1), 0)))
		must(t, ask(c))
		equal(t, l.requests[i].Header.Get("Authorization"), "Bearer "+token)
	}
}

func TestAClustersNodeIsAskedDirectly(t *testing.T) {
	l := lie(t)
	shards := []map[string]any{}
	for p := 0; p < 4; p++ {
		shards = append(shards, map[string]any{"partition": p, "replicas": []any{map[string]any{"node": "n1"}}})
	}
	view, _ := json.Marshal(map[string]any{"partitions": 4, "placement_offset": 1, "shards": shards,
		"nodes": []any{map[string]any{"node": "n1", "url": l.url}}})
	l.texts = []string{says(200, string(view)), says(200, unseen), refusal(421, "other_node"), says(200, string(view)), says(200, unseen)}
	c := client(t, Options{Cluster: true, Retries: -1}, l.url)
	must(t, ask(c))
	must(t, ask(c))
	paths, routes := []string{}, []string{}
	for _, request := range l.requests {
		paths = append(paths, request.URL.Path)
		routes = append(routes, request.Header.Get("SeenDB-Route"))
	}
	equal(t, paths, []string{"/cluster", "/filter", "/filter", "/cluster", "/filter"})
	equal(t, routes, []string{"", "direct", "direct", "", ""})
}

func TestAPageWhoseServerIsAway(t *testing.T) {
	ctx, candidates := context.Background(), Texts("a", "b", "c", "d")
	page := func(c *Client, degraded WhenDegraded) ([]ID, error) {
		return c.FillPage(ctx, Text("u"), candidates, 2, degraded)
	}
	l := lie(t, says(200, `{"unseen":["a","c"],"seen":1,"examined":3,"degraded":false}`))
	c := client(t, Options{Retries: -1}, l.url)
	found, err := page(c, FailOpen)
	must(t, err)
	equal(t, found, Texts("a", "c"))
	l.texts = []string{refusal(503, "overloaded"), refusal(503, "overloaded"), refusal(503, "overloaded")}
	found, err = page(c, LastKnown)
	must(t, err)
	equal(t, found, Texts("b", "d"))
	found, err = page(c, FailOpen)
	must(t, err)
	equal(t, found, Texts("a", "b"))
	_, err = page(c, FailClosed)
	equal(t, CodeOf(err), "overloaded")
}

func TestMurmur2IsKafkas(t *testing.T) {
	for text, value := range map[string]int32{"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string": -1486304829, "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107} {
		equal(t, int32(murmur2([]byte(text))), value)
	}
}

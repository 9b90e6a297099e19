package seendb

// Against a server that refuses, cuts, stalls and lies.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
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
// is sent without that and the connection closed, one that begins with SLOW 200 ms later, "STALL" is never
// answered.
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
		if rest := strings.TrimPrefix(text, "SLOW"); rest != text {
			time.Sleep(200 * time.Millisecond)
			text = rest
		}
		_, _ = io.WriteString(connection, strings.TrimSuffix(text, "CUT"))
		if text == "" || strings.HasSuffix(text, "CUT") {
			return
		}
	}
}

// say replaces what it is going to answer.
func (l *liar) say(texts ...string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.texts = texts
}

func (l *liar) count() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.requests)
}

// header is one of request `i`.
func (l *liar) header(i int, name string) string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.requests[i].Header.Get(name)
}

func (l *liar) body(i int) string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.bodies[i]
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
		equal(t, []string{l.header(0, "SeenDB-Attempt"), l.header(1, "SeenDB-Attempt")}, []string{"", "1"})
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
	if l.count() > 65 {
		t.Error(l.count())
	}
}

func TestWhatIsWrongIsNotAskedAgain(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 409, 413, 415, 500} {
		l := lie(t, refusal(status, "no"), says(200, unseen))
		equal(t, CodeOf(ask(client(t, Options{}, l.url))), "no")
		equal(t, l.count(), 1)
	}
}

func TestAPlayKeepsItsTimeOverBothTries(t *testing.T) {
	l := lie(t, refusal(503, "busy"), says(200, `{"accepted":1,"refused":0,"refusals":[]}`, "SeenDB-Position: 3:7"), says(200, unseen))
	c := client(t, Options{}, l.url)
	_, err := c.RecordPlays(context.Background(), []Play{{User: Text("u"), Item: Text("v")}})
	must(t, err)
	equal(t, l.body(0), l.body(1))
	must(t, ask(c))
	equal(t, l.header(2, "SeenDB-Position"), "3:7")
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

func TestATokenIsReadAgainWhenItsFileChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	l := lie(t, says(200, unseen), says(200, unseen))
	c := client(t, Options{TokenFile: path}, l.url)
	for i, token := range []string{"first", "second"} {
		must(t, os.WriteFile(path, []byte(token+"\n"), 0o600))
		must(t, os.Chtimes(path, time.Unix(int64(i+1), 0), time.Unix(int64(i+1), 0)))
		must(t, ask(c))
		equal(t, l.header(i, "Authorization"), "Bearer "+token)
	}
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
	l.say(refusal(503, "overloaded"), refusal(503, "overloaded"), refusal(503, "overloaded"))
	found, err = page(c, LastKnown)
	must(t, err)
	equal(t, found, Texts("b", "d"))
	found, err = page(c, FailOpen)
	must(t, err)
	equal(t, found, Texts("a", "b"))
	_, err = page(c, FailClosed)
	equal(t, CodeOf(err), "overloaded")
	for _, text := range []string{refusal(429, "rate_limited"), says(502, "<html>"), says(504, "<html>"), ""} {
		found, err = page(client(t, Options{Retries: -1}, lie(t, text).url), FailOpen)
		must(t, err)
		equal(t, found, Texts("a", "b"))
	}
}

func TestAPageThatFailsClosedHasTheServerFail(t *testing.T) {
	l := lie(t, says(200, unseen), refusal(503, "timeout"))
	c := client(t, Options{Timeout: 5 * time.Second, Retries: -1}, l.url)
	_, err := c.FillPage(context.Background(), Text("u"), Texts("v"), 1, FailClosed)
	must(t, err)
	var body struct {
		OnError    string `json:"on_error"`
		DeadlineMs int    `json:"deadline_ms"`
	}
	must(t, json.Unmarshal([]byte(l.body(0)), &body))
	equal(t, body.OnError, "fail")
	if body.DeadlineMs < 3000 || body.DeadlineMs > 4000 {
		t.Error(body.DeadlineMs)
	}
	_, err = c.FillPage(context.Background(), Text("u"), Numbers(1), 1, FailClosed)
	equal(t, CodeOf(err), "timeout")
	l.mutex.Lock()
	defer l.mutex.Unlock()
	equal(t, l.requests[1].URL.Query().Get("on_error"), "fail")
}

func TestAPagesTimeIsThatOfAllItsCalls(t *testing.T) {
	l := lie(t, "SLOW"+says(200, unseen), "STALL")
	c := client(t, Options{Timeout: 1500 * time.Millisecond}, l.url)
	candidates := Texts("v")
	for i := 1; i < 2*pageChunk; i++ {
		candidates = append(candidates, Text(fmt.Sprint(i)))
	}
	began := time.Now()
	found, err := c.FillPage(context.Background(), Text("u"), candidates, 2, FailOpen)
	must(t, err)
	equal(t, found, []ID{Text("v"), candidates[pageChunk]})
	if left, _ := strconv.Atoi(l.header(1, "SeenDB-Timeout-Ms")); left > 1300 {
		t.Error(left)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Error(took)
	}
}

func TestGreatNumbersGoAsTextAndComeBackAsTheyWere(t *testing.T) {
	most := uint64(1<<53 - 1)
	l := lie(t, says(200, `{"unseen":["a",9007199254740991,"9007199254740992","18446744073709551615"],"seen":0,"examined":4,"degraded":false}`))
	items := []ID{Text("a"), Number(most), Number(most + 1), Number(1<<64 - 1)}
	found, err := client(t, Options{}, l.url).Filter(context.Background(), Number(most+2), items)
	must(t, err)
	equal(t, found.Unseen, items)
	var body struct{ User, Items json.RawMessage }
	must(t, json.Unmarshal([]byte(l.body(0)), &body))
	equal(t, string(body.User), `"9007199254740993"`)
	equal(t, string(body.Items), `["a",9007199254740991,"9007199254740992","18446744073709551615"]`)
}

func TestAPositionIsTheGreatestOfEachPartition(t *testing.T) {
	recorded := func(position string) string {
		return says(200, `{"accepted":1,"refused":0,"refusals":[]}`, "SeenDB-Position: "+position)
	}
	many := "1:9,2:9,3:9,4:9,5:9,6:9,7:9,8:9,9:9"
	l := lie(t, recorded("3:1042"), recorded("5:7"), recorded("3:9"), recorded(many), recorded("no"), says(200, unseen))
	c := client(t, Options{}, l.url)
	for i := 0; i < 5; i++ {
		_, err := c.RecordPlays(context.Background(), []Play{{User: Text("u"), Item: Text("v")}})
		must(t, err)
	}
	must(t, ask(c))
	equal(t, l.header(5, "SeenDB-Position"), "3:1042,5:7")
	equal(t, newest("1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1", readPosition("0:2,8:2")), "0:2,2:1,3:1,4:1,5:1,6:1,7:1,8:2")
	for i := 0; i <= usersMost; i++ {
		c.positions.change(fmt.Sprint(i), func(any) any { return "1:1" })
	}
	equal(t, c.positions.order.Len(), usersMost)
	equal(t, c.positions.get("0"), nil)
}

func TestWhatMayBeMadeOnceIsNotSentAgain(t *testing.T) {
	for method, requests := range map[string]int{"POST": 2, "PUT": 3} {
		l := lie(t, says(200, "{}"), "", says(200, "{}"))
		c := client(t, Options{Retries: -1}, l.url)
		must(t, c.Call(context.Background(), "GET", "/readyz", nil, nil))
		err := c.Call(context.Background(), method, "/plays", map[string]any{}, nil) // on a connection that breaks
		equal(t, CodeOf(err) == "unavailable", method == "POST")
		equal(t, l.count(), requests)
	}
}

func TestACallersContextEndsTheCall(t *testing.T) {
	l := lie(t, "STALL")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	began := time.Now()
	_, err := client(t, Options{}, l.url).FillPage(ctx, Text("u"), Texts("v"), 1, FailOpen)
	equal(t, errors.Is(err, context.Canceled), true)
	waits := lie(t, refusal(503, "busy", "SeenDB-Retry-After-Ms: 5000"))
	ctx, cancel = context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err = client(t, Options{}, waits.url).Filter(ctx, Text("u"), Texts("v"))
	equal(t, errors.Is(err, context.Canceled), true)
	if took := time.Since(began); took > 4*time.Second {
		t.Error(took)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 400*time.Millisecond)
	defer cancel()
	late := lie(t, "STALL")
	_, err = client(t, Options{}, late.url).Filter(ctx, Text("u"), Texts("v"))
	equal(t, errors.Is(err, context.DeadlineExceeded), true)
	equal(t, CodeOf(err), "timeout")
	if left, _ := strconv.Atoi(late.header(0, "SeenDB-Timeout-Ms")); left > 350 {
		t.Error(left)
	}
}

func TestOddWaitsAreNone(t *testing.T) {
	for _, header := range []string{"Retry-After: -5", "Retry-After: Fri, 27 Nov 2026 05:00:00 GMT", "SeenDB-Retry-After-Ms: -1"} {
		must(t, ask(client(t, Options{}, lie(t, refusal(503, "busy", header), says(200, unseen)).url)))
	}
}

func TestAClosedClientSaysSo(t *testing.T) {
	c := client(t, Options{}, lie(t, says(200, unseen)).url)
	must(t, ask(c))
	c.Close()
	equal(t, CodeOf(ask(c)), "closed")
}

func TestMurmur2IsKafkas(t *testing.T) {
	for text, value := range map[string]int32{"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string": -1486304829, "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107} {
		equal(t, int32(murmur2([]byte(text))), value)
	}
}

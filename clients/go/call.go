package seendb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// request is a call on its way.
type request struct {
	name, method, path string
	query              url.Values
	header             http.Header
	body               []byte
	contentType        string
	user               *ID
	once               bool // it may not be made twice
	hedge              bool // it may be made at two servers at once
	patient            bool // it is made again and again, until its time is over
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (c *Client) authorization() (string, error) {
	if c.options.TokenFile == "" {
		return c.options.Token, nil
	}
	state, err := os.Stat(c.options.TokenFile)
	if err != nil {
		return "", err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !state.ModTime().Equal(c.tokenSeen) || c.token == "" {
		text, err := os.ReadFile(c.options.TokenFile)
		if err != nil {
			return "", err
		}
		c.token = strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0])
		c.tokenSeen = state.ModTime()
	}
	return c.token, nil
}

const later = 50 * time.Millisecond // the server ends the wait, and the connection stays usable

// deadlineOf is when the server has to have answered; the client waits a little longer.
func (c *Client) deadlineOf(ctx context.Context) time.Time {
	deadline, has := ctx.Deadline()
	if !has {
		return time.Now().Add(c.options.Timeout)
	}
	grace := time.Until(deadline) / 2
	if grace > later {
		grace = later
	}
	return deadline.Add(-grace)
}

// once makes one try.
func (c *Client) once(caller context.Context, base string, r *request, header http.Header, deadline time.Time) (*answer, error) {
	if errors.Is(caller.Err(), context.Canceled) {
		return nil, caller.Err()
	}
	if c.isClosed() {
		return nil, &Error{Code: "closed", Message: "the client is closed"}
	}
	left := time.Until(deadline)
	if left < time.Millisecond {
		return nil, &Error{Code: "timeout", Message: "no answer in time", cause: context.DeadlineExceeded}
	}
	own := deadline.Add(later)
	ctx, cancel := context.WithDeadline(context.WithValue(caller, callDeadline{}, own), own)
	defer cancel()
	target := base + r.path
	if len(r.query) > 0 {
		target += "?" + strings.ReplaceAll(r.query.Encode(), "+", "%20")
	}
	made, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.body))
	if err != nil {
		return nil, refuse("", "%v", err)
	}
	made.Header = header.Clone()
	if r.contentType != "" {
		made.Header.Set("Content-Type", r.contentType)
	}
	made.Header.Set("SeenDB-Timeout-Ms", strconv.FormatInt(left.Milliseconds(), 10))
	if !r.once {
		made.Header["Idempotency-Key"] = []string{} // a connection that was closed while idle is opened anew
	}
	token, err := c.authorization()
	if err != nil {
		return nil, refuse("", "the token: %v", err)
	}
	if token != "" {
		made.Header.Set("Authorization", "Bearer "+token)
	}
	got, err := c.http.Do(made)
	if err == nil {
		defer got.Body.Close()
		var body []byte
		body, err = io.ReadAll(io.LimitReader(got.Body, c.options.bodyBytesLimit))
		if err == nil {
			return &answer{got.StatusCode, got.Header, body}, nil
		}
	}
	switch {
	case errors.Is(caller.Err(), context.Canceled):
		return nil, caller.Err()
	case isUnsent(err):
		c.markAway(base)
	case ctx.Err() != nil:
		return nil, &Error{Code: "timeout", Message: "no answer in time", cause: ctx.Err()}
	case strings.Contains(err.Error(), "malformed HTTP") || strings.Contains(err.Error(), "bad Content-Length"):
		return nil, &Error{Code: "protocol", Message: err.Error(), cause: err}
	}
	return nil, &Error{Code: "unavailable", Message: err.Error(), cause: err}
}

// isUnsent says whether nothing of the request was sent.
func isUnsent(err error) bool {
	var why *unconnected
	return errors.As(err, &why)
}

// ask makes the call, with second tries where they are allowed: an answer of 2xx, 304 or 422.
func (c *Client) ask(ctx context.Context, r *request) (*answer, error) {
	began := time.Now()
	deadline := c.deadlineOf(ctx)
	header := http.Header{}
	for name, values := range r.header {
		header[name] = values
	}
	if r.user != nil {
		if position, known := c.positions.get(r.user.String()).(string); known {
			header.Set("SeenDB-Position", position)
		}
	}
	status, tries := 0, 0
	defer func() {
		if c.options.OnCall != nil {
			name := r.name
			if name == "" {
				name = r.method + " " + r.path
			}
			c.options.OnCall(name, time.Since(began), status, tries)
		}
	}()
	c.lookUp(ctx, deadline)
	c.learn(ctx, deadline)
	c.budget.first()
	urls, direct := c.where(r.user)
	if len(urls) == 0 {
		return nil, c.nobody()
	}
	at, moves, attempt := 0, 0, 0
	for {
		sent := header.Clone()
		if attempt > 0 {
			sent.Set("SeenDB-Attempt", strconv.Itoa(attempt))
		}
		if direct {
			sent.Set("SeenDB-Route", "direct")
		}
		tries++
		status = 0
		try := func(ctx context.Context, url string, header http.Header) (*answer, error) {
			return c.once(ctx, url, r, header, deadline)
		}
		var got *answer
		var failure error
		if r.hedge && c.options.Hedge > 0 && attempt == 0 && len(urls) > 1 {
			again := header.Clone()
			again.Set("SeenDB-Attempt", "1")
			here, there := urls[at], urls[(at+1)%len(urls)]
			var more int
			got, failure, more = c.hedged(ctx, func(ctx context.Context) (*answer, error) { return try(ctx, here, sent) },
				func(ctx context.Context) (*answer, error) { return try(ctx, there, again) })
			tries += more
		} else {
			got, failure = try(ctx, urls[at], sent)
		}
		if got != nil {
			status = got.status
			if status < 300 || status == http.StatusNotModified || status == http.StatusUnprocessableEntity {
				return got, nil
			}
			failure = errorOf(status, got.body)
			if status == http.StatusMisdirectedRequest && direct { // the map is old: any node passes it on
				c.learnSoon()
				urls, direct = c.where(nil)
				at = 0
				continue
			}
		} else if isUnsent(failure) && moves+1 < len(urls) { // nothing was done: the next one
			moves++
			at, direct = (at+1)%len(urls), false
			continue
		}
		wait, again := c.secondTry(r, got, failure, attempt)
		if !again || time.Now().Add(wait).After(deadline) || !r.patient && !c.budget.second() {
			return nil, failure
		}
		if len(urls) > 1 {
			at, direct = (at+1)%len(urls), false
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, ctx.Err()
			}
			return nil, failure
		case <-timer.C:
		}
		attempt++
	}
}

// secondTry says how long to wait for it, and whether there is one.
func (c *Client) secondTry(r *request, got *answer, failure error, attempt int) (time.Duration, bool) {
	switch {
	case r.once || attempt >= c.options.Retries && !r.patient:
		return 0, false
	case got != nil:
		return c.budget.wait(attempt, got.header), got.status == http.StatusTooManyRequests || got.status == http.StatusServiceUnavailable
	}
	return c.budget.wait(attempt, http.Header{}), CodeOf(failure) == "unavailable"
}

// send is ask with a body as JSON, where it is not nil.
func (c *Client) send(ctx context.Context, r *request, body any) (*answer, error) {
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, refuse("", "%v", err)
		}
		r.body, r.contentType = text, "application/json"
	}
	return c.ask(ctx, r)
}

// Call asks any route, with `body` as JSON where it is not nil, and reads the answer's JSON into
// `to` where that is not nil. What is neither GET,
// HEAD, PUT nor DELETE is made once.
func (c *Client) Call(ctx context.Context, method, path string, body, to any) error {
	r := &request{method: method, path: path, once: !contains([]string{"GET", "HEAD", "PUT", "DELETE"}, method)}
	got, err := c.send(ctx, r, body)
	if err != nil || to == nil {
		return err
	}
	return read(got, to)
}

// read reads the answer's JSON, which has the members that it needs.
func read(got *answer, to any, needs ...string) error {
	err := json.Unmarshal(got.body, to)
	var members map[string]json.RawMessage
	if len(needs) > 0 && err == nil {
		err = json.Unmarshal(got.body, &members)
	}
	for _, name := range needs {
		if _, has := members[name]; !has && err == nil {
			err = errors.New("it has no " + name)
		}
	}
	if err != nil {
		return &Error{Code: "protocol", Message: fmt.Sprintf("the answer is not the JSON that was asked for: %.100q", got.body), Status: got.status}
	}
	return nil
}

func userPath(user ID, rest string) string { return "/users/" + url.PathEscape(user.String()) + rest }

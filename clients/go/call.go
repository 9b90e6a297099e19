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

// ask makes the call, with second tries where they are allowed: an answer of 2xx or 422.
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
	c.learn(ctx, deadline)
	c.budget.first()
	urls, direct := c.where(r.user)
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
		got, failure := c.once(ctx, urls[at], r, sent, deadline)
		if got != nil {
			status = got.status
			if status < 300 || status == http.StatusUnprocessableEntity {
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
		if !again || time.Now().Add(wait).After(deadline) || !c.budget.second() {
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
	case r.once || attempt >= c.options.Retries:
		return 0, false
	case got != nil:
		return c.budget.wait(attempt, got.header), got.status == http.StatusTooManyRequests || got.status == http.StatusServiceUnavailable
	}
	return c.budget.wait(attempt, http.Header{}), CodeOf(failure) == "unavailable"
}

// Call asks any route, with `body` as JSON where it is not nil, and reads the answer's JSON into
// `to` where that is not nil. What is neither GET,
// HEAD, PUT nor DELETE is made once.
func (c *Client) Call(ctx context.Context, method, path string, body, to any) error {
	r := &request{method: method, path: path, once: !contains([]string{"GET", "HEAD", "PUT", "DELETE"}, method)}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return refuse("", "%v", err)
		}
		r.body, r.contentType = text, "application/json"
	}
	got, err := c.ask(ctx, r)
	if err != nil || to == nil {
		return err
	}
	return read(got, to)
}

func read(got *answer, to any) error {
	if err := json.Unmarshal(got.body, to); err != nil {
		return &Error{Code: "protocol", Message: fmt.Sprintf("the answer is no JSON: %.100q", got.body), Status: got.status}
	}
	return nil
}

func userPath(user ID, rest string) string { return "/users/" + url.PathEscape(user.String()) + rest }

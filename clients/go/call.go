package seendb

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a client. The zero value is good.
type Options struct {
	Token          string        // a bearer token
	TokenFile      string        // a file whose first line it is, read again when it changes
	CA             string        // a file of certificates to trust; empty: the system's
	Certificate    string        // the caller's own, with Key
	Key            string        //
	Timeout        time.Duration // of a call whose context has no deadline; 0: one second
	Retries        int           // second tries; 0: one, negative: none
	Connections    int           // per server; 0: 16
	Cluster        bool          // the URLs are nodes of one cluster: a question goes to who has its user
	OnCall         func(name string, took time.Duration, status, tries int)
	bodyBytesLimit int64
}

const (
	placementFor = 30 * time.Second
	later        = 50 * time.Millisecond // the server ends the wait, and the connection stays usable
	retryShare   = 0.1
	retryMost    = 10.0
)

// Client calls one server, or several. All goroutines may share it.
type Client struct {
	urls      []string
	options   Options
	http      *http.Client
	turn      atomic.Uint64
	positions *lastUsers
	recent    *lastUsers
	shares    *lastUsers

	mutex      sync.Mutex
	budget     float64
	placed     *placement
	placedTill time.Time
	token      string
	tokenSeen  time.Time
}

// New makes a client of servers: "http://host:port", "https://host:port" or "unix:/path". Where one
// can't be reached the next is asked.
func New(urls ...string) (*Client, error) { return NewWith(Options{}, urls...) }

// NewWith is New with options.
func NewWith(options Options, urls ...string) (*Client, error) {
	if len(urls) == 0 {
		return nil, errors.New("seendb: no server is named")
	}
	if options.Timeout == 0 {
		options.Timeout = time.Second
	}
	if options.Connections == 0 {
		options.Connections = 16
	}
	if options.Retries == 0 {
		options.Retries = 1
	}
	if options.bodyBytesLimit == 0 {
		options.bodyBytesLimit = 1 << 30
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if options.CA != "" {
		pem, err := os.ReadFile(options.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("seendb: no certificate in %s", options.CA)
		}
	}
	if options.Certificate != "" {
		own, err := tls.LoadX509KeyPair(options.Certificate, options.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{own}
	}
	c := &Client{options: options, positions: newLastUsers(), recent: newLastUsers(),
		shares: newLastUsers(), budget: retryMost}
	sockets := map[string]string{}
	for i, one := range urls {
		if path := strings.TrimPrefix(one, "unix:"); path != one {
			name := fmt.Sprintf("unix-%d.localhost", i)
			sockets[name+":80"] = path
			c.urls = append(c.urls, "http://"+name)
			continue
		}
		parsed, err := url.Parse(one)
		if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") || strings.Trim(parsed.Path, "/") != "" {
			return nil, fmt.Errorf("seendb: %q is no http://host:port, https://host:port or unix:/path", one)
		}
		if parsed.Port() == "" {
			parsed.Host += ":7373"
		}
		c.urls = append(c.urls, parsed.Scheme+"://"+parsed.Host)
	}
	dialer := &net.Dialer{}
	c.http = &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if path, known := sockets[address]; known {
					return dialer.DialContext(ctx, "unix", path)
				}
				return dialer.DialContext(ctx, network, address)
			},
			TLSClientConfig:     config,
			MaxConnsPerHost:     options.Connections,
			MaxIdleConnsPerHost: options.Connections,
			IdleConnTimeout:     50 * time.Second, // the server closes after 75 s
			DisableCompression:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

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

// once makes one try.
func (c *Client) once(ctx context.Context, base string, r *request, header http.Header, deadline time.Time) (*answer, error) {
	left := time.Until(deadline)
	if left < time.Millisecond {
		return nil, &Error{Code: "timeout", Message: "no answer in time"}
	}
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(later))
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
	case ctx.Err() != nil:
		return nil, &Error{Code: "timeout", Message: "no answer in time"}
	case strings.Contains(err.Error(), "malformed HTTP") || strings.Contains(err.Error(), "bad Content-Length"):
		return nil, &Error{Code: "protocol", Message: err.Error()}
	}
	return nil, &Error{Code: "unavailable", Message: err.Error()}
}

func (c *Client) where(user *ID) (urls []string, direct bool) {
	c.mutex.Lock()
	placed := c.placed
	c.mutex.Unlock()
	if user != nil {
		if urls := placed.urlsOf(user.String()); len(urls) > 0 {
			return urls, true
		}
	}
	first := int(c.turn.Add(1)-1) % len(c.urls)
	return append(append([]string{}, c.urls[first:]...), c.urls[:first]...), false
}

// learn asks for the placement where it is old.
func (c *Client) learn(ctx context.Context, deadline time.Time) {
	if !c.options.Cluster {
		return
	}
	c.mutex.Lock()
	old := time.Now().After(c.placedTill)
	if old {
		c.placedTill = time.Now().Add(placementFor)
	}
	c.mutex.Unlock()
	if !old {
		return
	}
	urls, _ := c.where(nil)
	got, err := c.once(ctx, urls[0], &request{method: "GET", path: "/cluster"}, http.Header{}, deadline)
	if err == nil && got.status == http.StatusOK {
		if placed, wrong := readPlacement(got.body); wrong == nil {
			c.mutex.Lock()
			c.placed = placed
			c.mutex.Unlock()
			return
		}
	}
	c.mutex.Lock()
	c.placedTill = time.Now().Add(time.Second)
	c.mutex.Unlock()
}

// mayRetry says whether the budget has a second try: one for ten calls, and ten at once.
func (c *Client) mayRetry() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.budget < 1 {
		return false
	}
	c.budget--
	return true
}

func (c *Client) countFirst() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.budget += retryShare
	if c.budget > retryMost {
		c.budget = retryMost
	}
}

func waitOf(attempt int, header http.Header) time.Duration {
	wait := 10 * time.Millisecond << attempt
	if ms, err := strconv.Atoi(header.Get("SeenDB-Retry-After-Ms")); err == nil {
		wait = time.Duration(ms) * time.Millisecond
	} else if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil {
		wait = time.Duration(seconds) * time.Second
	}
	return wait + time.Duration(rand.Int63n(int64(wait)/2+1))
}

// ask makes the call, with second tries where they are allowed: an answer of 2xx or 422.
func (c *Client) ask(ctx context.Context, r *request) (*answer, error) {
	began := time.Now()
	deadline, has := ctx.Deadline()
	if !has {
		deadline = began.Add(c.options.Timeout)
	}
	header := http.Header{}
	for name, values := range r.header {
		header[name] = values
	}
	if r.user != nil {
		if position, known := c.positions.get(r.user.String()).(string); known {
			header.Set("SeenDB-Position", position)
		}
	}
	c.learn(ctx, deadline)
	c.countFirst()
	urls, direct := c.where(r.user)
	status, attempt := 0, 0
	defer func() {
		if c.options.OnCall != nil {
			name := r.name
			if name == "" {
				name = r.method + " " + r.path
			}
			c.options.OnCall(name, time.Since(began), status, attempt+1)
		}
	}()
	for {
		sent := header.Clone()
		if attempt > 0 {
			sent.Set("SeenDB-Attempt", strconv.Itoa(attempt))
		} else if direct {
			sent.Set("SeenDB-Route", "direct")
		}
		got, err := c.once(ctx, urls[attempt%len(urls)], r, sent, deadline)
		status = 0
		again := false
		wait := time.Duration(0)
		var failure error = err
		if err == nil {
			status = got.status
			if status < 300 || status == http.StatusUnprocessableEntity {
				return got, nil
			}
			failure = errorOf(got.status, got.body)
			again = status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
			wait = waitOf(attempt, got.header)
			if status == http.StatusMisdirectedRequest && attempt == 0 { // the placement is old
				c.mutex.Lock()
				c.placedTill = time.Time{}
				c.mutex.Unlock()
				attempt++
				c.learn(ctx, deadline)
				urls, direct = c.where(r.user)
				continue
			}
		} else {
			again = CodeOf(err) == "unavailable"
			if len(urls) == 1 {
				wait = waitOf(attempt, http.Header{})
			}
		}
		if !again || r.once || attempt >= c.options.Retries || time.Now().Add(wait).After(deadline) || !c.mayRetry() {
			return nil, failure
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, failure
		case <-timer.C:
		}
		attempt++
	}
}

// Call asks any route, with `body` as JSON where it is not nil, and reads the answer's JSON into
// `to` where that is not nil. A POST is made once.
func (c *Client) Call(ctx context.Context, method, path string, body, to any) error {
	r := &request{method: method, path: path, once: method == "POST"}
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

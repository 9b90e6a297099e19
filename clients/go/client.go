package seendb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Options of a client. The zero value is good.
type Options struct {
	Token       string        // a bearer token
	TokenFile   string        // a file whose first line it is, read again when it changes
	CA          string        // a file of certificates to trust; empty: the system's
	Certificate string        // the caller's own, with Key
	Key         string        //
	Timeout     time.Duration // of a call whose context has no deadline; 0: one second
	Retries     int           // second tries; 0: one, negative: none
	Connections int           // per server; 0: 16
	Cluster     bool          // the URLs are nodes of one cluster: a question goes to who has its user
	// Hedge: a read that was not answered for so long is asked at another server too, and the first good answer
	// counts; of second tries, which have their budget. 0: never.
	Hedge time.Duration
	DNS   string // "host:port" of a name server that is asked in place of the system's for srv+http://name
	// Resolver is asked in place of name servers, in a goroutine of its own.
	Resolver       func(ctx context.Context, name string) ([]*net.SRV, error)
	OnCall         func(name string, took time.Duration, status, tries int)
	bodyBytesLimit int64
}

// Client calls one server, or several. All goroutines may share it.
type Client struct {
	urls      []string
	named     map[string]*named // by its URL
	options   Options
	http      *http.Client
	budget    *budget
	positions *lastUsers
	recent    *lastUsers
	shares    *lastUsers

	mutex      sync.Mutex
	closed     bool
	turn       int
	away       map[string]time.Time // until when a server comes last
	placed     *placement
	placedTill time.Time
	token      string
	tokenSeen  time.Time
}

// New makes a client of servers: "http://host:port", "https://host:port" or "unix:/path"; "srv+http://name" and
// "srv+https://name" stand for the targets of that SRV record. Where one can't be reached the next is asked.
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
	c := &Client{options: options, budget: newBudget(), positions: newLastUsers(), recent: newLastUsers(),
		shares: newLastUsers(), away: map[string]time.Time{}, named: map[string]*named{}}
	connect := &dialer{tls: config, sockets: map[string]string{}}
	for _, one := range urls {
		base := one
		name, err := newNamed(one, &options)
		if name != nil {
			c.named[one] = name
		} else if err == nil {
			base, err = connect.baseOf(one)
		}
		if err != nil {
			return nil, err
		}
		c.urls = append(c.urls, base)
	}
	c.http = &http.Client{
		Transport: &http.Transport{
			DialContext:         connect.plain,
			DialTLSContext:      connect.secure,
			MaxConnsPerHost:     options.Connections,
			MaxIdleConnsPerHost: options.Connections,
			IdleConnTimeout:     50 * time.Second, // the server closes after 75 s
			DisableCompression:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close closes idle connections; calls fail with "closed" from then on.
func (c *Client) Close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.closed = true
	c.http.CloseIdleConnections()
}

func (c *Client) isClosed() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.closed
}

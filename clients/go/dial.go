package seendb

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// unconnected is why no connection came to be. Nothing was sent: another server may be asked.
type unconnected struct{ err error }

func (u *unconnected) Error() string { return u.err.Error() }
func (u *unconnected) Unwrap() error { return u.err }

// dialer opens connections.
type dialer struct {
	net.Dialer
	tls     *tls.Config
	sockets map[string]string // paths, by the address that stands for each
}

// baseOf is what requests to a server begin with.
func (d *dialer) baseOf(server string) (string, error) {
	if path := strings.TrimPrefix(server, "unix:"); path != server {
		name := fmt.Sprintf("unix-%d.localhost", len(d.sockets))
		d.sockets[name+":80"] = path
		return "http://" + name, nil
	}
	return webBaseOf(server)
}

func webBaseOf(server string) (string, error) {
	parsed, err := url.Parse(server)
	if err != nil || parsed.Hostname() == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") || strings.Trim(parsed.Path, "/") != "" {
		return "", fmt.Errorf("seendb: %q is no http://host:port, https://host:port or unix:/path", server)
	}
	if parsed.Port() == "" {
		parsed.Host += ":7373"
	}
	return parsed.Scheme + "://" + parsed.Host, nil
}

type callDeadline struct{}

// connecting is the context of a connect: a third of what is left of the call is for it. The transport
// takes no deadline over from a request, but its values.
func connecting(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, known := ctx.Value(callDeadline{}).(time.Time)
	if !known {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/3)
}

func (d *dialer) plain(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := connecting(ctx)
	defer cancel()
	return d.connect(ctx, network, address)
}

// secure is with the handshake, which is part of the connect.
func (d *dialer) secure(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := connecting(ctx)
	defer cancel()
	raw, err := d.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	config.ServerName, _, _ = net.SplitHostPort(address)
	connection := tls.Client(raw, config)
	if err := connection.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, &unconnected{err}
	}
	return connection, nil
}

func (d *dialer) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if path, known := d.sockets[address]; known {
		network, address = "unix", path
	}
	connection, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, &unconnected{err}
	}
	return connection, nil
}

package store

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// maxRedirects is the largest number of redirects that are followed for one request.
const maxRedirects = 10

// reach is the set of machines that can reach a network address.
type reach int

const (
	public         reach = iota
	privateNetwork       // reached from within an organisation
	sameLink             // reached from machines on the same cable; at such addresses clouds provide credentials
	sameMachine
)

func (r reach) String() string {
	return [...]string{"a public address", "an address of a private network", "a link-local address, where clouds give out credentials", "an address of this machine"}[r]
}

// reachBlocks lists the blocks of addresses whose reach netip.Addr does not report.
var reachBlocks = []struct {
	block netip.Prefix
	reach reach
}{
	{netip.MustParsePrefix("0.0.0.0/8"), sameMachine},
	{netip.MustParsePrefix("168.63.129.16/32"), sameLink}, // Azure's agent for its machines
	{netip.MustParsePrefix("100.64.0.0/10"), privateNetwork},
	{netip.MustParsePrefix("192.0.0.0/24"), privateNetwork},
	{netip.MustParsePrefix("198.18.0.0/15"), privateNetwork},
	{netip.MustParsePrefix("224.0.0.0/3"), privateNetwork}, // addresses of groups of machines, or reserved
	{netip.MustParsePrefix("fec0::/10"), privateNetwork},
	{netip.MustParsePrefix("ff00::/8"), privateNetwork},
}

// embeddedIPv4 lists blocks of IPv6 addresses that contain an IPv4 address, with the position of its first byte.
var embeddedIPv4 = []struct {
	block netip.Prefix
	at    int
}{
	{netip.MustParsePrefix("::/96"), 12}, {netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("2002::/16"), 2},
}

func reachOf(a netip.Addr) reach {
	a = a.Unmap().WithZone("")
	switch {
	case a.IsLoopback() || a.IsUnspecified():
		return sameMachine
	case a.IsLinkLocalUnicast():
		return sameLink
	case a.IsPrivate():
		return privateNetwork
	}
	for _, e := range embeddedIPv4 {
		if e.block.Contains(a) {
			b := a.As16()
			return reachOf(netip.AddrFrom4([4]byte(b[e.at:])))
		}
	}
	for _, known := range reachBlocks {
		if known.block.Contains(a) {
			return known.reach
		}
	}
	return public
}

// reachOfHost returns the reach that a host's name suggests. It is used if a proxy looks up the address of the host.
func reachOfHost(host string) reach {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return reachOf(a)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case last == "localhost":
		return sameMachine
	case last == "internal" || host == "metadata" || host == "instance-data":
		return sameLink
	case last == "" || last[0] >= '0' && last[0] <= '9': // some systems read 0x7f.1 and 2130706433 as 127.0.0.1
		return sameMachine
	}
	return public
}

func errRedirectReach(host string, hostReach reach) error {
	return &permanentError{faultf("give that address itself if it is meant", "the server redirects to %q, %s; the given address is not such an address", host, hostReach)}
}

// redirectingTransport sends requests that may be redirected. The first request goes to the address that the user
// gave. The target of a redirect must be public, or have the same reach as the first address. It is checked by its IP
// address when the connection is made, so that a name cannot hide the address.
type redirectingTransport struct {
	first http.RoundTripper
	next  [sameMachine + 1]http.RoundTripper // one transport for each reach of the first address, with connections of its own
}

// reachKey is the key of a context value, a *reach, that holds the reach of a request's first address.
type reachKey struct{}

func withReach(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), reachKey{}, new(reach)))
}

// RoundTrip implements http.RoundTripper. It refuses an address that the redirect of a less trusted server must not
// reach. If a proxy looks up the address, only the reach that the name of the host suggests is checked.
func (f *redirectingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	first, ok := r.Context().Value(reachKey{}).(*reach)
	if !ok {
		panic("a request that may be redirected has no reach")
	}
	byProxy, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, err
	}
	named := reachOfHost(r.URL.Hostname())
	switch {
	case r.Response == nil && byProxy != nil:
		*first = named
	case r.Response == nil:
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
			if to, err := netip.ParseAddrPort(got.Conn.RemoteAddr().String()); err == nil {
				*first = reachOf(to.Addr())
			}
		}}))
	case byProxy != nil && named != public && named != *first:
		return nil, errRedirectReach(r.URL.Hostname(), named)
	case byProxy == nil:
		return f.next[*first].RoundTrip(r)
	}
	return f.first.RoundTrip(r)
}

func newTransport(dialer *net.Dialer, security *tls.Config) *http.Transport {
	// HTTP/2 is disabled: it would send all concurrent ranges through one connection, and stores limit the speed of
	// each connection.
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        security,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConns:           128,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        60 * time.Second,
		DisableCompression:     true, // ranges count the bytes as they are stored
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// newHTTPClients returns the client for object stores and the client for web servers, which follows redirects.
func newHTTPClients(meter *stream.Meter, dialer net.Dialer, security *tls.Config) (stores, web *http.Client) {
	transport := newTransport(&dialer, security)
	f := &redirectingTransport{first: transport}
	for firstReach := range f.next {
		limited := dialer
		limited.Control = func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			if reached := reachOf(to.Addr()); reached != public && reached != reach(firstReach) {
				return errRedirectReach(to.Addr().String(), reached)
			}
			return nil
		}
		f.next[firstReach] = newTransport(&limited, security)
	}
	return &http.Client{
		Transport:     &countingTransport{transport, meter},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, &http.Client{Transport: &countingTransport{f, meter}, CheckRedirect: checkRedirect}
}

// checkRedirect decides whether a redirect of a web server is followed. It removes the Referer, because the first
// address may contain a signature. It does not follow a redirect from an encrypted to an unencrypted address. An
// unencrypted redirect is followed only to the same host, because anybody between the machines could have forged it.
// Requests to object stores are signed for one address and are not redirected.
func checkRedirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return &permanentError{faultf("check the address", "the server redirects for ever")}
	case r.URL.Scheme != "https" && r.URL.Scheme != "http":
		return &permanentError{faultf("check the address", "the server redirects to an address that is not of a web server")}
	case r.URL.Scheme == "https":
	case slices.ContainsFunc(via, func(before *http.Request) bool { return before.URL.Scheme == "https" }):
		return &permanentError{faultf("check the address", "the server redirects to an address without encryption")}
	case hostAndPort(r.URL) != hostAndPort(via[0].URL):
		return &permanentError{faultf("give that address itself if it is meant, or one of https://", "the server redirects without encryption to another host, %q", r.URL.Host)}
	}
	r.URL.User = nil
	r.Header.Del("Referer")
	return nil
}

func hostAndPort(u *url.URL) string {
	port := cmp.Or(u.Port(), "80")
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// countingTransport counts requests, including redirected ones, and the bytes in the bodies of answers.
type countingTransport struct {
	http.RoundTripper
	meter *stream.Meter
}

func (t *countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	// If an idle connection turns out to be closed, net/http sends the request again by itself. The trace counts these
	// requests, too.
	var sent atomic.Int64
	trace := &httptrace.ClientTrace{WroteHeaders: func() {
		if sent.Add(1) > 1 {
			t.meter.Requests.Add(1)
			t.meter.Retries.Add(1)
		}
	}}
	t.meter.Requests.Add(1)
	resp, err := t.RoundTripper.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err == nil {
		resp.Body = &countingBody{resp.Body, t.meter}
	}
	return resp, err
}

type countingBody struct {
	io.ReadCloser
	meter *stream.Meter
}

func (b *countingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.meter.Fetched.Add(int64(n))
	return n, err
}

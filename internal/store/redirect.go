package store

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxRedirects is the number of redirects of one request that are followed.
const maxRedirects = 10

// reach is the part of the network from which an address can be reached.
type reach int

const (
	public         reach = iota
	privateNetwork       // from within an organisation
	sameLink             // from machines on the same cable; clouds give out credentials at such addresses
	sameMachine
)

func (r reach) String() string {
	return [...]string{"a public address", "an address of a private network", "a link-local address, where clouds give out credentials", "an address of this machine"}[r]
}

// reaches lists the blocks of addresses that netip.Addr does not classify.
var reaches = []struct {
	block netip.Prefix
	reach reach
}{
	{netip.MustParsePrefix("0.0.0.0/8"), sameMachine},
	{netip.MustParsePrefix("168.63.129.16/32"), sameLink}, // Azure's agent for its machines
	{netip.MustParsePrefix("100.64.0.0/10"), privateNetwork},
	{netip.MustParsePrefix("192.0.0.0/24"), privateNetwork},
	{netip.MustParsePrefix("198.18.0.0/15"), privateNetwork},
	{netip.MustParsePrefix("224.0.0.0/3"), privateNetwork}, // to many machines, or reserved
	{netip.MustParsePrefix("fec0::/10"), privateNetwork},
	{netip.MustParsePrefix("ff00::/8"), privateNetwork},
}

// embeddings lists blocks of IPv6 whose addresses contain an IPv4 address, and the byte at which it begins.
var embeddings = []struct {
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
	for _, e := range embeddings {
		if e.block.Contains(a) {
			b := a.As16()
			return reachOf(netip.AddrFrom4([4]byte(b[e.at:])))
		}
	}
	for _, known := range reaches {
		if known.block.Contains(a) {
			return known.reach
		}
	}
	return public
}

// reachOfHost returns the reach that the name of a host implies. It is for hosts whose address a proxy looks up.
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

// errRedirectReach refuses a redirect to an address that the first server may not send us to.
func errRedirectReach(host string, is reach) error {
	return &permanentError{faultf("give that address itself if it is meant", "the server redirects to %q, %s, and was not asked for at one", host, is)}
}

// redirectingTransport sends requests that may be redirected. The first request is sent to the address that the user
// gave. The target of a redirect is checked when the connection is made, by its IP address, so that a name cannot hide
// the address. It must be public, or have the same reach as the first address.
type redirectingTransport struct {
	first http.RoundTripper
	next  [sameMachine + 1]http.RoundTripper // by the reach of the first address; each has connections of its own
}

// reachKey is the context's key of the *reach of a request's first address.
type reachKey struct{}

func withReach(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), reachKey{}, new(reach)))
}

// RoundTrip implements http.RoundTripper. If a request goes through a proxy, the proxy looks up the address; then only
// the name of the host is checked.
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
		DisableCompression:     true, // a range is of the bytes as they are stored
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// setTransports sets how the client reaches servers. Tests have their own names of hosts, and certificates.
func (c *Client) setTransports(dialer net.Dialer, security *tls.Config) {
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
	c.web = &http.Client{Transport: &countingTransport{f, c.opt.Meter}, CheckRedirect: checkRedirect}
	c.stores = &http.Client{
		Transport:     &countingTransport{transport, c.opt.Meter},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkRedirect follows redirects of web servers. It removes the Referer, because the first address may contain a
// signature, and does not follow a redirect from an encrypted to an unencrypted address. Without encryption anyone on
// the path could redirect requests anywhere, so only redirects to the same host are followed. Requests to stores are
// signed for one address and are not redirected.
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
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

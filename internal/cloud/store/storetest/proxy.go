package storetest

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy forwards requests to a server and adds the faults of networks and busy servers. Its faults may be changed at
// any time. It keeps the Host header, so that signatures stay valid.
type Proxy struct {
	URL string // http://127.0.0.1:PORT

	Latency   atomic.Int64 // nanoseconds by which every request is delayed
	BusyEach  atomic.Int64 // every n-th request is answered with 503; 0 disables this
	ResetEach atomic.Int64 // instead of every n-th answer the connection is reset
	CutEach   atomic.Int64 // the connection ends halfway through the body of every n-th answer
	StallEach atomic.Int64 // halfway through the body of every n-th answer nothing more is sent, for ever

	mu       sync.Mutex
	before   func(*http.Request) *http.Response
	after    func(*http.Request, *http.Response)
	count    map[string]int64
	bytes    int64
	requests atomic.Int64
}

// OnRequest sets a function that is called with each request before it is forwarded. If it returns an answer, the proxy
// sends this answer and does not forward the request.
func (p *Proxy) OnRequest(f func(*http.Request) *http.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = f
}

// OnAnswer sets a function that is called with each answer before it is sent. It may change the answer.
func (p *Proxy) OnAnswer(f func(*http.Request, *http.Response)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after = f
}

// RequestCounts returns the number of requests so far by method, and the number of bytes in the bodies of answers.
func (p *Proxy) RequestCounts() (requests map[string]int64, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.count), p.bytes
}

// Reset sets the counts to 0.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count, p.bytes = map[string]int64{}, 0
}

// NewAnswer returns an answer that the function of OnRequest can return.
func NewAnswer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}
}

// NewProxy starts a proxy for the server at target, which has the form http://HOST:PORT.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := &Proxy{count: map[string]int64{}}
	transport := &http.Transport{
		MaxIdleConnsPerHost: 64, DisableCompression: true,
		// The request contains the name of the proxy as its host, because this name is signed.
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(target, "http://"))
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.forwardRequest(transport, w, r) }))
	p.URL = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return p
}

func isFaultDue(fault *atomic.Int64, requestNumber int64) bool {
	each := fault.Load()
	return each > 0 && requestNumber%each == 0
}

func (p *Proxy) forwardRequest(transport http.RoundTripper, w http.ResponseWriter, r *http.Request) {
	n := p.requests.Add(1)
	p.mu.Lock()
	before, after := p.before, p.after
	p.count[r.Method]++
	p.mu.Unlock()
	if wait := time.Duration(p.Latency.Load()); wait > 0 {
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
			return
		}
	}
	if isFaultDue(&p.BusyEach, n) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	var resp *http.Response
	if before != nil {
		resp = before(r)
	}
	if resp == nil {
		out := r.Clone(r.Context())
		out.RequestURI = ""
		out.URL.Scheme, out.URL.Host = "http", r.Host
		if r.ContentLength == 0 {
			out.Body = nil
		}
		var err error
		if resp, err = transport.RoundTrip(out); err != nil {
			panic(http.ErrAbortHandler) // the client sees its connection end
		}
	}
	defer resp.Body.Close()
	if after != nil {
		after(r, resp)
	}
	if isFaultDue(&p.ResetEach, n) {
		resetConnection(w)
		return
	}
	maps.Copy(w.Header(), resp.Header)
	if resp.ContentLength >= 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	}
	w.WriteHeader(resp.StatusCode)
	p.copyBody(w, r, resp, n)
}

func (p *Proxy) copyBody(w http.ResponseWriter, r *http.Request, resp *http.Response, requestNumber int64) {
	body := io.Reader(resp.Body)
	cut, stall := isFaultDue(&p.CutEach, requestNumber), isFaultDue(&p.StallEach, requestNumber)
	if (cut || stall) && resp.ContentLength > 0 && r.Method == http.MethodGet {
		body = io.LimitReader(body, resp.ContentLength/2)
	} else {
		cut, stall = false, false
	}
	// Bytes are counted before they are sent, so that the count includes all bytes that a client has received.
	_, err := io.Copy(w, io.TeeReader(body, byteCounter{p}))
	_ = http.NewResponseController(w).Flush()
	if stall {
		<-r.Context().Done()
	}
	if cut || err != nil {
		panic(http.ErrAbortHandler)
	}
}

type byteCounter struct{ *Proxy }

func (c byteCounter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += int64(len(b))
	return len(b), nil
}

// resetConnection ends a connection in such a way that the client gets an error, not an end of file.
func resetConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

package store

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/stream"
)

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

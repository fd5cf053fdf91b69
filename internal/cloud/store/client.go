package store

import (
	"cmp"
	"context"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Client sends requests to stores. It finds credentials and opens connections when they are first needed. Several
// goroutines may call its methods at the same time.
type Client struct {
	opt      Options
	stores   *http.Client // does not follow redirects, because requests are signed for their address
	web      *http.Client // follows redirects
	patience patience
	part     int64 // least size of an upload's parts in bytes; huge objects have larger parts
	keys     int   // largest number of keys in a page of a listing; 0 for as many as the store sends

	gate     chan struct{} // has space for one value; the goroutine that put a value into it may use accounts
	accounts map[string]dialect
}

// New returns a Client.
func New(opt Options) *Client {
	opt.Meter = cmp.Or(opt.Meter, new(stream.Meter))
	c := &Client{
		opt: opt, patience: usualPatience, part: 16 << 20,
		gate: make(chan struct{}, 1), accounts: map[string]dialect{},
	}
	c.stores, c.web = newHTTPClients(c.opt.Meter, net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}, nil)
	return c
}

// dialect builds and signs the requests to one kind of store, and reads the answers.
type dialect interface {
	headRequest(l Location) request
	readObject(l Location, answer *http.Response) (Object, error) // reads the answer to headRequest
	rangeRequest(o Object, from, to int64) request                // the bytes [from, to)
	versionOf(h http.Header) string                               // the object's version from the header of an answer
	signRequest(ctx context.Context, r *http.Request, body *section) error
	explainRefusal(l Location, r *refusal) error // translates a refusal into an error with a remedy
}

func readHeader(d dialect, l Location, answer *http.Response) (Object, error) {
	if answer.ContentLength < 0 {
		return Object{}, errNoSize()
	}
	return Object{Location: l, Size: answer.ContentLength, Version: d.versionOf(answer.Header)}, nil
}

// dialectOf returns the dialect for the store of l. Locations with the same parameters share one dialect, because
// they have the same credentials.
func (c *Client) dialectOf(ctx context.Context, l Location) (dialect, error) {
	if c.opt.Anonymous && !l.IsWeb() {
		l.query = withAnonymousParameter(l.query)
	}
	id := l.Scheme + "?" + l.encodedParameters()
	select {
	case c.gate <- struct{}{}:
		defer func() { <-c.gate }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if d := c.accounts[id]; d != nil {
		return d, nil
	}
	var d dialect
	var err error
	switch l.Scheme {
	case "s3":
		d, err = openS3(ctx, l)
	case "gs":
		d, err = openGS(ctx, l)
	case "azblob":
		d, err = openAzure(ctx, l)
	case "https", "http":
		d = web{}
	default:
		err = stream.Usagef("%s:// is not the scheme of a store: s3://, gs://, azblob:// and https:// are", l.Scheme)
	}
	if err != nil {
		return nil, err
	}
	c.accounts[id] = d
	return d, nil
}

func withAnonymousParameter(query map[string][]string) map[string][]string {
	with := map[string][]string{}
	maps.Copy(with, query)
	with["anonymous"] = []string{"true"}
	return with
}

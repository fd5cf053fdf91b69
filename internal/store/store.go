// Package store reads and writes objects of object stores: s3://, gs://, azblob:// and
// https://. Four dialects (s3.go, gs.go, azure.go, https.go) say how a request of each
// store looks and is signed; everything else is one path for all of them: ranged reads of
// a pinned version, retries with backoff, listings by pages, uploads that are complete or
// absent, and counts of what went over the wire.
//
// Requests are plain HTTP. The stores' own SDKs bring 10 to 25 MB each to the binary and 10
// MB to its resident memory (measured: S3's 14, Azure's 10; GCS's links gRPC), and
// gocloud.dev/blob on top links gRPC for its error codes; so only what is hard to get right
// comes from them: finding credentials (aws-sdk-go-v2/config, oauth2/google, azidentity) and
// signing (aws/signer/v4).
//
// Errors are *stream.DataError, or *stream.OutputError of uploads, with the object's name
// and a remedy; no credential is in any of them.
package store

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/ufs-stream/ufs-stream/stream"
)

// ErrChanged is wrapped by errors about an object that is not the version it was.
var ErrChanged = errors.New("the object was replaced since the run began")

// ErrNotExist is wrapped by errors about an object that is not there.
var ErrNotExist = errors.New("there is no such object")

// Options of a Client; the zero value is good.
type Options struct {
	Anonymous bool          // no credentials are looked for, and requests are not signed
	Meter     *stream.Meter // counts bytes fetched, requests and retries; nil counts nothing
}

// Client talks to stores. It finds credentials and makes connections when they are first
// needed. Its methods may be called from many goroutines.
type Client struct{ opt Options }

// New returns a Client.
func New(opt Options) *Client { return &Client{opt} }

// Object is one version of one object.
type Object struct {
	Location
	Size    int64
	Version string // ETag or generation; empty where the server tells none
}

var errUnbuilt = errors.New("not built yet")

// Stat looks up an object; ErrNotExist where there is none.
func (c *Client) Stat(ctx context.Context, l Location) (Object, error) { return Object{}, errUnbuilt }

// List yields the objects whose keys begin with l's key, in byte order of their keys, as
// the pages arrive. It holds one page. https:// cannot be listed: a *stream.UsageError.
func (c *Client) List(ctx context.Context, l Location) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) { yield(Object{}, errUnbuilt) }
}

// Read fills b with the object's bytes from offset at, with one ranged GET of exactly that
// version. A body that ends early is asked for again from where it ended, within the bound
// on retries.
func (c *Client) Read(ctx context.Context, o Object, b []byte, at int64) error { return errUnbuilt }

// Download copies the whole object to w, in order, resuming where a body ends early.
func (c *Client) Download(ctx context.Context, o Object, w io.Writer) error { return errUnbuilt }

// CanUpload fails where an upload to l would: no credentials, no bucket, no permission, as
// far as that can be told without leaving anything there.
func (c *Client) CanUpload(ctx context.Context, l Location) error { return errUnbuilt }

// Upload puts size bytes of r at l: in the end the whole object is there, or what was
// there before.
func (c *Client) Upload(ctx context.Context, l Location, r io.ReaderAt, size int64) error {
	return errUnbuilt
}

// Delete removes an object; that it is not there is no error.
func (c *Client) Delete(ctx context.Context, l Location) error { return errUnbuilt }

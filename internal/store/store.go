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
// and a remedy; no credential is in any of them. A request that cannot be, such as listing
// https://, is a *stream.UsageError; a context that ended, its own error.
package store

import (
	"errors"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// ErrChanged is wrapped by errors about an object that is not the version it was.
var ErrChanged = errors.New("the object was replaced since the run began")

// ErrNotExist is wrapped by errors about an object that is not there.
var ErrNotExist = errors.New("there is no such object")

// ErrUnavailable is what errors are that say nothing about an object but that its store
// cannot be reached or does not let us in.
var ErrUnavailable = errors.New("the store cannot be read")

// Options of a Client; the zero value is good.
type Options struct {
	Anonymous bool          // no credentials are looked for, and requests are not signed
	Meter     *stream.Meter // counts bytes fetched, requests and retries; nil counts nothing
}

// Object is one version of one object.
type Object struct {
	Location
	Size    int64
	Version string // ETag or generation; empty where the server tells none

	Modified time.Time // of what List yields; zero where the server does not tell
}

// Package store reads and writes objects of object stores (s3://, gs:// and azblob://), and reads files of web servers
// (https://). Four dialects (s3.go, gs.go, azure.go, https.go) build and sign the requests to each kind of store. The
// rest is common: ranged reads of a fixed version, retries with backoff, listings by pages, uploads that are either
// complete or absent, and counts of requests and bytes.
//
// Requests are plain HTTP. The stores' own SDKs would add 10 to 25 MB each to the binary and 10 MB to its resident
// memory (measured: 14 MB for S3, 10 for Azure; the SDK of GCS also links gRPC, as does gocloud.dev/blob). Therefore
// only the parts that are hard to get right come from the SDKs: finding credentials (aws-sdk-go-v2/config,
// oauth2/google, azidentity) and signing (aws/signer/v4).
//
// Errors are *stream.DataError or, for uploads, *stream.OutputError, with the object's name and a remedy. They do not
// contain credentials. For an impossible request, such as listing https://, the error is a *stream.UsageError. If the
// context has ended, the error is the error of the context.
package store

import (
	"errors"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// ErrChanged is wrapped by the error about an object that no longer has the expected version.
var ErrChanged = errors.New("the object was replaced since the run began")

// ErrNotExist is wrapped by errors about a missing object.
var ErrNotExist = errors.New("there is no such object")

// ErrUnavailable is wrapped by errors that concern a whole store: it cannot be reached, or denies access.
var ErrUnavailable = errors.New("the store cannot be read")

// Options contains the options of a Client. The zero value selects the defaults.
type Options struct {
	Anonymous bool          // do not search for credentials, and do not sign requests
	Meter     *stream.Meter // counts bytes fetched, requests and retries, unless it is nil
}

// Object is one version of one object.
type Object struct {
	Location
	Size    int64
	Version string // ETag or generation; empty if the server sends none

	Modified time.Time // set by List; zero if the server sends no time
}

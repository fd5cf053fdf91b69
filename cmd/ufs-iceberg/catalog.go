package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	_ "github.com/apache/iceberg-go/catalog/glue" // registers itself
	"github.com/apache/iceberg-go/catalog/rest"
	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The variables that hold secrets of REST catalogs, which do not belong on a command line.
const (
	tokenVariable      = "ICEBERG_REST_TOKEN"
	credentialVariable = "ICEBERG_REST_CREDENTIAL"
)

// openTable finds a table's newest metadata and opens them.
func openTable(ctx context.Context, q request) (*table.Table, *lake, error) {
	if q.catalog == hadoopCatalog {
		return openHadoop(ctx, q)
	}
	props := iceberg.Properties{"type": q.catalog, storeProperty: q.store}
	for _, p := range q.properties {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, nil, stream.Usagef("{property} %s: want NAME=VALUE", p)
		}
		props[name] = value
	}
	set := func(name, value string) {
		if value != "" {
			props[name] = value
		}
	}
	set("uri", q.uri)
	set("warehouse", q.warehouse)
	if q.catalog == restCatalog {
		set("token", os.Getenv(tokenVariable))
		set("credential", os.Getenv(credentialVariable))
	} else {
		set("glue.region", cmp.Or(props["glue.region"], os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")))
	}
	at := q.catalog
	if q.uri != "" {
		at = place.Name(q.uri)
	}
	named := strings.Split(q.table, ".")
	var t *table.Table
	var err error
	for try := range len(pauses) + 1 {
		if t, err = load(ctx, props, named); err == nil || !passes(err) || try == len(pauses) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(pauses[try]):
		}
	}
	if err != nil {
		return nil, nil, refusal(at, q, err)
	}
	l := newLake(ctx, storeParameters(props))
	if files, err := t.FS(ctx); err != nil {
		return nil, nil, asData(at, "the files of "+q.table+" cannot be opened", err)
	} else if far, ok := files.(*lake); ok {
		l = newLake(ctx, far.query)
	}
	return table.New(named, t.Metadata(), t.MetadataLocation(), func(context.Context) (icebergio.IO, error) { return l, nil }, nil), l, nil
}

// pauses are before a catalog is asked again that is down or busy.
var pauses = [...]time.Duration{500 * time.Millisecond, 2 * time.Second}

// load asks a catalog for a table.
func load(ctx context.Context, props iceberg.Properties, named table.Identifier) (*table.Table, error) {
	c, err := catalog.Load(ctx, "", props)
	if err != nil {
		return nil, err
	}
	if closer, ok := c.(catalog.Closer); ok {
		defer closer.Close() //nolint:errcheck // of a reporter of metrics that is not used
	}
	return c.LoadTable(ctx, named)
}

// refusal is the error about a catalog that gives no table.
func refusal(at string, q request, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, catalog.ErrNoSuchTable):
		return stream.Dataf(at, "this catalog has no table %s", q.table)
	case errors.Is(err, rest.ErrUnauthorized) || errors.Is(err, rest.ErrForbidden) || errors.Is(err, rest.ErrAuthorizationExpired):
		e := stream.Dataf(at, "this catalog does not let us in: %w", err)
		e.Remedy = stream.Textf("set %s, or %s to CLIENT:SECRET", tokenVariable, credentialVariable)
		return e
	case passes(err):
		e := stream.Dataf(at, "this catalog cannot be asked: %w", passing{err})
		e.Remedy = stream.Textf("try again when it answers")
		return e
	}
	return asData(at, "this catalog does not give the table "+q.table, err)
}

// passes reports whether an error is of a catalog or a network that is down or busy.
func passes(err error) bool {
	var dial *net.OpError
	var name *net.DNSError
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &name):
		return name.IsTemporary || name.IsTimeout
	case errors.Is(err, rest.ErrServiceUnavailable), errors.Is(err, rest.ErrServerError), errors.As(err, &dial), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	return errors.As(err, &slow) && slow.Timeout()
}

// passing marks an error as one that passes.
type passing struct{ error }

func (p passing) Unwrap() error        { return p.error }
func (p passing) Is(target error) bool { return target == stream.ErrTemporary } //nolint:errorlint // errors.Is unwraps by itself

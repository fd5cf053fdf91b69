// Command ufs-iceberg turns an Iceberg table, or a snapshot of it, into a plan file that
// ufs-stream reads: the live data files by the table's manifests, and the condition on rows.
//
//  1. catalog.go, hadoop.go: find the table's newest metadata.
//  2. snapshot.go: find the snapshot, and its schema.
//  3. prune.go: translate the condition into Iceberg's expressions, as far as possible, to leave out
//     partitions and files without a matching row. The whole condition goes into the plan.
//  4. deletes.go: refuse delete files that apply.
//  5. columns.go: refuse files in which columns matched by id (Iceberg) and by name (ufs-stream)
//     differ.
//  6. plan.go: write the plan file.
//
// It is a module of its own because iceberg-go needs arrow-go v18, which cannot be linked with
// the v15 of chunkio. Files are opened by internal/store and not by iceberg-go's own clients
// (lake.go), so that ufs-stream can read every file that can be planned.
package main

import (
	"context"
	"errors"
	"io"
	"net/url"

	icebergio "github.com/apache/iceberg-go/io"

	"github.com/ufs-stream/ufs-stream/internal/program"
)

func main() {
	registerStores()
	program.Main(run)
}

func run(ctx context.Context, args []string, _ io.Reader, out, errw io.Writer) int {
	p := program.Program{Out: program.NewWriter(out, "standard output"), Err: errw}
	p.Root = newCommand(errw)
	return p.Run(ctx, args)
}

// registerStores makes iceberg-go's catalogs open all files by the lake in their context, regardless of their
// settings for stores. The library's registry is global to the process, so call this once.
func registerStores() {
	for _, scheme := range []string{"", "file", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "azblob"} {
		icebergio.Unregister(scheme)
		icebergio.Register(scheme, func(ctx context.Context, _ *url.URL, props map[string]string) (icebergio.IO, error) {
			l, ok := ctx.Value(lakeKey{}).(*lake)
			if !ok {
				return nil, errors.New("nobody said with which parameters files are opened")
			}
			l.catalogParameters = storeParameters(props)
			return l, nil
		})
	}
}

// lakeKey is the context key of a *lake.
type lakeKey struct{}

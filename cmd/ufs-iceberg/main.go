// Command ufs-iceberg turns an Iceberg table, or a snapshot of it, into a plan file for ufs-stream. The plan contains
// the live data files according to the table's manifests, and the condition on rows.
//
//  1. Find the newest metadata of the table (catalog.go, hadoop.go).
//  2. Find the snapshot and its schema (snapshot.go).
//  3. Translate the condition into Iceberg's expressions, as far as possible, to leave out partitions and files
//     without a matching row (prune.go). The plan contains the whole condition.
//  4. Refuse the table if delete files apply to its files (deletes.go).
//  5. Refuse files in which Iceberg, by id, and ufs-stream, by name, would find different columns (columns.go).
//  6. Write the plan file (plan.go).
//
// It is a module of its own because iceberg-go needs arrow-go v18, which cannot be linked together with the v15 of
// chunkio. Files are opened by internal/cloud/store and not by iceberg-go (lake.go), so that ufs-stream can read them too.
package main

import (
	"context"
	"errors"
	"io"
	"net/url"

	icebergio "github.com/apache/iceberg-go/io"

	"github.com/ufs-stream/ufs-stream/internal/app/program"
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

// registerStores makes iceberg-go open all files of a table by the lake in the context, regardless of the catalog's
// settings for stores. The registry of iceberg-go is global to the process, so call this once.
func registerStores() {
	for _, scheme := range []string{"", "file", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "azblob"} {
		icebergio.Unregister(scheme)
		icebergio.Register(scheme, func(ctx context.Context, _ *url.URL, props map[string]string) (icebergio.IO, error) {
			l, ok := ctx.Value(lakeKey{}).(*lake)
			if !ok {
				return nil, errors.New("nobody said with which parameters files are opened")
			}
			l.catalogParameters = parametersForStore(props)
			return l, nil
		})
	}
}

// lakeKey is the context key of a *lake.
type lakeKey struct{}

// Command ufs-iceberg turns an Iceberg table, or a snapshot of it, into a plan file that
// ufs-stream reads: the live data files by the table's manifests, and the condition on rows.
//
//  1. catalog.go, hadoop.go: where the table's newest metadata are.
//  2. snapshot.go: which snapshot is meant, and its schema.
//  3. prune.go: what Iceberg's expressions can say of the condition, so that partitions and
//     files without a matching row are left out. The whole condition goes into the plan.
//  4. deletes.go: delete files that apply are refused.
//  5. columns.go: Iceberg matches columns by id and ufs-stream by name; files in which the two
//     differ are refused.
//  6. plan.go: the plan file.
//
// It is a module of its own because iceberg-go brings arrow-go v18, which cannot be linked with
// the v15 of chunkio. Files are opened by internal/store and not by iceberg-go's own clients
// (lake.go), so that what can be planned here can be read there.
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

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, _ io.Reader, out, errw io.Writer) int {
	p := program.Program{Out: program.NewWriter(out, "standard output"), Err: errw}
	p.Root = newCommand(errw)
	return p.Run(ctx, args)
}

// registerStores makes catalogs of iceberg-go open all files by the lake of their context, whatever
// they say about stores. The registry is the library's and of the whole process: it is called once.
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

// lakeKey is the key of a context's *lake.
type lakeKey struct{}

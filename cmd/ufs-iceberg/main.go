// Command ufs-iceberg turns an Iceberg table, or a snapshot of it, into a plan file for ufs-stream. The plan contains
// the live data files according to the table's manifests, and the condition on rows.
//
//  1. Find the newest metadata of the table (catalog.go, hadoop.go).
//  2. Find the snapshot and its schema (snapshot.go).
//  3. Translate the condition into Iceberg's expressions, as far as possible, to leave out partitions and files
//     without a matching row (prune.go). The plan contains the whole condition.
//  4. Find the rows that delete files delete (deletes.go, vectors.go, equality.go), as the plan has them.
//  5. Describe the table's columns, so that ufs-stream finds them in files by id, or by the table's names for files without
//     ids (columns.go).
//  6. Write the plan file (plan.go).
//
// With {since} the plan has the rows by which two snapshots differ (since.go, changes.go).
//
// It is a module of its own because iceberg-go needs arrow-go v18, which cannot be linked together with the v15 of
// chunkio. Files are opened by internal/cloud/store and not by iceberg-go (lake.go), so that ufs-stream can read them too.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	icebergio "github.com/apache/iceberg-go/io"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/app/condition"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
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

// request holds the values of the arguments and flags.
type request struct {
	table      string // a folder, a metadata file, or namespace.table
	catalog    string // empty for hadoop
	uri        string
	warehouse  string
	store      string // URL parameters to add to the names of objects
	properties []string
	allow      []string // further places that the table's metadata may refer to

	snapshot    int64 // 0 for none
	asOf        timeFlag
	branch, tag string
	since       string // a snapshot's ID, or a plan or statistics file of one
	where       string
	memory      program.Bytes
	output      string
}

// The kinds of catalogs.
const (
	hadoopCatalog = "hadoop"
	restCatalog   = "rest"
	glueCatalog   = "glue"
)

func newCommand(errw io.Writer) *cobra.Command {
	q := request{memory: defaultMemory}
	var quiet bool
	cmd := &cobra.Command{
		Use:   "ufs-iceberg TABLE -o t.plan.json",
		Short: "Turn an Iceberg table into a plan file for ufs-stream",
		Long: `Turn an Iceberg table, or a snapshot of it, into a plan file for ufs-stream: its live data
files, and the condition on rows. TABLE is the table's folder or URL, a metadata file of it,
or namespace.table in a REST or Glue catalog. With --where, partitions and files without a
matching row are left out, and ufs-stream applies the whole condition to the rows of the others.

  ufs-iceberg /lake/events -o t.plan.json
  ufs-iceberg s3://bucket/events --as-of 2026-01-31 --where "day >= '2026-01-01'" -o t.plan.json
  ufs-iceberg sales.events --catalog rest --uri http://localhost:8181 -o t.plan.json

  ufs-stream select --plan t.plan.json -k 50
  ufs-stream plan --plan t.plan.json -o job.plan.json     (freezes it for many machines)

With --since, the plan has only the rows that the table has gained and lost since a snapshot, or since
the one that a plan or statistics file is of:

  ufs-iceberg /lake/events --since total.ufs -o day.plan.json
  ufs-stream scan --plan day.plan.json -o day.ufs
  ufs-stream merge total.ufs day.ufs -o new.ufs

Rows that delete files and deletion vectors delete are not in the plan, and columns are those of the
table's schema, by field id. Refused by name are data and delete files that are not Parquet or are encrypted,
and what the metadata name outside of the table's own folder or bucket, unless --allow covers it.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return stream.Usagef("one TABLE, and %d arguments are given; %s", len(args), program.UsageLine(cmd))
			}
			q.table = args[0]
			if err := q.validate(cmd.Flags().Changed("snapshot")); err != nil {
				return err
			}
			done, err := writePlan(cmd.Context(), q)
			if err != nil {
				return err
			}
			if !quiet {
				fmt.Fprintf(errw, "%s: %s\n", place.DisplayName(q.output), done)
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&q.catalog, "catalog", hadoopCatalog, "where the newest metadata are known: `hadoop` (the table's folder), rest or glue")
	fs.StringVar(&q.uri, "uri", "", "of the REST catalog, `URL`")
	fs.StringVar(&q.warehouse, "warehouse", "", "folder of namespaces (hadoop), or the catalog's `NAME` for a warehouse")
	fs.StringVar(&q.store, "store", "", "parameters of object URLs in a catalog's metadata, `endpoint=URL&region=R&use_path_style=true`")
	fs.StringArrayVar(&q.properties, "property", nil, "a property of the catalog, `NAME=VALUE`; may be repeated")
	fs.StringArrayVar(&q.allow, "allow", nil, "the table's metadata may also name files below `PREFIX`, a folder or a URL with its parameters; may be repeated (default: its own folder or bucket)")
	fs.Int64Var(&q.snapshot, "snapshot", 0, "the snapshot of this `ID`")
	fs.Var(&q.asOf, "as-of", "the table as it was at `TIME`, as 2026-01-31 or 2026-01-31T08:00:00Z (UTC)")
	fs.StringVar(&q.branch, "branch", "", "the head of the branch `NAME`")
	fs.StringVar(&q.tag, "tag", "", "the snapshot with the tag `NAME`")
	fs.StringVar(&q.since, "since", "", "only the changes since a `SNAPSHOT`, or since the snapshot of a plan or of a statistics file: rows gained, and rows lost")
	fs.StringVar(&q.where, "where", "", "only rows for which the condition `EXPR` is true, as in ufs-stream")
	fs.Var(&q.memory, stream.MemoryLimit, "memory for what delete files delete, as 512MiB or 4GB")
	fs.StringVarP(&q.output, "output", "o", "", "the plan `FILE`, or an object; it ends in .plan.json")
	fs.BoolVarP(&quiet, "quiet", "q", false, "nothing on standard error but errors")
	return cmd
}

func (q *request) validate(snapshotGiven bool) error {
	var faults stream.Faults
	if !strings.HasSuffix(q.output, planfile.Ending) {
		faults.Addf("{o} names the plan file, which ends in %s", planfile.Ending)
	}
	var selectors []string
	for name, given := range map[string]bool{"snapshot": snapshotGiven, "as-of": !time.Time(q.asOf).IsZero(), "branch": q.branch != "", "tag": q.tag != ""} {
		if given {
			selectors = append(selectors, name)
		}
	}
	if _, err := place.NewScope("", nil, q.allow); err != nil {
		faults.Addf("%v", err)
	}
	if len(selectors) > 1 {
		faults.Addf("of {snapshot}, {as-of}, {branch} and {tag} only one can say which snapshot is meant")
	}
	if snapshotGiven && q.snapshot <= 0 {
		faults.Addf("{snapshot} %d is no ID of a snapshot", q.snapshot)
	}
	switch q.catalog {
	case hadoopCatalog:
		if q.uri != "" {
			faults.Addf("{uri} is of a REST catalog: add {catalog} rest")
		}
		if q.store != "" {
			faults.Addf("{store} is for tables of catalogs: with a table's URL the parameters stand behind its ?")
		}
	case restCatalog:
		if q.uri == "" {
			faults.Addf("{catalog} rest needs {uri}, the catalog's address")
		}
		fallthrough
	case glueCatalog:
		if strings.ContainsAny(q.table, "/\\") || !strings.Contains(q.table, ".") {
			faults.Addf("{catalog} %s knows a table as namespace.table, not as %s", q.catalog, place.DisplayName(q.table))
		}
	default:
		faults.Addf("{catalog} %s: it is hadoop, rest or glue", q.catalog)
	}
	return faults.Err("")
}

// timeFlag is a flag whose value is a time.
type timeFlag time.Time

// String implements pflag.Value.
func (m *timeFlag) String() string {
	if time.Time(*m).IsZero() {
		return ""
	}
	return time.Time(*m).Format(time.RFC3339Nano)
}

// Set implements pflag.Value.
func (m *timeFlag) Set(s string) error {
	at, ok := condition.ParseUTC(s)
	if !ok {
		return stream.Usagef("want a time such as 2026-01-31 or 2026-01-31T08:00:00Z")
	}
	*m = timeFlag(at)
	return nil
}

// Type implements pflag.Value.
func (m *timeFlag) Type() string { return "time" }

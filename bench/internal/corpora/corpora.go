package corpora

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdb"
	"github.com/ufs-stream/ufs-stream/stream"
)

type flags struct {
	folders         []string
	binary, module  string
	results, expect string
	giveUp          time.Duration
	progress        io.Writer
	command         string // the command line, for the results
}

// New returns the command corpora.
func New(c *cli.Shared) *cobra.Command {
	o := &flags{}
	cmd := &cobra.Command{
		Use:   "corpora FOLDER…",
		Short: "Read what other projects test their readers with, and compare with DuckDB",
		Long: `Walks the folders, each a suite, and has ufs-stream read every file that it can be asked to
read: all features by inspect --scan, all columns by convert, each in a process of its own with
a deadline. Of Parquet files that are read every leaf is compared with DuckDB's reading, value by
value, and the copy with the file; of those that are refused it says whether DuckDB reads them.
Of other formats, which DuckDB does not read, the leaves are compared with its reading of the copy.

The exit code is 1 where ufs-stream has failed in another way than by a refusal that names the
fault, where it has hung, and where a value differs. DuckDB is an npm package:

  npm ci --prefix bench/_duckdb
  ufs-stream-bench corpora ~/parquet-testing ~/arrow-testing
  ufs-stream-bench corpora testdata/corpora/* --expect testdata/corpora/expected.jsonl`,
		Args: program.AtLeastOne("FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.progress, o.command, o.folders = c.RemarksWriter(), c.CommandLine(), args
			return o.runCorpora(cmd.Context(), c.Out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.binary, "binary", "", "run this `FILE` (default: build ufs-stream, or else the installed one)")
	f.StringVar(&o.module, "duckdb", filepath.Join("bench", "_duckdb", "node_modules", filepath.FromSlash(duckdb.Package)), "folder `DIR` of the npm package "+duckdb.Package)
	f.DurationVar(&o.giveUp, "give-up", time.Minute, "a run that takes longer hangs")
	f.StringVar(&o.results, "results", "bench-results", "folder `DIR` of the results, corpora.md and corpora.csv; the project's own are in bench/results")
	f.StringVar(&o.expect, "expect", "", "also write what these files are to be read as ever after to `FILE`, for the project's tests")
	return cmd
}

// run holds the state of a run of the verb over all suites. A suite is a folder of files.
type run struct {
	*flags
	shop     *workshop.Workshop
	duckDB   *duckReader
	findings []finding
}

type finding struct {
	file
	reading, copying attempt
	read             *reading   // nil if ufs-stream could not read the file
	comparison       comparison // comparison of the leaves; for formats other than Parquet DuckDB reads the copy
	copyComparison   comparison // comparison of the copy, if the file is Parquet
	askedDuckDB      bool       // DuckDB has read the file itself, because it is Parquet
}

func (o *flags) runCorpora(ctx context.Context, out io.Writer) error {
	if o.giveUp <= 0 {
		return stream.Usagef("corpora: --give-up %s: want a time above 0", o.giveUp)
	}
	module, err := filepath.Abs(o.module)
	if err != nil {
		return err
	}
	if _, err := os.Stat(module); err != nil {
		return stream.Usagef("corpora: --duckdb %s is not there; install it: npm ci --prefix %s", o.module, filepath.Join("bench", "_duckdb"))
	}
	var files []file
	suites := make(map[string]string)
	for _, folder := range o.folders {
		found, err := listFiles(folder)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return stream.Usagef("corpora: %s has no file that ufs-stream could be asked to read", folder)
		}
		if twice, ok := suites[found[0].suite]; ok {
			return stream.Usagef("corpora: %s and %s are suites of one name", twice, folder)
		}
		suites[found[0].suite] = folder
		files = append(files, found...)
	}
	r := &run{flags: o, duckDB: &duckReader{module: module, giveUp: o.giveUp}}
	defer r.duckDB.endSession()
	if r.shop, err = workshop.New(ctx, o.binary); err != nil {
		return err
	}
	defer r.shop.Close()
	for i, f := range files {
		found, err := r.examineFile(ctx, f)
		if err != nil {
			return err
		}
		r.findings = append(r.findings, found)
		if i%100 == 99 {
			r.printRemark("%d of %d files", i+1, len(files))
		}
	}
	if err := r.writeResults(ctx, out); err != nil {
		return err
	}
	return r.errIfAnyFailed()
}

func (r *run) examineFile(ctx context.Context, f file) (found finding, err error) {
	found.file = f
	copied := r.shop.Path("copy.parquet")
	if found.reading, found.copying, err = r.tryFile(ctx, f, copied); err != nil {
		return found, err
	}
	if found.askedDuckDB, err = isParquet(f.path); err != nil {
		return found, err
	}
	if found.reading.outcome == wasRead {
		if found.read, err = readFile(ctx, f.path); err != nil {
			if ctx.Err() != nil {
				return found, ctx.Err()
			}
			found.reading = attempt{failed, 0, "inspect reads it, and the library does not: " + err.Error()}
		}
	}
	if why := reasonToDistrust(f.name); why != "" {
		found.comparison.notComparable = append(found.comparison.notComparable, why)
		return found, nil
	}
	isCopied := found.copying.outcome == wasRead
	switch {
	case found.askedDuckDB && found.read != nil:
		found.comparison, err = r.duckDB.compareLeaves(ctx, f.path, f.path, found.read)
	case found.askedDuckDB:
		err = found.comparison.recordRefusal(r.duckDB.readAllValues(ctx, f.path))
	case found.read != nil && isCopied:
		found.comparison, err = r.duckDB.compareLeaves(ctx, f.path, copied, found.read)
	}
	if err == nil && found.askedDuckDB && isCopied {
		found.copyComparison, err = r.duckDB.compareCopy(ctx, f.path, copied)
	}
	return found, err
}

// reasonToDistrust explains why DuckDB reads the file with this name wrongly, without an error. It returns "" if no
// such fault of DuckDB is known.
func reasonToDistrust(name string) string {
	if path.Base(name) == "ARROW-17100.parquet" {
		return "its pages say that they are not compressed, and are: DuckDB takes the compressed bytes for values (row 0 of col1 is 20, not 1)"
	}
	return ""
}

func (f *finding) listDifferences() []string {
	return append(f.comparison.differences, f.copyComparison.differences...)
}

func (f *finding) worstOutcome() outcome {
	for _, worst := range []outcome{hung, failed} {
		if f.reading.outcome == worst || f.copying.outcome == worst {
			return worst
		}
	}
	return f.reading.outcome
}

func (f *finding) listFailures() (list []string) {
	for verb, a := range map[string]attempt{"inspect": f.reading, "convert": f.copying} {
		if a.outcome == failed || a.outcome == hung {
			list = append(list, fmt.Sprintf("%s: %s: %s", verb, a.outcome, a.message))
		}
	}
	slices.Sort(list)
	return list
}

func (r *run) errIfAnyFailed() error {
	counts := make(map[outcome]int)
	differences := 0
	for i := range r.findings {
		counts[r.findings[i].worstOutcome()]++
		differences += len(r.findings[i].listDifferences())
	}
	if counts[failed]+counts[hung]+differences == 0 {
		return nil
	}
	return fmt.Errorf("corpora: %d files with errors, %d with hangs, %d differences with DuckDB; %s lists them",
		counts[failed], counts[hung], differences, filepath.Join(r.results, "corpora.md"))
}

func (o *flags) printRemark(format string, args ...any) {
	fmt.Fprintf(o.progress, "corpora: "+format+"\n", args...)
}

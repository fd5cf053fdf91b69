package gen

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// New returns the command gen, with a subcommand for each kind of table.
func New(c *cli.Shared) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gen KIND",
		Short: "Make a table of a known kind as Parquet, as a stream",
		Long: `Make a table of a known kind as Parquet. Every value is a hash of seed, column and row:
any number of rows is made in the same memory, and the bytes do not depend on --threads.
What grows with a file is its footer; --files bounds it.`,
	}
	program.MakeGroup(cmd, "kind of table")
	cmd.AddCommand(plantedCommand(c), gridCommand(c), sparseCommand(c), emnistCommand(c))
	return cmd
}

// options are the flags that all kinds of tables except emnist have.
type options struct {
	path    string
	rows    int64
	seed    uint64
	typ     string
	files   int
	group   int // number of rows of a row group; 0 means the number that groupRows returns
	nulls   float64
	threads int
	answer  string
}

func (o *options) addFlags(fs *pflag.FlagSet, types ...string) {
	fs.StringVarP(&o.path, "output", "o", "", "write `PATH`: a Parquet file, or with --files a new folder")
	fs.Int64Var(&o.rows, "rows", 10000, "rows")
	fs.Uint64Var(&o.seed, "seed", 1, "seed, from 1 on")
	fs.StringVar(&o.typ, "type", types[0], "type of the values: "+strings.Join(types, ", "))
	fs.IntVar(&o.files, "files", 0, "split the rows, numbered through, into `N` files in a folder")
	fs.IntVar(&o.group, "group-rows", 0, "`N` rows in a row group (default: as many as are read well)")
	fs.IntVar(&o.threads, "threads", 0, "threads (default: all)")
	fs.StringVar(&o.answer, "answer", "", "write what is known about the columns as JSON to `FILE` (default: PATH with the ending .json)")
}

func (o *options) addNullsFlag(fs *pflag.FlagSet) {
	fs.Float64Var(&o.nulls, "nulls", 0, "share of the values to leave out")
}

func (o *options) checkFlags(types ...string) error {
	switch end := filepath.Ext(o.path); {
	case place.IsURL(o.path) || place.IsURL(o.answer):
		return stream.Usagef("gen writes local files; copy them to the store")
	case o.path == "" || o.path == "-":
		return stream.Usagef("-o is missing: name the Parquet file to make")
	case o.files == 0 && end != "" && end != ".parquet":
		return stream.Usagef("-o %s: gen writes Parquet; want the ending .parquet", o.path)
	case o.rows < 1:
		return stream.Usagef("--rows %d: want at least one row", o.rows)
	case o.seed == 0:
		return stream.Usagef("--seed 0: want a number from 1 on")
	case !slices.Contains(types, o.typ):
		return stream.Usagef("--type %s: want %s", o.typ, strings.Join(types, ", "))
	case o.files < 0 || int64(o.files) > o.rows:
		return stream.Usagef("--files %d: want between 1 and the number of rows", o.files)
	case o.group < 0:
		return stream.Usagef("--group-rows %d: want a number from 1 on", o.group)
	case !(o.nulls >= 0 && o.nulls < 1):
		return stream.Usagef("--nulls %v: want a share from 0 to below 1", o.nulls)
	case o.threads < 0:
		return stream.Usagef("--threads %d: want a number from 1 on, or 0 for all", o.threads)
	}
	if o.answer == "" {
		o.answer = strings.TrimSuffix(filepath.Clean(o.path), ".parquet") + ".json"
	}
	if filepath.Clean(o.answer) == filepath.Clean(o.path) {
		return stream.Usagef("--answer %s is the same file as -o", o.answer)
	}
	return nil
}

func (o options) rowsPerFile() int64 { return (o.rows-1)/int64(max(o.files, 1)) + 1 }

func generateTable(ctx context.Context, c *cli.Shared, o options, src stream.Source, w chunkio.WriteOptions, answer any) error {
	answerFile, err := atomicfile.Create(ctx, o.answer)
	if err != nil {
		return err
	}
	defer answerFile.Close()
	enc := json.NewEncoder(answerFile)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answer); err != nil {
		return err
	}
	parts := []outputPart{{source: src}}
	if o.files > 0 {
		parts = nil
		digits := len(fmt.Sprint(o.files - 1))
		for i := range int64(o.files) {
			n := int64(o.files)
			parts = append(parts, outputPart{
				fmt.Sprintf("part-%0*d.parquet", digits, i),
				planted.Part{Source: src, Range: stream.Range{From: o.rows/n*i + min(i, o.rows%n), To: o.rows/n*(i+1) + min(i+1, o.rows%n)}},
			})
		}
	}
	w.Threads = o.threads
	switch {
	case o.group > 0:
		w.RowGroupRows = o.group
	case w.Sparse:
		w.RowGroupRows = listRows
	case w.List != "":
		w.RowGroupRows = min(rowsPerGroup(len(src.Columns()), 1), listRows)
	default:
		w.RowGroupRows = rowsPerGroup(len(src.Columns()), o.rowsPerFile())
	}
	if err := checkFooterSize(o, len(src.Columns()), w); err != nil {
		return err
	}
	if err := writeParts(ctx, c, o.path, len(src.Columns()), parts, w); err != nil {
		return err
	}
	return answerFile.Commit()
}

// listRows is the number of rows in a row group of lists. Package chunkio documents that taller row groups cost more.
const listRows = 512

// maxColumnChunks is the largest number of column chunks in one file, which determines the size of the footer. The
// writer keeps the footer in memory and reads it back at the end. A column chunk needs 1.6 KB of memory (measured at
// 10,000 columns), so the largest footer needs 0.8 GB.
const maxColumnChunks = 500000

func checkFooterSize(o options, features int, w chunkio.WriteOptions) error {
	switch {
	case w.Sparse:
		features = 2
	case w.List != "":
		features = 1
	}
	groups := (o.rowsPerFile()-1)/int64(w.RowGroupRows) + 1
	if o.group > 0 || groups*int64(features) <= maxColumnChunks { // with --group-rows the user accepts a larger footer
		return nil
	}
	most := max(maxColumnChunks/int64(features), 1) * int64(w.RowGroupRows)
	return stream.Usagef("the footer of a file of %s rows x %s columns would not stay in memory; split it: --files %d",
		humanize.Comma(o.rowsPerFile()), humanize.Comma(int64(features)), (o.rows-1)/most+1)
}

// outputPart is one file to write. If it has a name, it is written in a folder, otherwise it is the output itself.
type outputPart struct {
	name   string
	source stream.Source
}

func writeParts(ctx context.Context, c *cli.Shared, path string, features int, parts []outputPart, w chunkio.WriteOptions) error {
	total := int64(0)
	for _, p := range parts {
		total += p.source.Rows()
	}
	begin := time.Now()
	err := withProgress(c, total, func(count func(stream.Source) stream.Source) error {
		if parts[0].name == "" {
			return chunkio.WriteParquet(ctx, path, count(parts[0].source), w)
		}
		dir, err := atomicfile.CreateDir(ctx, path)
		if err != nil {
			return err
		}
		defer func() { _ = dir.Abort(ctx) }() // the folder is local, so Abort leaves no files
		for _, p := range parts {
			if err := chunkio.WriteParquet(ctx, filepath.Join(dir.Path(), p.name), count(p.source), w); err != nil {
				return err
			}
		}
		return dir.Commit(ctx)
	})
	if err != nil {
		return err
	}
	size, err := sumFileSizes(path)
	if err != nil {
		return err
	}
	if c.Quiet {
		return nil
	}
	s := time.Since(begin).Seconds()
	fmt.Fprintf(c.Err, "made %s: %s rows x %s features, %s in %.1f s: %s rows/s, %s/s\n", path,
		humanize.Comma(total), humanize.Comma(int64(features)), humanize.IBytes(uint64(size)), s,
		humanize.Comma(int64(float64(total)/s)), humanize.IBytes(uint64(float64(size)/s)))
	return nil
}

func sumFileSizes(path string) (size int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, &stream.OutputError{Path: path, Err: err}
	}
	return size, nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func newDemo(c *cli) *cobra.Command {
	var o requestFlags
	var keep string
	var telemetry bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Make a small dataset with known answer and select from it",
		Long: `Make a Parquet file whose columns repeat a few hidden factors, with mixtures, noise and
constants. Then select as many features as there are factors, and report how well that went: a
right selection has one column of every factor. If it is not right, the exit code is 1.
With --telemetry it makes a small data lake and selects nothing: readings of sensors in folders
site=…/day=…, with ids, a time, constants, nulls, a copy, and a score that gives the label away.
docs/first-hour.md continues from there.`,
		Args: program.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := o.buildRequest(c, cmd, nil, "")
			if err != nil {
				return err
			}
			if telemetry {
				return makeTelemetryLake(cmd.Context(), c, planted.Telemetry{Seed: q.Choice.Seed}, keep)
			}
			return runDemo(cmd.Context(), c, q, keep)
		},
	}
	o.addOptions(cmd.Flags(), request.PartLimits)
	cmd.Flags().StringVar(&keep, "keep", "", "keep the data in `DIR` (default: a temporary folder, removed in the end)")
	cmd.Flags().BoolVar(&telemetry, "telemetry", false, "make a lake of sensor readings in the folder of --keep, and select nothing")
	return cmd
}

func runDemo(ctx context.Context, c *cli, q ufs.Request, keep string) error {
	dir := keep
	if place.IsURL(dir) {
		return stream.Usagef("--keep %s: want a local folder", place.DisplayName(dir))
	}
	if dir == "" {
		temp, err := os.MkdirTemp("", "ufs-stream-demo-")
		if err != nil {
			return &stream.OutputError{Path: os.TempDir(), Err: err, Remedy: stream.Textf("set TMPDIR to a folder you may write to")}
		}
		defer os.RemoveAll(temp)
		dir = temp
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return &stream.OutputError{Path: dir, Err: err, Remedy: stream.Textf("choose another --keep folder")}
	}
	table := planted.New(planted.Options{Seed: max(q.Choice.Seed, 1)})
	answer := table.Answer()
	path := filepath.Join(dir, "planted.parquet")
	if err := chunkio.WriteParquet(ctx, path, table, chunkio.WriteOptions{RowGroupRows: 4096}); err != nil {
		return err
	}
	k := len(answer.Groups)
	p := screen.NewPage(c.out)
	p.Printf("made %s: %s rows, %s: %s hidden by redundant columns, %s, %s of noise, %s\n\n",
		path, humanize.Comma(table.Rows()), print.CountNoun(len(table.Columns()), "column"), print.CountNoun(k, "factor"),
		print.CountNoun(len(answer.Mixtures), "mixture"), print.CountNoun(len(answer.Noise), "column"), print.CountNoun(len(answer.Constant), "constant"))
	p.Printf("$ ufs-stream select %s -k %d --seed %d\n\n", path, k, max(q.Choice.Seed, 1))

	q.Input.Paths, q.Choice.K = []string{path}, k
	s, err := ufs.Select(ctx, q)
	if err != nil {
		return err
	}
	c.reportRun(s.Passes, s.Timing, s.Memory, s.Warnings)
	if err := print.WriteSelection(c.out, s, print.Options{Format: "table", Verbose: c.verbose}); err != nil {
		return err
	}
	return judgeDemo(c.out, table, answer, s)
}

func judgeDemo(w io.Writer, table *planted.Table, answer planted.Answer, s *stream.Selection) error {
	at := make(map[string]int)
	for j, col := range table.Columns() {
		at[col.Name] = j
	}
	p := screen.NewPage(w)
	chosen := convert.Each(s.Selected, func(f stream.Selected) int { return at[f.Name] })
	p.Printf("\n")
	for i, group := range answer.Groups {
		var found, names []string
		for _, j := range group {
			names = append(names, table.Columns()[j].Name)
			for _, f := range s.Selected {
				if at[f.Name] == j {
					found = append(found, f.Name)
				}
			}
		}
		outcome := "not found"
		if len(found) > 0 {
			outcome = "found by " + strings.Join(found, ", ")
		}
		p.Printf("factor %d (%s): %s\n", i+1, strings.Join(names, " "), outcome)
	}
	found := answer.CoveredGroups(chosen)
	p.Printf("\n%d of %d factors found by %s\n", found, len(answer.Groups), print.CountNoun(len(chosen), "feature"))
	if found < len(answer.Groups) {
		return fmt.Errorf("the demo's selection is wrong: %d of %d factors found", found, len(answer.Groups))
	}
	p.Printf("the selection is right\n")
	return p.Err()
}

func makeTelemetryLake(ctx context.Context, c *cli, made planted.Telemetry, dir string) error {
	switch {
	case dir == "":
		return stream.Usagef("--telemetry makes data to look at; say where with --keep DIR")
	case place.IsURL(dir):
		return stream.Usagef("--keep %s: want a local folder", place.DisplayName(dir))
	}
	err := os.MkdirAll(dir, 0o700)
	var root *os.Root // unlike a path, a root does not follow symbolic links that others may have put in place of the folders
	if err == nil {
		root, err = os.OpenRoot(dir)
	}
	if err != nil {
		return &stream.OutputError{Path: dir, Err: err, Remedy: stream.Textf("choose another --keep folder")}
	}
	defer root.Close()
	columns := 0
	for i, folder := range made.Folders() {
		var table []chunkio.TableColumn
		rows := 0
		for _, column := range made.MakeFile(i) {
			if ids, ok := column.Values.([]int64); ok {
				rows = len(ids)
			}
			table = append(table, chunkio.TableColumn{Name: column.Name, Values: column.Values})
		}
		columns = len(table)
		if err := writeLakeFile(ctx, c, root, filepath.FromSlash(folder), rows, table); err != nil {
			return err
		}
	}
	return c.printResult("made %s: %s of %s in folders site=…/day=…; %s are hidden among them\n", dir,
		print.CountNoun(len(made.Folders()), "file"), print.CountNoun(columns, "column"), print.CountNoun(len(made.Factors()), "factor"))
}

func writeLakeFile(ctx context.Context, c *cli, lake *os.Root, folder string, rows int, table []chunkio.TableColumn) error {
	err := lake.MkdirAll(folder, 0o700)
	var in *os.Root
	if err == nil {
		in, err = lake.OpenRoot(folder)
	}
	if err != nil {
		return &stream.OutputError{Path: filepath.Join(lake.Name(), folder), Err: err, Remedy: stream.Textf("choose another --keep folder")}
	}
	defer in.Close()
	const name = "part-0.parquet"
	shown := filepath.Join(lake.Name(), folder, name)
	reportReplaced := c.replacementReport(shown)
	f, err := atomicfile.CreateIn(ctx, in, name, shown)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := chunkio.WriteTable(f, rows, table...); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	reportReplaced()
	return nil
}

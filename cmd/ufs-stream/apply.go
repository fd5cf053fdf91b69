package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

type applyOptions struct {
	limits    limitFlags
	selection string
	also      []string
	out       string
	sparse    string
}

func newApply(c *cli) *cobra.Command {
	var o applyOptions
	cmd := &cobra.Command{
		Use:   "apply INPUT… --selection SEL.json -o OUT",
		Short: "Write the dataset reduced to the selected columns",
		Long: `Write the selected columns of the input, in the order of their ranks, and the --also
columns behind them, as Parquet with zstd. Types and values stay as they are. Where the
input is a directory, OUT is one too and keeps its file layout; it appears whole or not
at all.

  ufs-stream apply data --selection sel.json --also id,class -o small`,
		Args: atLeastOne("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.apply(cmd.Context(), args, o) },
	}
	fs := cmd.Flags()
	o.limits.add(fs)
	fs.StringVar(&o.selection, "selection", "", "the selection, `SEL.json`, as select --format json writes it")
	fs.StringSliceVar(&o.also, "also", nil, "further columns `COL,…` to keep, of any type")
	fs.StringVarP(&o.out, "output", "o", "", "the file or folder to write, `OUT`")
	fs.StringVar(&o.sparse, "sparse", "", "sparse rows, as in select; written dense (default: as the selection records)")
	return cmd
}

func (c *cli) apply(ctx context.Context, args []string, o applyOptions) error {
	switch {
	case o.selection == "":
		return stream.Usagef("apply: no selection given; add --selection SEL.json (made by: ufs-stream select … -o SEL.json)")
	case o.out == "":
		return stream.Usagef("apply: no output given; add -o OUT")
	}
	switch end := filepath.Ext(o.out); end {
	case ".csv", ".tsv", ".json", ".txt", ".arrow", ".feather", ".ipc", ".ufs":
		return stream.Usagef("apply: -o %s: OUT is Parquet; name it %s.parquet", o.out, strings.TrimSuffix(o.out, end))
	}
	restore, err := o.limits.apply()
	if err != nil {
		return err
	}
	defer restore()
	s, err := readSelection(o.selection)
	if err != nil {
		return err
	}
	if recorded, ok := s.Options["sparse"].(string); ok && o.sparse == "" {
		o.sparse = recorded
	}
	columns := make([]string, len(s.Selected))
	for i, f := range s.Selected {
		columns[i] = f.Name
	}
	meter := new(stream.Meter)
	var report chunkio.ApplyReport
	err = c.track(passInfo{What: "apply", Pass: 1, Passes: 1, Rows: s.Rows}, meter, func(func(passInfo)) (err error) {
		report, err = chunkio.Apply(ctx, args, o.out, chunkio.ApplyOptions{
			Columns: columns, Also: o.also, Sparse: o.sparse, Threads: o.limits.threads,
			Memory: max(int64(o.limits.memory)-programBytes, 1), Meter: meter,
		})
		return err
	})
	if err != nil {
		return o.limits.whole(err)
	}
	_, err = fmt.Fprintf(c.out, "%s: %s, %s rows, %s, %s\n", o.out, plural(report.Files, "file"), humanize.Comma(report.Rows),
		plural(len(report.Columns), "column"), humanize.IBytes(uint64(report.Bytes)))
	return err
}

// readSelection reads a Selection from a JSON file.
func readSelection(path string) (*stream.Selection, error) {
	f, err := os.Open(path)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // the path is named already
		}
		return nil, &stream.DataError{Path: path, RowGroup: -1, Row: -1, Err: err, Remedy: stream.Textf("check the path of --selection")}
	}
	defer f.Close()
	s, err := stream.DecodeSelection(f)
	if err != nil {
		return nil, &stream.DataError{Path: path, RowGroup: -1, Row: -1, Err: fmt.Errorf("not a selection: %w", err), Remedy: stream.Textf("make one with: ufs-stream select … --format json")}
	}
	if len(s.Selected) == 0 {
		return nil, stream.Dataf(path, "the selection has no features")
	}
	return s, nil
}

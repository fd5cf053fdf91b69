package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

type diffFlags struct {
	requestFlags
	output outputFlags
}

func newDiff(c *cli) *cobra.Command {
	var o diffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD.json NEW.json",
		Short: "Show what changed from one selection to another",
		Long: `Compare an old selection with a new one. diff lists the features that came or went and why (gone
from the data, left out, replaced by another one), and those whose rank moved. It also lists changes
of the data and of the settings. Both selections may lie in object stores.

  ufs-stream diff yesterday.json today.json
  ufs-stream diff yesterday.json today.json --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return stream.Usagef("diff: %d selections given; want two: diff OLD.json NEW.json", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.runDiff(cmd.Context(), args, &o) },
	}
	o.addStoreFlags(cmd.Flags())
	o.addMemoryFlag(cmd.Flags())
	o.output.addFlags(cmd.Flags(), verdictFormats()...)
	return cmd
}

func verdictFormats() []string { return []string{"table", "json"} }

func (c *cli) runDiff(ctx context.Context, args []string, o *diffFlags) error {
	if err := o.output.resolveFormat(ctx, verdictFormats()...); err != nil {
		return err
	}
	if err := atomicfile.CheckNotInput(ctx, o.output.path, args...); err != nil {
		return err
	}
	limitMemory(c, int64(o.memory))
	from := chunkio.FetchOptions{Anonymous: o.req.Input.Anonymous, Meter: new(stream.Meter), Memory: int64(o.memory)}
	sides, err := ufs.ReadSelections(ctx, args, from)
	if err != nil {
		return err
	}
	c.printTransferIfVerbose(from.Meter.Transfer())
	d := ufs.Diff(sides[0], sides[1])
	return c.writeOutput(ctx, o.output.path, func(w io.Writer) error {
		if o.output.format == "json" {
			return writeJSON(w, d)
		}
		return renderPage(w, func(w *screen.Page) { c.printDiff(w, d) })
	})
}

func (c *cli) printDiff(w *screen.Page, d *ufs.Difference) {
	side := func(s ufs.Side) string {
		return fmt.Sprintf("%s, %d of %s features, %s rows, %s explained", s.Method, s.K, humanize.Comma(int64(s.Features)), humanize.Comma(s.RowsUsed), percentText(1-float64(s.Error)))
	}
	w.Printf("old: %s\nnew: %s\n\n%s in both, %d came, %d went\n", side(d.Old), side(d.New), countNoun(d.Both, "feature"), len(d.Came), len(d.Went))
	printDataChanges(w, d.Data)
	changes := func(list []ufs.Change) (rows [][]string) {
		for _, f := range list {
			rows = append(rows, []string{strconv.Itoa(f.Rank), screen.QuoteName(f.Name), f.Why})
		}
		return rows
	}
	var moved, settings [][]string
	for _, m := range d.Moved {
		moved = append(moved, []string{screen.QuoteName(m.Name), strconv.Itoa(m.Old), strconv.Itoa(m.New)})
	}
	for _, s := range d.Settings {
		settings = append(settings, []string{s.Option, dashIfEmpty(truncateText(s.Old)), dashIfEmpty(truncateText(s.New))})
	}
	for _, part := range []struct {
		head []string
		rows [][]string
	}{
		{[]string{">rank", "came", "why"}, changes(d.Came)},
		{[]string{">rank", "went", "why"}, changes(d.Went)},
		{[]string{"moved", ">old rank", ">new rank"}, moved},
		{[]string{"setting", "old", "new"}, settings},
	} {
		if len(part.rows) == 0 {
			continue
		}
		w.Printf("\n")
		w.Table(part.head, part.rows)
	}
}

func printDataChanges(w *screen.Page, d ufs.DataShift) {
	var changes []string
	addCount := func(n int64, what string) {
		if n > 0 {
			changes = append(changes, humanize.Comma(n)+" more "+what)
		} else if n < 0 {
			changes = append(changes, humanize.Comma(-n)+" fewer "+what)
		}
	}
	addCount(d.Rows, "rows")
	addCount(int64(d.Features), "features")
	addNames := func(names []string, what string) {
		if n := len(names); n > 0 {
			changes = append(changes, what+" "+strings.Join(screen.QuoteNames(names[:min(n, maxNamesInLine)]), ", ")+andMoreText(n-maxNamesInLine))
		}
	}
	addNames(d.New, "new")
	addNames(d.Gone, "gone")
	if changes != nil {
		w.Printf("the data: %s\n", strings.Join(changes, "; "))
	}
}

func dashIfEmpty(value string) string {
	if value == "" {
		return "-"
	}
	return value
}

func truncateText(text string) string {
	const most = 80
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/recipe"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func newApply(c *cli) *cobra.Command {
	var o requestFlags
	var a ufs.ApplyRequest
	var selection string
	var h recipeFlags
	cmd := &cobra.Command{
		Use:   "apply INPUT… --selection SEL.json -o OUT",
		Short: "Write the dataset reduced to the selected columns",
		Long: `Write the selected columns of the input as Parquet with zstd, in the order of their ranks, then
the --also columns. Types and values stay as they are. OUT.arrow is an Arrow IPC file, and OUT.csv
(also .csv.gz, .csv.zst) is CSV. --format chooses the format of the files of a folder.
In CSV an empty field is null; it is quoted if the column is the only one. Texts stay unchanged:
a spreadsheet takes a text that begins with = for a formula, unless you import the column as text.
If the input is a directory, OUT is a directory too and keeps its file layout. If OUT has the ending
of a file, as in OUT.parquet, it is one file of all rows, with the partition keys as columns. Files
that are named one by one keep their layout below the innermost folder that contains them all.
OUT appears whole or not at all. It may lie below INPUT only if a part of its path begins with _
or ., so that it is not read as INPUT the next time. OUT may lie in an object store: the files of a
folder appear there one by one, an empty _SUCCESS last. If the run fails they are deleted again.
INPUT is as in select. SEL.json may also be a list of names from another program, as in eval.

If a run is interrupted or killed, the same command continues it. If it reached its memory limit,
repeat it with a higher limit. Finished files of a folder, or row groups of one file, wait in a
hidden folder next to OUT. They are reused if the input and the selection are the same and the
checksum is right. The rows of one Arrow or CSV file wait there until all columns are done, in at
most 8 bytes a number. Such a run begins anew if it has much less memory, or if --temp-dir names
another place for these rows. A run to one object in a store always begins anew.
Any machine can continue a folder in a store: while the folder is built, its object _ufs_finished
lists the files that are whole, some seconds late. The run that began last owns the folder; an
earlier run that still works on it stops and leaves it as it is.

--format sql, py and yaml write no data but a text that reads it: a query, lines of Python, or
a list of names. They read only the footers of the input.

  ufs-stream apply data --selection sel.json --also id,class -o small
  ufs-stream apply data --selection sel.json -k 12 -o small
  ufs-stream apply data --selection sel.json -o small.csv.gz
  ufs-stream apply data --selection sel.json --format sql | duckdb
  ufs-stream apply data --selection sel.json --format sql --dialect bigquery --from lake.events`,
		Args: o.requireInputs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := o.buildRequest(c, cmd, args, a.Output)
			if err != nil {
				return err
			}
			if err := h.checkFormat(cmd.Flags(), formatOfApply(a)); err != nil {
				return err
			}
			a.Input, a.Limits, a.Hooks = q.Input, q.Limits, q.Hooks
			return runApply(c, cmd, selection, a, h)
		},
	}
	fs := cmd.Flags()
	o.addOptions(fs, request.PartRows|request.PartTables|request.PartLimits|request.PartScratch)
	fs.Lookup("temp-dir").Usage = "folder `DIR` for scratch files: CSV and other files of rows, standard input that is read more than once, and the rows of an Arrow or CSV output until all columns are done (default: the system's; for the rows of one local OUT a hidden folder next to it)"
	fs.StringVar(&selection, "selection", "", "the selection `SEL.json`, written by select --format json")
	fs.StringSliceVar(&a.Also, "also", nil, "further columns `COL,…` to keep, of any type")
	fs.StringVarP(&a.Output, "output", "o", "", "the file or folder to write, `OUT`; without it --format sql, py and yaml go to standard output")
	fs.StringVar(&a.Format, "format", "", strings.Join(formatsOfApply(), ", ")+" (default: from the ending of -o, else parquet)")
	setAllowedValues(fs, "format", formatsOfApply()...)
	h.addFlags(fs)
	fs.IntVarP(&a.K, "k", "k", 0, "only the first `N` of the selected columns, by rank (default: all)")
	fs.StringVar(&a.Sparse, "sparse", "", "sparse rows, as in select; written dense (default: as the selection records)")
	return cmd
}

// formatsOfApply lists the formats of data, and the recipe formats: texts by which other tools read the data.
func formatsOfApply() []string { return append(chunkio.FormatNames(), recipe.Formats()...) }

// formatOfApply returns the format of --format. If it is not given, the ending of the output may name a recipe format.
func formatOfApply(a ufs.ApplyRequest) string {
	if end := strings.TrimPrefix(place.Ext(a.Output), "."); a.Format == "" && isRecipeFormat(end) {
		return end
	}
	return a.Format
}

func runApply(c *cli, cmd *cobra.Command, selection string, a ufs.ApplyRequest, h recipeFlags) (err error) {
	a.Format = formatOfApply(a)
	switch {
	case a.Format != "" && !slices.Contains(formatsOfApply(), a.Format):
		return stream.Usagef("unknown format %q (want %s)%s", a.Format, strings.Join(formatsOfApply(), ", "), suggest.DidYouMean(a.Format, formatsOfApply()))
	case isRecipeFormat(a.Format) && a.Input.Where != "":
		return stream.Usagef("apply: --where chooses rows, and --format %s writes none; put the condition into the query", a.Format)
	case selection == "":
		return stream.Usagef("apply: no selection given; add --selection SEL.json (made by: ufs-stream select … -o SEL.json)")
	case a.Output == "" && !isRecipeFormat(a.Format):
		return stream.Usagef("apply: no output given; add -o OUT")
	case cmd.Flags().Changed("k") && a.K < 1:
		return stream.Usagef("-k %d: want 1 or more", a.K)
	}
	if err := atomicfile.CheckNotInput(cmd.Context(), a.Output, selection); err != nil {
		return err
	}
	q := ufs.Request{Input: a.Input, Limits: a.Limits, Hooks: a.Hooks}
	list, err := ufs.ReadNamedSelections(cmd.Context(), []ufs.NamedSelection{{Path: selection}}, q.FetchOptions())
	switch {
	case err != nil:
		return err
	case len(list) > 1:
		return stream.Usagef("--selection %s has %d settings, each with its own selection; apply takes one: select with the weights of one", place.DisplayName(selection), len(list))
	}
	if note := list[0].Note; note.Format != "" {
		c.warn([]string{note.Spell(program.FlagOf)})
	}
	a.Selection = list[0].Selection
	if isRecipeFormat(a.Format) {
		return writeApplyRecipe(cmd.Context(), c, a, h)
	}
	reportReplaced := c.replacementReport(a.Output)
	done, err := ufs.Apply(cmd.Context(), a)
	if err != nil {
		return err
	}
	reportReplaced()
	c.printTransferIfVerbose(a.Hooks.Meter.Transfer())
	return reportWritten(c, a.Output, done)
}

// reportWritten prints a summary of the output and, of a resumed run, how much the interrupted run had finished.
func reportWritten(c *cli, output string, done chunkio.ApplyReport) error {
	warnings := convert.Each(done.Warnings, func(w stream.Text) string { return w.Spell(program.FlagOf) })
	c.warn(warnings)
	r := done.Resumed
	switch {
	case r.Rows > 0:
		c.printRemark("continued an interrupted run that had finished %s of %s rows", humanize.Comma(r.Rows), humanize.Comma(done.Rows))
	case r != (chunkio.Resumed{}):
		c.printRemark("continued an interrupted run that had finished %s of %s", humanize.Comma(int64(r.Whole)), print.CountNoun(done.Files, "file"))
	}
	if r.Outdated > 0 {
		c.printRemark("written again because the input or the columns changed: %s", print.CountNoun(r.Outdated, "file"))
	}
	if r.Altered > 0 {
		c.printRemark("written again because of a change or removal since: %s", print.CountNoun(r.Altered, "file"))
	}
	return c.printResult("%s: %s, %s rows, %s, %s\n", place.DisplayName(output), print.CountNoun(done.Files, "file"), humanize.Comma(done.Rows),
		print.CountNoun(len(done.Columns), "column"), humanize.IBytes(uint64(done.Bytes)))
}

// writeApplyRecipe writes a recipe (a query, Python or YAML) that reads the selected columns. It does not write data.
func writeApplyRecipe(ctx context.Context, c *cli, a ufs.ApplyRequest, h recipeFlags) error {
	if err := h.checkInputs(a.Format, a.Input.Paths); err != nil {
		return err
	}
	at, err := ufs.Locate(ctx, a)
	if err != nil {
		return err
	}
	if err := atomicfile.CheckNotInput(ctx, a.Output, slices.Concat(at.Files, at.Lists)...); err != nil {
		return err
	}
	r, err := h.newRecipe(a.Selection, at, a.Input.Paths)
	if err != nil {
		return err
	}
	return c.writeOutput(ctx, a.Output, func(w io.Writer) error { return r.Write(w, a.Format) })
}

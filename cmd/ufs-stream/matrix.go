package main

import (
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/recipe"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

type matrixFlags struct {
	requestFlags
	matrix ufs.MatrixRequest
	output string
	recipe recipeFlags
}

func newMatrix(c *cli) *cobra.Command {
	var o matrixFlags
	of := newChoiceFlag(ufs.MatrixKinds()[0], ufs.MatrixKinds()...)
	cmd := &cobra.Command{
		Use:   "matrix INPUT… | --stats ALL.ufs -o OUT",
		Short: "Write the correlations of all pairs of columns, or the strongest pairs",
		Long: `Write the matrix of all numeric columns: a column of names, and then one a column. OUT.parquet,
OUT.arrow and OUT.csv (also .csv.gz, .csv.zst) have names and null where there is no number;
OUT.npy has numbers only, and NaN.

  --of correlation   Pearson's (default)
  --of covariance    with divisor n − 1; with --weight the sum of the weights
  --of spearman      of ranks; equal values have their middle rank. Columns of more than 2,048
                     different values have ranks that are interpolated in about as many steps
  --missing pairwise each number from the rows that have both columns
  --pairs 0.9        a list of the pairs whose absolute correlation is at least 0.9, in the order
                     of the columns: a, b, r and n, the number of rows (with --weight: weight)
  --p-values         two-sided, of Student's t with n − 2 degrees of freedom: a column p of the list,
                     or the entries of the matrix

  --format sql       no data but a query for the sums of all pairs, in any --dialect. Its result,
                     saved as CSV or Parquet, becomes statistics: scan --from-sums. Without INPUT
                     it is of the --columns of a table (--from)

Constant columns have no correlation and are left out. One pass suffices if 8 bytes × columns² fit into
--memory-limit. Otherwise the input is read once for each part of the matrix that fits, and a list
of pairs never needs more: 100,000 columns within 2 GiB.

  ufs-stream matrix data/*.parquet -o correlations.csv
  ufs-stream matrix data/*.parquet --missing pairwise --pairs 0.9 --p-values -o pairs.parquet
  ufs-stream matrix --stats all.ufs --of covariance -o covariance.npy
  ufs-stream matrix --format sql --dialect bigquery --from lake.events --columns a,b,c -o sums.sql`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.matrix.Of = of.value
			return runMatrix(c, cmd, args, &o)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.req.Stats, "stats", "", "the statistics in `ALL.ufs` (see scan and merge) in place of INPUT")
	fs.Var(&of, "of", strings.Join(of.allowed, ", "))
	fs.Float64Var(&o.matrix.Pairs, "pairs", 0, "list the pairs whose absolute correlation is at least `R`, in place of the matrix")
	fs.BoolVar(&o.matrix.PValues, "p-values", false, "p-values of the correlations")
	fs.StringVar(&o.matrix.Format, "format", "", strings.Join(formatsOfMatrix(), ", ")+" (default: from the ending of -o, else parquet)")
	setAllowedValues(fs, "format", formatsOfMatrix()...)
	o.recipe.addFlags(fs)
	fs.StringVarP(&o.output, "output", "o", "", "the file or object to write, `OUT`")
	o.addOptions(fs, partsOfData)
	return cmd
}

func formatsOfMatrix() []string { return append(ufs.MatrixFormats(), "sql") }

func runMatrix(c *cli, cmd *cobra.Command, args []string, o *matrixFlags) error {
	q, err := o.buildRequest(c, cmd, args, o.output)
	if err != nil {
		return err
	}
	if err := checkFlagsAgainstStats(cmd, q); err != nil {
		return err
	}
	share := request.Bounds{Want: "an absolute correlation above 0 and up to 1, as 0.9", Allows: func(r float64) bool { return r > 0 && r <= 1 }}
	if err := checkBounds(cmd, boundFlag{"pairs", o.matrix.Pairs, share}); err != nil {
		return err
	}
	if o.matrix.Format == "" && place.Ext(o.output) == ".sql" {
		o.matrix.Format = "sql"
	}
	if err := o.recipe.checkFormat(cmd.Flags(), o.matrix.Format); err != nil {
		return err
	}
	if o.matrix.Format == "sql" {
		return writeSumsQuery(cmd, c, o, q)
	}
	m := o.matrix
	m.Request = q
	reportReplaced := c.replacementReport(o.output)
	done, err := ufs.Matrix(cmd.Context(), m)
	if err != nil {
		return err
	}
	reportReplaced()
	c.reportRun(done.Passes, done.Timing, done.Memory, done.Warnings)
	c.printTransferIfVerbose(done.Transfer)
	name, columns := place.DisplayName(o.output), humanize.Comma(int64(done.Columns))
	if m.Pairs > 0 {
		return c.printResult("%s: %s pairs of %s columns, %s rows\n", name, humanize.Comma(done.Pairs), columns, humanize.Comma(done.Rows))
	}
	return c.printResult("%s: %s × %[2]s, %s rows\n", name, columns, humanize.Comma(done.Rows))
}

func writeSumsQuery(cmd *cobra.Command, c *cli, o *matrixFlags, q ufs.Request) error {
	for _, flag := range []string{"stats", "of", "pairs", "p-values", "where", "weight", "missing", "rows", "label"} {
		if cmd.Flags().Changed(flag) {
			return stream.Usagef("--format sql writes a query for the sums of all pairs of columns; leave --%s out, or put it into the query", flag)
		}
	}
	ctx, s := cmd.Context(), &stream.Selection{}
	at := &chunkio.Located{}
	if q.Input.IsEmpty() {
		if len(q.Columns.Names) == 0 || o.recipe.table == "" {
			return stream.Usagef("matrix: no INPUT given; for a table that only the database has add --from TABLE --columns COL,…")
		}
		for _, name := range q.Columns.Names {
			at.Columns = append(at.Columns, chunkio.Place{Name: name, Path: []string{name}, Element: -1})
		}
	} else {
		if err := o.recipe.checkInputs("sql", q.Input.Paths); err != nil {
			return err
		}
		seen, err := ufs.Inspect(ctx, q, false)
		if err != nil {
			return err
		}
		c.warn(seen.Warnings)
		for _, column := range seen.Columns {
			if column.Used {
				s.Selected = append(s.Selected, stream.Selected{Name: column.Name})
			}
		}
		if at, err = ufs.Locate(ctx, ufs.ApplyRequest{Input: q.Input, Selection: s, Limits: q.Limits, Hooks: q.Hooks}); err != nil {
			return err
		}
		if err := atomicfile.CheckNotInput(ctx, o.output, slices.Concat(at.Files, at.Lists)...); err != nil {
			return err
		}
	}
	r, err := o.recipe.newRecipe(s, at, q.Input.Paths)
	if err != nil {
		return err
	}
	return c.writeOutput(ctx, o.output, func(w io.Writer) error { return recipe.WriteSums(w, r) })
}

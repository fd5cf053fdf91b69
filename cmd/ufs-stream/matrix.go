package main

import (
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

type matrixFlags struct {
	requestFlags
	matrix ufs.MatrixRequest
	output string
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

Constant columns have no correlation and are left out. One pass suffices if 8 bytes × columns² fit into
--memory-limit. Otherwise the input is read once for each part of the matrix that fits, and a list
of pairs never needs more: 100,000 columns within 2 GiB.

  ufs-stream matrix data/*.parquet -o correlations.csv
  ufs-stream matrix data/*.parquet --missing pairwise --pairs 0.9 --p-values -o pairs.parquet
  ufs-stream matrix --stats all.ufs --of covariance -o covariance.npy`,
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
	fs.StringVar(&o.matrix.Format, "format", "", strings.Join(ufs.MatrixFormats(), ", ")+" (default: from the ending of -o, else parquet)")
	setAllowedValues(fs, "format", ufs.MatrixFormats()...)
	fs.StringVarP(&o.output, "output", "o", "", "the file or object to write, `OUT`")
	o.addOptions(fs, partsOfData)
	return cmd
}

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

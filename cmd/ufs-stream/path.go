package main

import (
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func newPath(c *cli) *cobra.Command {
	var o selectFlags
	cmd := &cobra.Command{
		Use:   "path INPUT… | --stats ALL.ufs",
		Short: "Show many settings from one gathering: the error over k, or a grid of weights",
		Long: `Greedy methods: the error after 1, 2, … k features, to choose k by. One selection of k
features gives the whole curve, because the greedy selections of fewer features are its beginnings.
Below it, four rules each state how many features to keep, and one of them is recommended: the number
that select -k auto takes. With --groups k counts groups, as in select. With --costs the curve
has the total cost of the first k, in place of a --budget, for which select chooses anew.
eufs and hufs: every setting of --alpha and --beta, from rows that are loaded once. As many
settings run at a time as threads and memory allow.
sfufs and fufs: every setting of --alpha and --gamma, from the same two passes, and how well
the k features of each setting agree with those of its neighbours. If they hardly change, the
selection is stable, and path recommends a setting in the middle of that region.

  ufs-stream path data/*.parquet -k 100
  ufs-stream path --stats all.ufs -k 100 --format csv
  ufs-stream path data --method sfufs --alpha 1e-3..1e3 --gamma 1e-3..1e3 -k 50
  ufs-stream path data --method eufs --alpha 1e-3x..0.1x --beta 0,0.01..10 -k 50`,
		RunE: func(cmd *cobra.Command, args []string) error { return runPath(c, cmd, args, &o) },
	}
	o.addOptions(cmd.Flags(), partsOfSelection|request.PartCheckpoint, "stats", "cache", "sketch")
	o.output.addFlags(cmd.Flags(), "table", "json", "csv", "parquet")
	showFlagsInGroups(cmd)
	return cmd
}

func runPath(c *cli, cmd *cobra.Command, args []string, o *selectFlags) error {
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	if ufs.HasCurve(cmd.Context(), q) {
		o.output.formats = []string{"table", "json", "csv"}
	}
	if err := o.output.resolveFormat(cmd.Context()); err != nil {
		return err
	}
	if err := checkFlagsAgainstStats(cmd, q); err != nil {
		return err
	}
	p, err := ufs.Path(cmd.Context(), q)
	if p == nil {
		return err
	}
	unconverged := err
	if g := p.Grid; g != nil {
		c.reportRun(g.Passes, g.Timing, g.Memory, g.Warnings)
		err = writeResult(cmd.Context(), c, o.output, print.WriteGrid, g)
	} else {
		c.reportRun(p.Curve.Passes, p.Curve.Timing, p.Curve.Memory, p.Curve.Warnings)
		err = writeResult(cmd.Context(), c, o.output, print.WriteCurve, p.Curve)
	}
	if err != nil {
		return err
	}
	if err := ufs.Forget(q); err != nil {
		return err
	}
	return unconverged
}

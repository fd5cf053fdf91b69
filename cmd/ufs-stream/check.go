package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

type checkFlags struct {
	requestFlags
	selection string
	check     ufs.CheckRequest
	output    outputFlags
}

func newCheck(c *cli) *cobra.Command {
	var o checkFlags
	cmd := &cobra.Command{
		Use:   "check --selection SEL.json --stats NEW.ufs",
		Short: "Check whether a selection still serves new data: exit code 6 means select again, 7 undecided",
		Long: fmt.Sprintf(`Decide from the statistics of new data (scan, merge) whether a selection still serves it.
check fits the selected features to the new data and compares them with a fresh greedy selection
of as many features. The exit code is 6, select again, in two cases: the selection loses more than
--tolerance of the share that the fresh one explains (default %.0f %%), or a selected column is gone
or no longer has anything in common with the columns it was correlated with. A method that does not
minimize the error has lost some of that share from the start. Then only the loss since then counts,
measured by --baseline or by the record in the selection. If neither allows a decision, the exit
code is 7.
With --baseline, the statistics of earlier data, check also reports how far each column moved
(population stability index of the histograms), and how much of the new data the old weights leave
unexplained. Columns that moved, became constant, disappeared or came back are a warning; with
--psi-limit they are a reason to select again. The files may lie in object stores.

  ufs-stream check --selection sel.json --stats today.ufs
  ufs-stream check --selection sel.json --stats today.ufs --baseline month.ufs --psi-limit 0.25`, 100*ufs.DefaultTolerance),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return stream.Usagef("check: %s: it takes no INPUT; give the statistics of new data with --stats", place.DisplayName(args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runCheck(c, cmd, &o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.selection, "selection", "", "the selection to check, `SEL.json`")
	fs.StringVar(&o.check.Stats, "stats", "", "statistics of the new data, `NEW.ufs`")
	fs.StringVar(&o.check.Baseline, "baseline", "", "statistics of earlier data, `OLD.ufs`, to show what moved since")
	fs.Float64Var(&o.check.Tolerance, "tolerance", ufs.DefaultTolerance, "accept this loss, as a `SHARE` of the part that a fresh selection explains")
	fs.Float64Var(&o.check.PSILimit, "psi-limit", 0, "select again if a column moved by this `INDEX`, as 0.25 (default: only warn)")
	o.addOptions(fs, request.PartLimits, "anonymous")
	o.output.addFlags(fs, "table", "json")
	return cmd
}

func runCheck(c *cli, cmd *cobra.Command, o *checkFlags) error {
	if err := o.output.resolveFormat(cmd.Context()); err != nil {
		return err
	}
	q, err := o.buildRequest(c, cmd, nil, o.output.path)
	if err != nil {
		return err
	}
	if o.selection == "" {
		return stream.Usagef("check: no selection given; add --selection SEL.json")
	}
	r := o.check
	aboveZero := request.Bounds{Want: "a number above 0, as 0.25", Allows: func(number float64) bool { return number > 0 }}
	if err := checkBounds(cmd, boundFlag{"tolerance", r.Tolerance, request.ShareUpToOne}, boundFlag{"psi-limit", r.PSILimit, aboveZero}); err != nil {
		return err
	}
	if err := atomicfile.CheckNotInput(cmd.Context(), o.output.path, o.selection); err != nil {
		return err
	}
	if r.Selection, err = ufs.ReadSelection(cmd.Context(), o.selection, q.FetchOptions()); err != nil {
		return err
	}
	r.Anonymous, r.Limits, r.Hooks, r.Output = q.Input.Anonymous, q.Limits, q.Hooks, q.Output
	v, err := ufs.Check(cmd.Context(), r)
	if v == nil {
		return err
	}
	stale := err
	c.warn(v.Warnings)
	// The verdict is written in any case, also if it is "select again".
	err = writeResult(cmd.Context(), c, o.output, print.WriteVerdict, v)
	if err != nil {
		return err
	}
	return stale
}

package main

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
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
		RunE: func(cmd *cobra.Command, args []string) error { return c.runPath(cmd, args, &o) },
	}
	o.addFlags(cmd, gridFormats()...)
	o.addSketchFlag(cmd.Flags())
	showFlagsInGroups(cmd)
	return cmd
}

func curveFormats() []string { return []string{"table", "json", "csv"} }
func gridFormats() []string  { return []string{"table", "json", "csv", "parquet"} }

func (c *cli) runPath(cmd *cobra.Command, args []string, o *selectFlags) error {
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	formats := gridFormats()
	if ufs.HasCurve(cmd.Context(), q) {
		formats = curveFormats()
	}
	if err := o.output.resolveFormat(cmd.Context(), formats...); err != nil {
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
	var warnings []string
	render := func(w io.Writer) error { return c.renderCurve(w, p.Curve, o.output.format) }
	if g := p.Grid; g != nil {
		warnings = g.Warnings
		c.printRunCosts(g.Passes, g.Timing, g.Memory)
		render = func(w io.Writer) error { return c.renderGrid(w, g, o.output.format) }
	} else {
		warnings = p.Curve.Warnings
		c.printRunCosts(p.Curve.Passes, p.Curve.Timing, p.Curve.Memory)
	}
	c.warn(warnings)
	if err := c.writeOutput(cmd.Context(), o.output.path, render); err != nil {
		return err
	}
	if err := ufs.Forget(q); err != nil {
		return err
	}
	return unconverged
}

func (c *cli) renderCurve(w io.Writer, p *stream.Curve, format string) error {
	groups := slices.ContainsFunc(p.Points, func(t stream.CurvePoint) bool { return len(t.Members) > 0 })
	priced := len(p.Points) > 0 && p.Points[0].Cost != nil
	switch format {
	case "json":
		return p.Encode(w)
	case "csv":
		head := []string{"k", "name", "score", "error", "explained"}
		if groups {
			head = append(head, "members")
		}
		if priced {
			head = append(head, "cost", "total_cost")
		}
		var rows [][]string
		for _, t := range p.Points {
			row := []string{strconv.Itoa(t.K), t.Name, exactDecimal(t.Score), exactDecimal(t.Error), exactDecimal(t.Explained)}
			if groups {
				row = append(row, strings.Join(t.Features(), ";"))
			}
			if priced {
				row = append(row, exactDecimal(*t.Cost), exactDecimal(*t.Total))
			}
			rows = append(rows, row)
		}
		return c.writeCSV(w, head, rows)
	}
	return renderPage(w, func(w *screen.Page) { printCurve(w, p, groups, priced) })
}

func printCurve(w *screen.Page, p *stream.Curve, groups, priced bool) {
	w.Printf("%s: error over k (scale %v, %s features, %s rows, seed %d)\n\n", p.Method, p.Options["scale"],
		humanize.Comma(int64(p.Features)), humanize.Comma(p.RowsUsed), p.Seed)
	head := []string{">k", "feature", ">error", ">explained"}
	if groups {
		head[1] = "group or feature"
	}
	known := len(p.Points) > 0 && p.Points[0].Least != nil
	if known {
		head = append(head, ">by the best directions")
	}
	if groups {
		head = append(head, ">columns")
	}
	if priced {
		head = append(head, ">cost", ">together")
	}
	var rows [][]string
	for _, t := range p.Points {
		row := []string{strconv.Itoa(t.K), screen.QuoteName(t.Name), roundedNumber(t.Error), percentText(float64(t.Explained))}
		if known {
			row = append(row, percentText(1-float64(*t.Least)))
		}
		if groups {
			row = append(row, strconv.Itoa(len(t.Features())))
		}
		if priced {
			row = append(row, roundedNumber(*t.Cost), roundedNumber(*t.Total))
		}
		rows = append(rows, row)
	}
	w.Table(head, rows)
	printSizeRules(w, p.Size, groups || priced)
	printTransfer(w, p.Transfer)
}

// printSizeRules prints how many features each rule recommends, and the number that is finally recommended.
func printSizeRules(w *screen.Page, s *stream.Size, groups bool) {
	if s == nil {
		return
	}
	w.Printf("\n")
	var rows [][]string
	for _, r := range s.Rules {
		k := strconv.Itoa(r.K)
		if r.K == 0 {
			k = "none"
		}
		rows = append(rows, []string{r.Name, k, r.Why})
	}
	head := []string{"how many", ">k", "because"}
	if groups {
		head[0] = "how many single features"
	}
	w.Table(head, rows)
	switch {
	case !groups:
		w.Printf("\nrecommended: -k %d: %s\n", s.Recommended, s.Why)
	case s.Groups > 0:
		w.Printf("\nrecommended: -k %d: as select -k auto; of single features %d would be worth keeping: %s\n", s.Groups, s.Recommended, s.Why)
	default:
		w.Printf("\nrecommended: more than these; of single features %d would be worth keeping: %s\n", s.Recommended, s.Why)
	}
	w.Printf("%s\n", gainBeyondSizeText(s, false))
}

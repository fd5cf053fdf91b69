package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

type inspectOptions struct {
	input  inputFlags
	limits limitFlags
	output outputFlags
	scan   bool
}

func newInspect(c *cli) *cobra.Command {
	var o inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect INPUT…",
		Short: "Show schema, rows and columns, and which are features",
		Long: `Show rows, row groups and bytes of the input, and for each column its type, its
nulls as the metadata tells them, and whether it is used as a feature, and if not why.
Reads footers only; with --scan it reads the features too and adds missing values by
kind and the range. Shows statistics files (FILE.ufs) as well.`,
		Args: atLeastOne("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.inspect(cmd.Context(), args, o) },
	}
	o.input.add(cmd.Flags())
	o.limits.add(cmd.Flags())
	o.output.add(cmd.Flags(), inspectFormats()...)
	cmd.Flags().BoolVar(&o.scan, "scan", false, "read the features: NaN, infinities, smallest and largest value")
	return cmd
}

func inspectFormats() []string { return []string{"table", "json", "csv"} }

// inspection is what inspect shows: plain data, and its JSON form.
type inspection struct {
	Kind     string            `json:"kind"` // "dataset", or "gram" and "profile" for statistics files
	Rows     *int64            `json:"rows"` // null where unknown
	Groups   *int              `json:"row_groups"`
	Bytes    int64             `json:"bytes"`
	Features int               `json:"features"`
	Scanned  bool              `json:"scanned"`
	Options  map[string]string `json:"options,omitempty"` // of a statistics file
	Inputs   []stream.Input    `json:"inputs"`
	Columns  []inspectedColumn `json:"columns"`
	Warnings []string          `json:"warnings"`
}

type inspectedColumn struct {
	Name  string         `json:"name"`
	Type  string         `json:"type"`
	Nulls *int64         `json:"nulls"` // null where unknown
	NaNs  *int64         `json:"nan,omitempty"`
	Infs  *int64         `json:"inf,omitempty"`
	Min   *stream.Number `json:"min,omitempty"`
	Max   *stream.Number `json:"max,omitempty"`
	Used  bool           `json:"used"`
	Why   string         `json:"why,omitempty"`
}

func (c *cli) inspect(ctx context.Context, args []string, o inspectOptions) error {
	if err := o.input.check(); err != nil {
		return err
	}
	if err := o.output.resolve(inspectFormats()...); err != nil {
		return err
	}
	restore, err := o.limits.apply()
	if err != nil {
		return err
	}
	defer restore()
	var seen *inspection
	if len(args) == 1 && chunkio.IsStats(args[0]) {
		seen, err = inspectStats(args[0])
	} else if err = noStats("inspect", args, "; inspect statistics files one at a time"); err == nil {
		seen, err = c.inspectDataset(ctx, args, o)
	}
	if err != nil {
		return o.limits.whole(err)
	}
	if err := notInput(o.output.path, append(paths(seen.Inputs), args...)...); err != nil {
		return err
	}
	c.warn(seen.Warnings)
	return c.write(o.output.path, func(w io.Writer) error { return seen.render(w, o.output.format, c.verbose) })
}

func (c *cli) inspectDataset(ctx context.Context, args []string, o inspectOptions) (*inspection, error) {
	meter := new(stream.Meter)
	opt := datasetOptions(c, o.input, o.limits, meter)
	ds, err := chunkio.Open(ctx, args, opt)
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	s := &inspection{Kind: "dataset", Scanned: o.scan, Columns: []inspectedColumn{}, Warnings: spelled(ds.Warnings())}
	var undecoded []stream.LeftOut
	for _, f := range ds.Fields() {
		col := inspectedColumn{Name: f.Name, Type: f.Type, Used: f.Used, Why: f.Why}
		if f.Nulls >= 0 {
			col.Nulls = &f.Nulls
		}
		if !f.Used {
			undecoded = append(undecoded, stream.LeftOut{Name: f.Name, Why: f.Why})
		}
		s.Columns = append(s.Columns, col)
	}
	if o.scan {
		opt.LeaveOut = undecoded // one that cannot be decoded must not stop the others
		if opt.Sparse == "" {
			opt.Missing = stream.MissingKeep
		}
		if ds, err = ds.With(opt); err != nil {
			return nil, err
		}
		seen, err := c.inspectValues(ctx, ds, meter, s)
		if err != nil {
			return nil, err
		}
		if o.input.rows == 0 && len(ds.Columns()) > 0 {
			s.Rows = &seen // a stream tells only now
		}
	}
	if n := ds.Rows(); n >= 0 {
		groups := max(len(ds.Cuts())-1, 0)
		s.Rows, s.Groups = &n, &groups
	}
	s.Inputs = ds.Inputs()
	for _, in := range s.Inputs {
		s.Bytes += in.Bytes
	}
	s.count()
	return s, nil
}

// count counts the features.
func (s *inspection) count() {
	s.Features = 0
	for _, col := range s.Columns {
		if col.Used {
			s.Features++
		}
	}
}

// inspectValues reads all features, adds what it finds to s and returns the number of rows.
func (c *cli) inspectValues(ctx context.Context, ds *chunkio.Dataset, meter *stream.Meter, s *inspection) (rows int64, err error) {
	profile := gram.NewProfile(len(ds.Columns()))
	if len(ds.Columns()) > 0 && ds.Rows() != 0 {
		err := c.track(passInfo{What: "scan", Pass: 1, Passes: 1, Rows: ds.Rows()}, meter, func(func(passInfo)) error {
			return stream.Fold(ctx, ds, stream.FoldOptions{Meter: meter}, profile)
		})
		if err != nil {
			return 0, err
		}
	}
	s.addProfile(profile, ds.Columns())
	return profile.Seen, nil
}

// addProfile adds what a profile of some of the columns tells.
func (s *inspection) addProfile(profile *gram.Profile, columns []stream.Column) {
	useless := make(map[string]string)
	for _, l := range profile.LeftOut(columns) {
		useless[l.Name] = l.Why
	}
	at := make(map[string]int, len(s.Columns))
	for i, col := range s.Columns {
		at[col.Name] = i
	}
	for j, column := range columns {
		p, col := profile.Columns[j], &s.Columns[at[column.Name]]
		col.Nulls, col.NaNs, col.Infs = &p.Missing.Nulls, &p.Missing.NaNs, &p.Missing.Infs
		if p.Observed > 0 {
			lo, hi := stream.Number(p.Min), stream.Number(p.Max)
			col.Min, col.Max = &lo, &hi
		}
		if why := useless[column.Name]; why != "" {
			col.Used, col.Why = false, why
		}
	}
}

// inspectStats shows what a statistics file records.
func inspectStats(path string) (*inspection, error) {
	e, err := readStats(path, needProfile, gram.Options{})
	if err != nil {
		return nil, err
	}
	rows := e.coveredRows()
	s := &inspection{Kind: e.kind, Rows: &rows, Scanned: true, Options: e.options, Inputs: e.inputs,
		Columns: []inspectedColumn{}, Warnings: append([]string{}, e.warnings...)}
	for _, in := range e.inputs {
		s.Bytes += in.Bytes
	}
	for _, col := range e.columns {
		s.Columns = append(s.Columns, inspectedColumn{Name: col.Name, Type: col.Type, Used: true})
	}
	s.addProfile(e.profile, e.columns)
	for _, l := range e.leftOut {
		s.Columns = append(s.Columns, inspectedColumn{Name: l.Name, Why: l.Why})
	}
	s.count()
	return s, nil
}

func (s *inspection) render(w io.Writer, format string, verbose bool) error {
	if format == "json" {
		return writeJSON(w, s)
	}
	head := []string{"column", "type", ">nulls"}
	if s.Scanned {
		head = append(head, ">nan", ">inf", ">min", ">max")
	}
	head = append(head, "feature", "why not")
	var rows [][]string
	for _, col := range s.Columns {
		r := []string{col.Name, col.Type, count(col.Nulls)}
		if s.Scanned {
			r = append(r, count(col.NaNs), count(col.Infs), number(col.Min), number(col.Max))
		}
		used := "no"
		if col.Used {
			used = "yes"
		}
		rows = append(rows, append(r, used, col.Why))
	}
	if format == "csv" {
		for j := range head {
			head[j] = strings.TrimPrefix(head[j], ">")
		}
		return writeCSV(w, head, rows)
	}
	s.renderHead(w, verbose)
	return writeTable(w, head, rows)
}

func (s *inspection) renderHead(w io.Writer, verbose bool) {
	what := "input"
	if s.Kind != "dataset" {
		what = s.Kind + " statistics"
	}
	rows := "rows unknown"
	if s.Rows != nil {
		rows = humanize.Comma(*s.Rows) + " rows"
	}
	if s.Groups != nil {
		rows += " in " + plural(*s.Groups, "row group")
	}
	fmt.Fprintf(w, "%s: %s, %s, %s; %d of %d columns are features\n",
		what, plural(len(s.Inputs), "file"), humanize.IBytes(uint64(s.Bytes)), rows, s.Features, len(s.Columns))
	for i, in := range s.Inputs {
		if i == shortList && !verbose {
			fmt.Fprintf(w, "  and %d more files; -v lists them\n", len(s.Inputs)-i)
			break
		}
		if s.Rows == nil { // a stream, of which only the schema was read
			continue
		}
		fmt.Fprintf(w, "  %s: %s rows, %s\n", in.Path, humanize.Comma(in.Rows), humanize.IBytes(uint64(in.Bytes)))
	}
	for _, name := range sortedKeys(s.Options) {
		fmt.Fprintf(w, "  --%s %s\n", name, s.Options[name])
	}
	fmt.Fprintln(w)
}

// count is a number of entries; "?" where it is not known.
func count(n *int64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatInt(*n, 10)
}

func number(n *stream.Number) string {
	if n == nil {
		return ""
	}
	// Whole numbers stay whole: 1e+12 for an identifier's ends would say nothing.
	if x := float64(*n); x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return rough(*n)
}

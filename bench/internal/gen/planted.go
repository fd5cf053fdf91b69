package gen

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// answer has the fields that the answer files of all kinds of tables share.
type answer struct {
	Schema  string `json:"schema"` // "ufs-stream/planted/v1"
	Kind    string `json:"kind"`
	Rows    int64  `json:"rows"`
	Columns int    `json:"columns"`
	Seed    uint64 `json:"seed"`
	Label   string `json:"label,omitempty"`
	Classes int    `json:"classes,omitempty"`
}

func (o options) makeCommonAnswer(kind string, columns, classes int) answer {
	a := answer{Schema: "ufs-stream/planted/v1", Kind: kind, Rows: o.rows, Columns: columns, Seed: o.seed, Classes: classes}
	if classes > 0 {
		a.Label = LabelName
	}
	return a
}

// LabelName is the name of the column with the classes in generated tables.
const LabelName = "label"

// plantedAnswer lists the columns by their roles, which package planted explains.
type plantedAnswer struct {
	answer
	Groups [][]string `json:"groups"` // redundant columns of each factor; a right selection has one column of each group
	// The factors of the first ClassGroups groups depend on the class in the label column.
	ClassGroups int      `json:"class_groups,omitempty"`
	Mixtures    []string `json:"mixtures"`
	Noise       []string `json:"noise"`
	Constant    []string `json:"constant"`
}

func plantedCommand(c *cli.Shared) *cobra.Command {
	var o options
	var p planted.Options
	var label bool
	var list string
	types := []string{"double", "float"}
	cmd := &cobra.Command{
		Use:   "planted -o FILE.parquet",
		Short: "Redundant columns that show a few hidden factors, among mixtures, noise and constants",
		Long: `Make a table whose right selection is known: hidden factors, each shown by a group of
redundant columns, among mixtures of two factors, noise and constants, under names and in
an order that tell nothing. The answer beside it names the columns of each.

With --label there are classes of rows that the factors follow, so that eval has
something to find; the right selection stays the same.

With --list NAME the features are one column of lists, NAME[0], NAME[1], …: of hundreds of
thousands of columns the footer alone takes gigabytes.`,
		Args: program.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.checkFlags(types...); err != nil {
				return err
			}
			for _, name := range []string{"columns", "factors", "classes"} {
				if n, _ := cmd.Flags().GetInt(name); n < 1 && cmd.Flags().Changed(name) {
					return stream.Usagef("--%s %d: want a number from 1 on", name, n)
				}
			}
			p.Rows, p.Seed = o.rows, o.seed
			if !label && p.Classes > 0 {
				return stream.Usagef("--classes needs --label")
			}
			table, err := newPlanted(p, label)
			if err != nil {
				return err
			}
			w := chunkio.WriteOptions{Type: o.typ, List: list}
			if label {
				w.LabelName = LabelName
				w.Label = func(row int64) int32 { return int32(table.Class(row)) }
			}
			src := filledTable{table, o.rows, o.nulls, o.seed, o.threads}
			return generateTable(cmd.Context(), c, o, src, w, describePlanted(o, table, list))
		},
	}
	fs := cmd.Flags()
	o.addFlags(fs, types...)
	o.addNullsFlag(fs)
	fs.IntVar(&p.Columns, "columns", 100, "columns, the label not counted")
	fs.IntVar(&p.Factors, "factors", 0, "hidden factors (default: as many as fill half of the columns)")
	fs.StringVar(&list, "list", "", "write the features as one column `NAME` of lists")
	fs.BoolVar(&label, "label", false, "add a column "+LabelName+" of classes that the factors follow")
	fs.IntVar(&p.Classes, "classes", 0, "number of classes, a power of two (default: as many as the factors tell apart, at most 16)")
	return cmd
}

// newPlanted makes a planted table. If --classes is not given, the number of classes is the smallest power of two above
// the number of factors, but at most 16, so that every factor can depend on the class.
func newPlanted(p planted.Options, label bool) (*planted.Table, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	t := planted.New(p)
	if label && p.Classes == 0 {
		for p.Classes = 2; p.Classes <= t.Factors() && p.Classes < 16; {
			p.Classes *= 2
		}
		t = planted.New(p)
	}
	return t, nil
}

func describePlanted(o options, t *planted.Table, listColumn string) plantedAnswer {
	name := func(columns []int) []string {
		names := make([]string, len(columns))
		for i, j := range columns {
			names[i] = t.Columns()[j].Name
			if listColumn != "" {
				names[i] = fmt.Sprintf("%s[%d]", listColumn, j)
			}
		}
		return names
	}
	parts := t.Answer()
	a := plantedAnswer{
		answer:   o.makeCommonAnswer("planted", len(t.Columns()), t.Classes()),
		Mixtures: name(parts.Mixtures), Noise: name(parts.Noise), Constant: name(parts.Constant),
	}
	for _, g := range parts.Groups {
		a.Groups = append(a.Groups, name(g))
	}
	a.ClassGroups = min(max(t.Classes()-1, 0), len(a.Groups))
	return a
}

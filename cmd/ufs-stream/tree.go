package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/eufs"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

type treeOptions struct {
	request
	out string
}

func newTree(c *cli) *cobra.Command {
	var o treeOptions
	cmd := &cobra.Command{
		Use:   "tree INPUT… --tree KIND",
		Short: "Write the tree over features that hufs uses, as JSON",
		Long: `Write the tree that --tree of select builds, as JSON: to look at it, or to change it
and give it to select as --tree FILE.json. image and prefix:SEP take names and read
footers only; correlation makes a pass over the data (of a sample: --rows).

  ufs-stream tree faces.parquet --tree image -o tree.json
  ufs-stream select faces.parquet --method hufs --tree tree.json`,
		Args: atLeastOne("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.inputs = args
			return c.tree(cmd.Context(), o)
		},
	}
	fs := cmd.Flags()
	o.input.add(fs)
	o.limits.add(fs)
	fs.StringVar(&o.method.rows.tree, "tree", "", "the `TREE`: image (names px_R_C), correlation, prefix:SEP, or FILE.json, which is checked")
	fs.StringVarP(&o.out, "output", "o", "", "write the tree to `FILE` (default: standard output)")
	return cmd
}

func (c *cli) tree(ctx context.Context, o treeOptions) error {
	if err := noStats("tree", o.inputs, "; name the data itself"); err != nil {
		return err
	}
	if o.method.rows.tree == "" {
		return stream.Usagef("tree: no --tree given; want image, correlation, prefix:SEP or FILE.json")
	}
	if err := checkTree(o.method.rows.tree); err != nil {
		return err
	}
	if err := o.input.check(); err != nil {
		return err
	}
	if o.input.weight != "" {
		return stream.Usagef("--weight is not for method hufs")
	}
	if err := checkOutput(o.out); err != nil {
		return err
	}
	restore, err := o.limits.apply()
	if err != nil {
		return err
	}
	defer restore()
	var frame rowsFrame
	var t *eufs.Tree
	if o.method.rows.tree == "correlation" {
		frame, t, err = c.correlationTree(ctx, &o)
	} else {
		frame, t, err = c.namesTree(ctx, &o)
	}
	if err != nil {
		return err
	}
	c.note("%d groups, %d levels, %d features", t.Nodes(), t.Depth(), len(t.Features))
	return c.write(o.out, func(w io.Writer) error { return t.Encode(w, frame.names) })
}

// namesTree is a tree for which the names of the columns are enough.
func (c *cli) namesTree(ctx context.Context, o *treeOptions) (rowsFrame, *eufs.Tree, error) {
	opt := datasetOptions(c, o.input, o.limits, new(stream.Meter))
	ds, err := openDataset(ctx, o.inputs, opt)
	if err != nil {
		return rowsFrame{}, nil, o.limits.whole(err)
	}
	defer ds.Close()
	if err := notInput(o.out, append(paths(ds.Inputs()), o.method.rows.tree)...); err != nil {
		return rowsFrame{}, nil, err
	}
	c.warn(spelled(ds.Warnings()))
	f := frameOf(ds.Columns(), ds.LeftOut())
	t, err := o.buildTree(f, nil)
	return f, t, err
}

// correlationTree makes the pass over the data.
func (c *cli) correlationTree(ctx context.Context, o *treeOptions) (rowsFrame, *eufs.Tree, error) {
	plan := func(ds *chunkio.Dataset) (budget, error) {
		d := len(ds.Columns())
		// The distances between columns stand beside the Gram matrix; clusters are a few numbers a column.
		return o.planPass(ds, gram.Bytes(d, o.expectedMissing(ds)), 8*int64(d)*int64(d)+profileColumn*int64(d))
	}
	g := &gatherer{c: c, req: &o.request, need: needGram, plan: plan, meter: new(stream.Meter), out: o.out}
	e, err := g.run(ctx, checkpointFlags{})
	if err != nil {
		return rowsFrame{}, nil, err
	}
	m, err := e.moments.Finish(e.columns, gram.FinishOptions{Scale: gram.ScaleCenter, Fill: o.fill()})
	if err != nil {
		return rowsFrame{}, nil, place(err, e)
	}
	used := usedColumns{index: m.Columns}
	f := frameOf(used.columns(e), append(e.leftOut, m.LeftOut...))
	c.warn(append(e.warnings, m.Warnings...))
	t, err := o.buildTree(f, m.Sym)
	return f, t, err
}

// frameOf is the names of features, and of columns that are none.
func frameOf(cols []stream.Column, leftOut []stream.LeftOut) rowsFrame {
	f := rowsFrame{names: columnNames(cols)}
	for _, l := range leftOut {
		f.leftOut = append(f.leftOut, l.Name)
	}
	return f
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/ufs"
)

func newTree(c *cli) *cobra.Command {
	var o requestFlags
	var tree, out string
	cmd := &cobra.Command{
		Use:   "tree INPUT… --tree KIND",
		Short: "Write the tree over features that hufs uses, as JSON",
		Long: `Write the tree that --tree of select builds, as JSON. You can look at it, or change it and give
it to select as --tree FILE.json. image and prefix:SEP use the names of columns and read only
footers. correlation makes a pass over the data (of a sample: --rows).

  ufs-stream tree faces.parquet --tree image -o tree.json
  ufs-stream select faces.parquet --method hufs --tree tree.json`,
		Args: o.requireInputs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := o.buildRequest(c, cmd, args, out)
			if err != nil {
				return err
			}
			if tree != "" {
				q.Choice.Options = method.Settings{"tree": tree}
			}
			t, err := ufs.Tree(cmd.Context(), q)
			if err != nil {
				return err
			}
			c.warn(t.Warnings)
			c.printRemarkIfVerbose("%d groups, %d levels, %d features", t.Groups, t.Depth, len(t.Features))
			return c.writeOutput(cmd.Context(), out, t.Encode)
		},
	}
	fs := cmd.Flags()
	o.addOptions(fs, partsOfData)
	fs.StringVar(&tree, "tree", "", "the `TREE`: image (names px_R_C), correlation, prefix:SEP, or FILE.json, which is checked")
	fs.StringVarP(&out, "output", "o", "", "write the tree to `FILE` (default: standard output)")
	return cmd
}

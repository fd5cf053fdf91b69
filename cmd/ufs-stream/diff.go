package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

type diffFlags struct {
	requestFlags
	output outputFlags
}

func newDiff(c *cli) *cobra.Command {
	var o diffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD.json NEW.json",
		Short: "Show what changed from one selection to another",
		Long: `Compare an old selection with a new one. diff lists the features that came or went and why (gone
from the data, left out, replaced by another one), and those whose rank moved. It also lists changes
of the data and of the settings. Both selections may lie in object stores.

  ufs-stream diff yesterday.json today.json
  ufs-stream diff yesterday.json today.json --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return stream.Usagef("diff: %d selections given; want two: diff OLD.json NEW.json", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runDiff(cmd.Context(), c, args, &o) },
	}
	o.addOptions(cmd.Flags(), 0, "anonymous", "memory-limit")
	cmd.Flag("memory-limit").Usage = memoryUsage
	o.output.addFlags(cmd.Flags(), "table", "json")
	return cmd
}

func runDiff(ctx context.Context, c *cli, args []string, o *diffFlags) error {
	if err := o.output.resolveFormat(ctx); err != nil {
		return err
	}
	if err := atomicfile.CheckNotInput(ctx, o.output.path, args...); err != nil {
		return err
	}
	limitMemory(c, o.req.Limits.Memory)
	from := chunkio.FetchOptions{Anonymous: o.req.Input.Anonymous, Meter: new(stream.Meter), Memory: o.req.Limits.Memory}
	sides, err := ufs.ReadSelections(ctx, args, from)
	if err != nil {
		return err
	}
	c.printTransferIfVerbose(from.Meter.Transfer())
	d := ufs.Diff(sides[0], sides[1])
	return writeResult(ctx, c, o.output, print.WriteDifference, d)
}

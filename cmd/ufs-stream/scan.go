package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

type scanOptions struct {
	request
	save        checkpointFlags
	out         string
	shard       string
	profileOnly bool
	profile     string
}

func newScan(c *cli) *cobra.Command {
	var o scanOptions
	cmd := &cobra.Command{
		Use:   "scan INPUT… -o FILE.ufs",
		Short: "Gather the statistics of the input, or of a shard of it, into a file",
		Long: `Gather mergeable statistics into one file: enough to select from with any --scale,
--method and -k of the greedy family. Parts can be scanned on many machines and added
with merge; the selection is that of the whole.

  ufs-stream scan data --shard 1/8 -o 1.ufs
  ufs-stream merge *.ufs -o all.ufs
  ufs-stream select --stats all.ufs -k 50`,
		Args: atLeastOne("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.inputs = args
			if err := noStats("scan", args, "; add statistics files with merge"); err != nil {
				return err
			}
			if err := o.prepare(cmd.Flags().Changed); err != nil {
				return err
			}
			return c.scan(cmd.Context(), o)
		},
	}
	fs := cmd.Flags()
	o.input.add(fs)
	o.method.add(fs)
	o.limits.add(fs)
	o.temp.add(fs)
	o.save.add(fs)
	fs.StringVarP(&o.out, "output", "o", "", "the statistics `FILE`, best ending in .ufs")
	fs.StringVar(&o.shard, "shard", "", "only part `I/N` of the rows: whole row groups, about equal parts")
	fs.BoolVar(&o.profileOnly, "profile-only", false, "only mean, spread and missing values of each column: small and quick")
	fs.StringVar(&o.profile, "profile", "", "a profile of all parts, `P.ufs`: it decides which columns are left out, alike in every part")
	return cmd
}

func (c *cli) scan(ctx context.Context, o scanOptions) error {
	part, err := parseShard(o.shard)
	if err != nil {
		return err
	}
	switch {
	case o.out == "":
		return stream.Usagef("scan: no output given; add -o FILE.ufs")
	case o.profileOnly && o.profile != "":
		return stream.Usagef("--profile-only makes a profile, --profile uses one; give one of them")
	case o.profileOnly && o.save.dir != "":
		return stream.Usagef("--checkpoint is for the Gram statistics; a profile is quick")
	case part.count > 0 && o.input.rows > 0:
		return stream.Usagef("--rows and --shard do not go together")
	}
	restore, err := o.limits.apply()
	if err != nil {
		return err
	}
	defer restore()
	if err := checkOutput(o.out); err != nil {
		return err
	}
	g := &gatherer{c: c, req: &o.request, need: needGram, plan: o.planScan(needGram), shard: part, meter: new(stream.Meter), out: o.out}
	if o.profileOnly {
		g.need, g.plan = needProfile, o.planScan(needProfile)
		if o.input.sparse == "" {
			// A profile is to find out what the policy will meet, so it must not act.
			if err := o.input.missing.Set("mean"); err != nil {
				return err
			}
		}
	}
	if o.profile != "" {
		if g.by, err = readStats(o.profile, needProfile, gram.Options{}); err != nil {
			return err
		}
	}
	e, err := g.run(ctx, o.save)
	if err != nil {
		return err
	}
	if err := e.writeStats(o.out); err != nil {
		return err
	}
	c.warn(e.warnings)
	c.note("%s: %d features, %s rows", o.out, len(e.columns), humanize.Comma(e.profile.Rows))
	return g.check.forget()
}

// shard is part number of count parts, counted from 1; the zero value is the whole.
type shard struct{ number, count int }

// parseShard reads "I/N"; empty is the whole.
func parseShard(s string) (shard, error) {
	if s == "" {
		return shard{}, nil
	}
	i, n, ok := strings.Cut(s, "/")
	number, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || number < 1 || number > count {
		return shard{}, stream.Usagef("--shard %q: want I/N with 1 <= I <= N, as 2/8", s)
	}
	return shard{number, count}, nil
}

// of is the range of rows of src; the zero Range, meaning all, for the whole.
func (s shard) of(src stream.Source) (stream.Range, error) {
	if s.count == 0 {
		return stream.Range{}, nil
	}
	return stream.Shard(src, s.number, s.count)
}

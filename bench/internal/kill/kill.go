package kill

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/stream"
)

type options struct {
	kills    int
	share    float64
	every    time.Duration
	only     string
	seed     uint64
	binary   string
	folder   string
	dir      string
	progress io.Writer

	shop     *workshop.Workshop
	random   *rand.Rand
	generate func(ctx context.Context, args []string) error // runs gen; workshop.StartSelf except in tests
	command  string                                         // the command line, for the results
}

// New returns the command kill.
func New(c *cli.Shared) *cobra.Command {
	o := &options{kills: 50, share: 1, every: 200 * time.Millisecond, seed: 1, folder: "bench-results", generate: workshop.StartSelf}
	cmd := &cobra.Command{
		Use:   "kill",
		Short: "Kill long runs at random moments, and compare what they end in with a run that nothing stopped",
		Long: `Runs scan, select (greedy in memory and out of core, sfufs, eufs out of core) and apply of a folder
with a checkpoint, kills each (kill -9) at random moments, and starts the same command again until it
is done. Every output must be, to the byte, that of a run without a kill, timing aside; no part of one
may stand at its place after a kill, and nothing else may be left in the end. What is not so is an error (exit code 1).
Results are --results/kill.md.

  ufs-stream-bench kill
  ufs-stream-bench kill --kills 5 --share 0.2 --runs "out of core"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.progress, o.command = c.RemarksWriter(), c.CommandLine()
			return o.runKill(cmd.Context(), c.Out)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.kills, "kills", o.kills, "`N` kills of every run at least")
	f.Float64Var(&o.share, "share", o.share, "`SHARE` of the rows of the full size, above 1 too")
	f.DurationVar(&o.every, "checkpoint-every", o.every, "time between saves")
	f.StringVar(&o.only, "runs", "", "only runs whose name has `TEXT` in it")
	f.Uint64Var(&o.seed, "seed", o.seed, "seed `N` of the moments")
	f.StringVar(&o.binary, "binary", "", "measure this `FILE` (default: build ufs-stream, or else the installed one)")
	f.StringVar(&o.folder, "results", o.folder, "folder `DIR` of the results")
	f.StringVar(&o.dir, "dir", "", "folder `DIR` for data and outputs (default: a scratch folder)")
	return cmd
}

func (o *options) runKill(ctx context.Context, out io.Writer) error {
	if o.kills < 1 || !(o.share > 0) || o.every <= 0 {
		return stream.Usagef("kill: --kills %d, --share %v, --checkpoint-every %s: want numbers above 0", o.kills, o.share, o.every)
	}
	var err error
	if o.shop, err = workshop.New(ctx, o.binary); err != nil {
		return err
	}
	defer o.shop.Close()
	dir := o.shop.Dir
	if o.dir != "" {
		if dir = o.dir; os.MkdirAll(dir, 0o777) != nil {
			return stream.Usagef("kill: --dir %s cannot be made", dir)
		}
	}
	fmt.Fprintln(o.progress, "making the data")
	jobs, err := o.makeJobs(ctx, dir)
	if err != nil {
		return err
	}
	o.random = rand.New(rand.NewPCG(o.seed, 1))
	var points []jobResult
	for _, j := range jobs {
		if !strings.Contains(j.name, o.only) {
			continue
		}
		p, err := o.killRepeatedly(ctx, j)
		if err != nil {
			return err
		}
		fmt.Fprintln(o.progress, p)
		for _, fault := range p.faults {
			fmt.Fprintln(o.progress, " ", fault)
		}
		points = append(points, p)
	}
	return o.writeResults(ctx, out, points)
}

func (o *options) runProgram(ctx context.Context, args []string) error {
	_, _, err := workshop.RunChild(ctx, o.shop.Program, append(args, "--progress", "off")...)
	return err
}

func (o *options) writeResults(ctx context.Context, out io.Writer, points []jobResult) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "# Killed at random moments\n\nMade by `%s`.\n\n- machine: %s\n- program: %s\n", o.command, o.shop.Machine, o.shop.Version)
	fmt.Fprintf(&text, "- each run is killed (kill -9) at moments drawn evenly from the time that it takes alone, started again by the same\n"+
		"  command, and killed again, until it is done; a save every %s\n"+
		"- again for a kill: processor time of all processes beyond that of one run without a kill, divided by the kills, in runs\n"+
		"- wrong: an output that differs by a byte (timing aside), a part of one, a command that fails when started again, a file left\n", o.every)
	results.TableHead(&text, []string{"run", "alone s", "kills", "runs done", "again for a kill", "wrong"}, 1)
	faults := 0
	for _, p := range points {
		results.TableRow(&text, []string{p.name, results.FormatSeconds(p.aloneCost.Wall.Seconds()), fmt.Sprint(p.kills), fmt.Sprint(p.runs), fmt.Sprintf("%.2f", p.repeatedShare()), fmt.Sprint(len(p.faults))})
		faults += len(p.faults)
	}
	for _, p := range points {
		for _, f := range p.faults {
			fmt.Fprintf(&text, "\n- %s: %s", p.name, f)
		}
	}
	if faults > 0 {
		fmt.Fprintln(&text)
	}
	path := filepath.Join(o.folder, "kill.md")
	if err := results.WriteFile(ctx, path, nil, text.Bytes()); err != nil {
		return err
	}
	if _, err := out.Write(text.Bytes()); err != nil {
		return err
	}
	if faults > 0 {
		return fmt.Errorf("%d things were wrong; %s has them", faults, path)
	}
	return nil
}

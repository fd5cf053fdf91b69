package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/program"
	"github.com/ufs-stream/ufs-stream/internal/shell"
)

func main() { program.Main(run) }

// cli is what the verbs share.
type cli struct {
	args  []string
	out   *program.Writer // results
	err   io.Writer       // everything else
	quiet bool
}

// run is the whole program; it returns the exit code. It reads no standard input.
func run(ctx context.Context, args []string, _ io.Reader, out, errw io.Writer) int {
	c := &cli{args: args, out: program.NewWriter(out, "standard output"), err: errw}
	root := &cobra.Command{
		Use:   "bench",
		Short: "Make data for ufs-stream, and measure it",
	}
	program.Group(root, "verb")
	root.PersistentFlags().BoolVarP(&c.quiet, "quiet", "q", false, "no progress on standard error")
	root.AddCommand(newGen(c), newPaper(c), newPeers(c), newQuality(c), newScale(c), newSpeed(c))
	return program.Program{Root: root, Out: c.out, Err: errw}.Run(ctx, args)
}

// commandLine is the command that makes the same results again.
func (c *cli) commandLine() string {
	return shell.Quote(append([]string{"go", "run", "./bench"}, c.args...)...)
}

// remarks is where a command says what it is doing.
func (c *cli) remarks() io.Writer {
	if c.quiet {
		return io.Discard
	}
	return c.err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// cli is what the subcommands share.
type cli struct {
	in    io.Reader
	out   *stickyWriter // results
	err   io.Writer     // everything else
	quiet bool
}

// run is the whole program: it returns the exit code and leaves no goroutine behind.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) (code int) {
	c := &cli{in: in, out: &stickyWriter{w: out}, err: errw}
	defer func() {
		// Go's own exit code for a panic is 2, which here means a usage error.
		if r := recover(); r != nil {
			fmt.Fprintf(errw, "bench: internal fault: %v\n%s", r, debug.Stack())
			code = exit.Fault
		}
	}()
	root := newRoot(c)
	root.SetArgs(args)
	root.SetOut(c.out)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = c.out.err
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = errors.Join(ctx.Err(), err)
		fmt.Fprintln(errw, "bench: interrupted")
	default:
		fmt.Fprintf(errw, "bench: %v\n", err)
	}
	return exit.Code(err)
}

func newRoot(c *cli) *cobra.Command {
	root := &cobra.Command{
		Use:           "bench",
		Short:         "Make data for ufs-stream, and measure it",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE:          group("subcommand"),
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// Behind a misspelt subcommand its flags are unknown too; the subcommand is the fault.
		if before := cmd.Flags().Args(); cmd.HasSubCommands() && len(before) > 0 {
			return cmd.RunE(cmd, before)
		}
		return stream.Usagef("%s; see %s --help", err, cmd.CommandPath())
	})
	root.PersistentFlags().BoolVarP(&c.quiet, "quiet", "q", false, "no progress on standard error")
	root.AddCommand(
		newGen(c),
		newPaper(c),
		newScale(c),
	)
	return root
}

// group is what a command does that only has subcommands: its help, or refuse an
// unknown one.
func group(what string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		hint := "; see " + cmd.CommandPath() + " --help"
		cmd.SuggestionsMinimumDistance = 2
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = fmt.Sprintf("; did you mean %s?", near[0])
		}
		return stream.Usagef("unknown %s %q%s", what, args[0], hint)
	}
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return stream.Usagef("%s takes no argument, got %q; usage: %s", cmd.Name(), args[0], cmd.UseLine())
	}
	return nil
}

// stickyWriter is standard output; it keeps its first error, so that who prints need
// not look at every one.
type stickyWriter struct {
	w   io.Writer
	err error
}

func (s *stickyWriter) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	if err != nil {
		s.err = &stream.OutputError{Path: "standard output", Err: err}
	}
	return n, s.err
}

package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	_ "github.com/ufs-stream/ufs-stream/internal/app/startup"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Main calls run with the arguments and streams of the process, and ends the process with the exit code that run
// returns. The first interrupt ends the context, a second one ends the process.
func Main(run func(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// ExitCodes is the table of exit codes, for help texts.
const ExitCodes = exit.Table

// Program is a tree of commands, with its output streams.
type Program struct {
	Root *cobra.Command
	Out  *Writer   // results
	Err  io.Writer // everything else
	// Resume, if not nil, is called after an interruption, or after a memory limit that was too low. It must print to
	// Err how the user can continue the run.
	Resume func(err error)
}

// Run executes the command that args name, reports its error and returns the exit code.
func (p Program) Run(ctx context.Context, args []string) (code int) {
	defer func() {
		// Go's own exit code for a panic is 2, which here means a usage error.
		if fault := recover(); fault != nil {
			page := screen.NewPage(p.Err)
			page.Printf("%s: internal fault: %v\nThis is a bug; please report it with the command and this trace.\n", p.Root.Name(), fault)
			_, _ = page.Write(debug.Stack()) // this write may fail too; nothing more can be done
			code = exit.Fault
		}
	}()
	p.Root.SilenceUsage, p.Root.SilenceErrors = true, true
	p.Root.CompletionOptions.DisableDefaultCmd = true
	p.Root.SetFlagErrorFunc(flagError)
	p.Root.SetHelpCommand(newHelpCommand())
	p.Root.SetArgs(args)
	p.Root.SetOut(p.Out)
	p.Root.SetErr(p.Err)
	cmd, err := p.Root.ExecuteContextC(ctx)
	if err == nil {
		err = p.Out.Err()
	}
	if err != nil && ctx.Err() != nil {
		// Other errors are usually caused by the interruption and not worth printing.
		err = errors.Join(ctx.Err(), err)
		fmt.Fprintf(p.Err, "%s: interrupted\n", p.Root.Name())
		if p.Resume != nil {
			p.Resume(err)
		}
		if unsaved := (*stream.OutputError)(nil); errors.As(err, &unsaved) {
			p.reportError(cmd, unsaved)
		}
	} else if err != nil {
		p.reportError(cmd, err)
		if limit := (*stream.MemoryError)(nil); errors.As(err, &limit) && p.Resume != nil {
			p.Resume(err)
		}
	}
	return exit.CodeOf(err)
}

// reportError prints err with options spelled as flags of cmd. If cmd has no flag for the folder of scratch files, the
// name of the environment variable is printed instead.
func (p Program) reportError(cmd *cobra.Command, err error) {
	spell := func(option string) string {
		if option == "temp-dir" && cmd != nil && cmd.Flag(option) == nil {
			return tempVariable
		}
		return FlagOf(option)
	}
	screen.NewPage(p.Err).Printf("%s: %s\n", p.Root.Name(), stream.Spell(err, spell))
}

// tempVariable is the environment variable from which package os reads the folder for temporary files.
var tempVariable = map[bool]string{true: "TMP", false: "TMPDIR"}[runtime.GOOS == "windows"]

// FlagOf returns the flag for an option, with one dash for a single letter, otherwise two.
func FlagOf(option string) string {
	if len(option) == 1 {
		return "-" + option
	}
	return "--" + option
}

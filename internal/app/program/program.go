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
	// Retry, if not nil, must print to Err the arguments with which a failed run may succeed.
	Retry func(args []string)
	// AsJSON, if not nil, reports whether errors are written as messages in JSON, one a line. They then have the remedy,
	// so that Resume is not called.
	AsJSON func() bool
	// Remedy, if not nil, returns the remedy of an error for these messages: in words, or empty to keep the words of the
	// error itself, and as the command to try next, for a shell, or empty if there is none. retry is as for Retry, or nil.
	Remedy func(err error, retry []string) (words, command string)
	// WriteHelpJSON, if not nil, writes the help of a command to Out as JSON: of the root all of it.
	WriteHelpJSON func(named *cobra.Command) error
}

// Run executes the command that args name, reports its error and returns the exit code.
func (p Program) Run(ctx context.Context, args []string) (code int) {
	defer func() {
		// Go's own exit code for a panic is 2, which here means a usage error.
		if fault := recover(); fault != nil {
			code = exit.Fault
			page := screen.NewPage(p.Err)
			if p.writesJSON() {
				Message{Event: EventError, Kind: exit.KindOf(code), Message: fmt.Sprintf("internal fault: %v", fault), Remedy: "please report this bug with the command and the trace", Trace: string(debug.Stack()), ExitCode: code}.WriteJSON(page)
				return
			}
			page.Printf("%s: internal fault: %v\nThis is a bug; please report it with the command and this trace.\n", p.Root.Name(), fault)
			_, _ = page.Write(debug.Stack()) // this write may fail too; nothing more can be done
		}
	}()
	p.Root.SilenceUsage, p.Root.SilenceErrors = true, true
	p.Root.CompletionOptions.DisableDefaultCmd = true
	p.Root.SetFlagErrorFunc(flagError)
	p.Root.SetHelpCommand(newHelpCommand(p.WriteHelpJSON))
	p.Root.SetArgs(args)
	p.Root.SetOut(p.Out)
	p.Root.SetErr(p.Err)
	cmd, err := p.Root.ExecuteContextC(ctx)
	if err == nil {
		err = p.Out.Err()
	}
	if err != nil && ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	code = exit.CodeOf(err)
	var retry []string
	if err != nil {
		retry = changeArgs(cmd.Flags(), args, stream.AdvisedChanges(err))
	}
	switch {
	case err == nil:
	case p.writesJSON():
		p.describeError(cmd, err, retry, code).WriteJSON(screen.NewPage(p.Err))
	case ctx.Err() != nil:
		// Other errors are usually caused by the interruption and not worth printing.
		fmt.Fprintf(p.Err, "%s: interrupted\n", p.Root.Name())
		if p.Resume != nil {
			p.Resume(err)
		}
		if unsaved := (*stream.OutputError)(nil); errors.As(err, &unsaved) {
			p.reportError(cmd, unsaved)
		}
	default:
		p.reportError(cmd, err)
		if limit := (*stream.MemoryError)(nil); errors.As(err, &limit) && p.Resume != nil {
			p.Resume(err)
		}
		if retry != nil && p.Retry != nil {
			p.Retry(retry)
		}
	}
	return code
}

func (p Program) writesJSON() bool { return p.AsJSON != nil && p.AsJSON() }

func (p Program) reportError(cmd *cobra.Command, err error) {
	screen.NewPage(p.Err).Printf("%s: %s\n", p.Root.Name(), stream.Spell(err, spellingFor(cmd)))
}

// spellingFor spells options as flags of cmd. If cmd has no flag for the folder of scratch files, the name of the
// environment variable is used instead.
func spellingFor(cmd *cobra.Command) stream.Spelling {
	return func(option string) string {
		if option == "temp-dir" && cmd != nil && cmd.Flag(option) == nil {
			return tempVariable
		}
		return FlagOf(option)
	}
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

// Command ufs-stream selects features from files that are too big for memory. It reads the files once, stores small
// statistics of them, and ranks the features by these statistics.
//
// Each verb has a file in this folder. The file names the parts of a request that the verb takes, declares further flags
// of its own, checks them, and calls package ufs for the computation and package print for the output. The flags of a
// request come from the table of options in package request, and the flags of method options from the methods.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/progress"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// cli holds the state that all verbs share: streams, arguments and settings of the output.
type cli struct {
	in            io.Reader
	out           *program.Writer // results
	errPage       *screen.Page    // warnings, remarks and errors
	terminal      io.Writer       // the writer under errPage, for progress bars
	args          []string
	quiet         bool
	verbose       bool
	progress      choiceFlag
	messages      choiceFlag
	defaultsTaken []string // defaults from the environment or a file, redacted
	restoreMemory func()   // removes the memory limit of the process
}

func main() { program.Main(run) }

// run runs the whole program and returns the exit code. After it returns, at most one of its goroutines may still
// exist: a read from standard input that waits for data.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	isTerminal := progress.IsTerminal(out)
	if isTerminal {
		out = screen.NewWriter(out)
	}
	c := &cli{in: program.InterruptibleReader(ctx, in), out: program.NewWriter(out, "standard output"), errPage: screen.NewPage(errw), terminal: errw, args: args, restoreMemory: func() {}}
	defer func() { c.restoreMemory() }()
	root := newRoot(c)
	if isTerminal && len(args) == 0 {
		root.RunE = func(*cobra.Command, []string) error { return writeFirstSteps(c.out) }
	}
	return program.Program{Root: root, Out: c.out, Err: c.errPage, Resume: c.printHowToResume, Retry: c.printRetry, AsJSON: c.writesJSON, Remedy: c.findRemedy, WriteHelpJSON: c.writeHelpJSON}.Run(ctx, args)
}

func newRoot(c *cli) *cobra.Command {
	c.progress = newChoiceFlag(progress.Modes()[0], progress.Modes()...)
	c.messages = newChoiceFlag("text", "text", "json")
	if findMessageFormat(c.args) == "json" {
		c.messages.value = "json"
	}
	root := &cobra.Command{
		Use:   "ufs-stream",
		Short: "Select features from data too big for memory",
		Long: `ufs-stream reads Parquet, Arrow, CSV, NDJSON, NumPy or Avro files once, keeps small statistics that
add up over files, shards and machines, and selects the features that explain the rest.
The files may lie on disk or in object stores (s3://, gs://, azblob://, https://), in
folders of partitions (day=2026-01-31) or Delta tables.

  ufs-stream demo                                  see it work, needs nothing
  ufs-stream select data/*.parquet -k 50           the main job
  ufs-stream plan data/*.parquet -k 50             what that would cost
  ufs-stream select data -k 50 -o sel.json && ufs-stream apply data --selection sel.json -o small.parquet

ufs-stream help methods says which method when.

A flag that is not given takes the value of its variable, such as UFS_STREAM_MEMORY_LIMIT for
--memory-limit, else that of its line in --config FILE, else its default; -v shows the source.
An existing file at an output's path is replaced, at once and whole; standard error reports it.
URLs are shown and recorded without possible secrets: names, passwords, and all after ? and #.
If a command is shown to continue a run, add them again.

Exit codes:
` + program.ExitCodes,
	}
	program.MakeGroup(root, "verb")
	program.AddVersionFlag(root, ufs.Release)
	pf := root.PersistentFlags()
	pf.BoolVarP(&c.quiet, "quiet", "q", false, "no progress and no warnings on standard error")
	pf.BoolVarP(&c.verbose, "verbose", "v", false, "print more: passes, times, memory, why features were dropped")
	pf.String("config", "", "take defaults of flags from `FILE`, one a line, as memory-limit: 4GiB. Variables such as UFS_STREAM_MEMORY_LIMIT override them, and given flags override both")
	pf.Var(&c.progress, "progress", "progress on standard error: auto, tty, json (one object a line), off")
	pf.Var(&c.messages, "messages", "errors, warnings and remarks on standard error: text, or json (one object a line; progress then is json or off)")
	pf.Lookup("messages").DefValue = "text"
	root.AddCommand(newVerbs(c)...)
	if len(c.args) > 0 && (c.args[0] == cobra.ShellCompRequestCmd || c.args[0] == cobra.ShellCompNoDescRequestCmd) {
		registerCompletions(root) // cobra keeps these functions, and with them root, until the process ends; so register them only for completion
	}
	setShortHelp(c, root)
	applyDefaultsToVerbs(c, root)
	return root
}

func newVerbs(c *cli) (commands []*cobra.Command) {
	verbs := []struct {
		name  string
		build func(*cli) *cobra.Command
	}{
		{"inspect", newInspect}, {"plan", newPlan}, {"scan", newScan}, {"merge", newMerge}, {"select", newSelect}, {"path", newPath},
		{"apply", newApply}, {"convert", newConvert}, {"eval", newEval}, {"explain", newExplain}, {"redundancy", newRedundancy}, {"matrix", newMatrix},
		{"diff", newDiff}, {"check", newCheck}, {"tree", newTree}, {"report", newReport}, {"demo", newDemo},
		{"completion", newCompletion}, {"version", newVersion}, {"methods", newGuide}, {"man", newMan},
	}
	for i, verb := range verbs { // the flags of all verbs would double the time of a start
		if len(c.args) > 0 && c.args[0] == verb.name {
			verbs = verbs[i : i+1]
			break
		}
	}
	for _, verb := range verbs {
		commands = append(commands, verb.build(c))
	}
	return commands
}

// maxWarnings is the largest number of warnings without -v.
const maxWarnings = 10

// warn writes warnings to standard error, but not with -q. Without -v it writes only the first few warnings.
func (c *cli) warn(warnings []string) {
	if c.quiet {
		return
	}
	for i, w := range stream.WarningsBySeverity(warnings) {
		if i == maxWarnings && !c.verbose && len(warnings) > maxWarnings+1 {
			c.writeMessage(program.EventWarning, "and %d more warnings; -v shows them", len(warnings)-i)
			break
		}
		c.writeMessage(program.EventWarning, "%s", w)
	}
}

func (c *cli) writeMessage(event, format string, args ...any) {
	switch {
	case c.writesJSON():
		program.Message{Event: event, Message: fmt.Sprintf(format, args...)}.WriteJSON(c.errPage)
	case event == program.EventWarning:
		c.errPage.Printf("warning: "+format+"\n", args...)
	default:
		c.errPage.Printf(format+"\n", args...)
	}
}

func (c *cli) writesJSON() bool { return c.messages.value == "json" }

// findMessageFormat returns the value of --messages in arguments that need not be right in other respects, or else the value
// of its variable. So mistakes in other flags are reported in this form too.
func findMessageFormat(args []string) string {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.ParseErrorsAllowlist.UnknownFlags = true
	fs.SetOutput(io.Discard)
	fs.BoolP("help", "h", false, "")
	format := fs.String("messages", os.Getenv(variableName("messages")), "")
	_ = fs.Parse(args) // the flags before a mistake are known
	return *format
}

// printRemark writes a remark to standard error, but not with -q.
func (c *cli) printRemark(format string, args ...any) {
	if !c.quiet {
		c.writeMessage(program.EventNote, format, args...)
	}
}

func (c *cli) printRemarkIfVerbose(format string, args ...any) {
	if c.verbose {
		c.printRemark(format, args...)
	}
}

func (c *cli) printTextIfVerbose(t stream.Text) {
	c.printRemarkIfVerbose("%s", t.Spell(program.FlagOf))
}

func (c *cli) printTransferIfVerbose(t *stream.Transfer) {
	if t != nil {
		c.printRemarkIfVerbose("%s from object stores", print.TransferText(*t))
	}
}

// reportRun prints, with -v, the passes, the time and the memory of a run, and then its warnings.
func (c *cli) reportRun(passes int, t stream.Timing, m stream.Memory, warnings []string) {
	for _, line := range print.DescribeCosts(passes, t, m) {
		c.printRemarkIfVerbose("%s", line)
	}
	c.warn(warnings)
}

// printHowToResume prints the command that continues an interrupted run from its saved progress.
func (c *cli) printHowToResume(err error) {
	var saved *ufs.Interrupted
	switch {
	case !errors.As(err, &saved):
	case errors.As(err, new(*stream.MemoryError)):
		c.errPage.Printf("finished work is kept in %s; the same command with a higher limit continues from it\n", saved.Checkpoint)
	default:
		c.errPage.Printf("progress is saved in %s; continue with:\n", saved.Checkpoint)
		c.printCommand(c.args)
	}
}

func (c *cli) printRetry(args []string) {
	if !c.quiet && c.progress.value != "json" { // programs that read standard error take no advice
		c.errPage.Printf("try:\n")
		c.printCommand(args)
	}
}

func (c *cli) printCommand(args []string) {
	command, hidden := quoteCommand(args)
	c.errPage.Printf("  %s\n", command)
	if hidden {
		c.errPage.Printf("the URLs are shown without possible secrets: give them as before\n")
	}
}

// findRemedy returns the remedy of an error for messages in JSON: in words if the run kept its work, and as a command
// if the same one may now succeed, or the one with the arguments retry. A command that has secrets is left out.
func (c *cli) findRemedy(err error, retry []string) (words, command string) {
	saved, isSaved := errors.AsType[*ufs.Interrupted](err)
	if isSaved {
		words = fmt.Sprintf("finished work is kept in %s; the command continues from it", saved.Checkpoint)
	}
	if retry == nil && (isSaved || stream.Temporary(err)) {
		retry = c.args
	}
	if text, hidden := quoteCommand(retry); retry != nil && !hidden {
		command = text
	}
	return words, command
}

func quoteCommand(args []string) (command string, hidden bool) {
	args, hidden = redactArgs(args)
	return shell.Quote(append([]string{os.Args[0]}, args...)...), hidden
}

// redactArgs replaces the secrets in arguments, and reports whether there were any. This is needed because terminals
// are logged, and URLs may contain signatures and passwords.
func redactArgs(args []string) (shown []string, hidden bool) {
	shown = convert.Each(args, screen.Redact)
	return shown, !slices.Equal(args, shown)
}

func newVersion(c *cli) *cobra.Command {
	format := newChoiceFlag("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version, Go version and platform",
		Args:  program.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format.value == "json" {
				return print.WriteJSON(c.out, program.CurrentBuild(ufs.Release))
			}
			return program.PrintVersion(cmd, ufs.Release)
		},
	}
	cmd.Flags().Var(&format, "format", strings.Join(format.allowed, ", "))
	return cmd
}

func versionText() string { return program.CurrentBuild(ufs.Release).VersionText() }

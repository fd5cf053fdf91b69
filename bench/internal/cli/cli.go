// Package cli has the parts that all verbs of the bench use: the root command, the outputs and the parsing of numbers.
package cli

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// Shared has the settings and outputs that all verbs share.
type Shared struct {
	Out   *program.Writer // results
	Err   io.Writer       // everything else
	Quiet bool
	args  []string
}

// Verb returns the command of a verb of the bench.
type Verb func(*Shared) *cobra.Command

// Run runs the bench with some verbs and returns the exit code.
func Run(ctx context.Context, args []string, out, errw io.Writer, verbs ...Verb) int {
	c := &Shared{args: args, Out: program.NewWriter(out, "standard output"), Err: errw}
	root := &cobra.Command{
		Use:   programName,
		Short: "Make data for ufs-stream, and measure it",
		Long: `ufs-stream-bench makes data and measures ufs-stream on it. In the project's folder,
"go run ./bench" is the same program.

  ufs-stream-bench quality --label class FOLDER…   which method chooses best on your sets
  ufs-stream-bench gen planted -o planted.parquet  a table with a known right selection
  ufs-stream-bench scale                           time, rows/s and peak memory over sizes

A verb that measures the program ufs-stream takes the FILE of --binary. By default it builds
ufs-stream in the project's folder, and elsewhere takes the one in its own folder or in PATH.

Exit codes:
` + program.ExitCodes,
	}
	program.MakeGroup(root, "verb")
	program.AddVersionFlag(root, ufs.Release)
	root.PersistentFlags().BoolVarP(&c.Quiet, "quiet", "q", false, "no progress on standard error")
	for _, verb := range verbs {
		root.AddCommand(verb(c))
	}
	return program.Program{Root: root, Out: c.Out, Err: errw}.Run(ctx, args)
}

const programName = "ufs-stream-bench"

// CommandLine returns the shell command that reproduces the results.
func (c *Shared) CommandLine() string {
	command := []string{"go", "run", "./bench"}
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == programName {
		command = []string{programName}
	}
	return shell.Quote(append(command, c.args...)...)
}

// RemarksWriter returns the writer for progress messages.
func (c *Shared) RemarksWriter() io.Writer {
	if c.Quiet {
		return io.Discard
	}
	return c.Err
}

// WholeNumbers parses the values of a flag as whole numbers such as 1000 and 1e4. It sorts them and removes
// repetitions.
func WholeNumbers(flag string, words []string) ([]int64, error) {
	var numbers []int64
	for _, w := range words {
		v, err := strconv.ParseFloat(strings.TrimSpace(w), 64)
		if err != nil || v < 1 || v != math.Trunc(v) || v > 1e12 {
			return nil, stream.Usagef("--%s %s: want whole numbers from 1 on, as 1000 or 1e4", flag, w)
		}
		numbers = append(numbers, int64(v))
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

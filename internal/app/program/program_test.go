package program

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// toy is a program with one verb, which does whatever work does.
func toy(ctx context.Context, out io.Writer, work func(out io.Writer) error, args ...string) (code int, said string) {
	var errw strings.Builder
	p := Program{
		Root: &cobra.Command{Use: "toy"}, Out: NewWriter(out, "standard output"), Err: &errw,
		Resume: func(error) { errw.WriteString("go on\n") },
	}
	MakeGroup(p.Root, "verb")
	verb := &cobra.Command{Use: "work", Args: NoArgs, RunE: func(*cobra.Command, []string) error { return work(p.Out) }}
	verb.Flags().Int("count", 0, "")
	verb.Flags().Var(new(Bytes), "size", "")
	p.Root.AddCommand(verb)
	return p.Run(ctx, args), errw.String()
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestRunReportsEveryKindOfEnd(t *testing.T) {
	fails := func(err error) func(io.Writer) error { return func(io.Writer) error { return err } }
	done := fails(nil)
	for _, c := range []struct {
		args string
		work func(io.Writer) error
		code int
		says string // all of standard error, or with "…" its beginning
	}{
		{"work", done, exit.Done, ""},
		{"help work", done, exit.Done, ""},
		{"work", fails(stream.Usagef("{k} is too many; see {threads}")), exit.Usage, "toy: -k is too many; see --threads\n"},
		{"work", fails(errors.New("a fault")), exit.Fault, "toy: a fault\n"},
		{"work", fails(&stream.MemoryError{What: "work", Need: 2 << 20, Limit: 1 << 20}), exit.Memory, "toy: work needs 2.0 MiB but the limit is 1.0 MiB; raise it: --memory-limit 2MiB\ngo on\n"},
		{"work", func(io.Writer) error { panic("a bug") }, exit.Fault, "toy: internal fault: a bug\nThis is a bug; …"},
		{"work --count many", done, exit.Usage, "toy: --count many: want a whole number; see toy work --help\n"},
		{"work --size many", done, exit.Usage, "toy: --size many: want a size such as 512MiB or 4GB; see toy work --help\n"},
		{"work --cuont 1", done, exit.Usage, "toy: unknown flag: --cuont; did you mean --count?\n"},
		{"work --zzz 1", done, exit.Usage, "toy: unknown flag: --zzz; see toy work --help\n"},
		{"work x", done, exit.Usage, "toy: work takes no argument, got \"x\"; usage: toy work [flags]\n"},
		{"worc --count 1", done, exit.Usage, "toy: unknown verb \"worc\"; did you mean work?\n"},
		{"help worc", done, exit.Usage, "toy: unknown verb \"worc\"; did you mean work?\n"},
		{"zzz", done, exit.Usage, "toy: unknown verb \"zzz\"; see toy --help\n"},
	} {
		code, said := toy(t.Context(), io.Discard, c.work, strings.Fields(c.args)...)
		start, isStart := strings.CutSuffix(c.says, "…")
		if code != c.code || !strings.HasPrefix(said, start) || !isStart && said != start {
			t.Errorf("%s: exit code %d, %q; want %d, %q", c.args, code, said, c.code, c.says)
		}
	}
}

// An output that cannot be written is exit code 1, also where the verb does not look.
func TestRunWithBrokenOutput(t *testing.T) {
	writes := 0
	work := func(out io.Writer) error {
		for range 3 {
			if _, err := io.WriteString(out, "result"); err != nil {
				writes++
			}
		}
		return nil
	}
	code, said := toy(t.Context(), brokenPipe{}, work, "work")
	if code != exit.Fault || said != "toy: cannot write standard output: broken pipe\n" || writes != 3 {
		t.Errorf("exit code %d, %q, %d failed writes", code, said, writes)
	}
}

// An interruption hides the errors that it causes, except that an output was not written.
func TestRunInterrupted(t *testing.T) {
	for _, c := range []struct {
		err  error
		says string
	}{
		{stream.Usagef("half done"), "toy: interrupted\ngo on\n"},
		{&stream.OutputError{Path: "out", Err: errors.New("disk full")}, "toy: interrupted\ngo on\ntoy: cannot write out: disk full\n"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		code, said := toy(ctx, io.Discard, func(io.Writer) error { cancel(); return c.err }, "work")
		if code != exit.Interrupted || said != c.says {
			t.Errorf("%v: exit code %d, %q", c.err, code, said)
		}
	}
}

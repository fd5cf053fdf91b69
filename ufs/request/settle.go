package request

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// KeepStdin lets all runs that are made from the request open standard input. Unless the caller keeps the scratch file
// of standard input, the first of these runs to end releases it.
func KeepStdin(q *Request) {
	if _, isKept := q.Input.Stdin.(*chunkio.Stdin); !isKept {
		q.stdin = chunkio.NewStdin(q.Input.Stdin)
		q.Input.Stdin = q.stdin
	}
}

// ReleaseStdin removes the scratch file of standard input, unless the caller keeps it. Nothing reads the file any
// more, so an error does no harm.
func ReleaseStdin(q *Request) {
	if q.stdin != nil {
		q.stdin.Close()
	}
}

// FetchOptions returns the options for fetching documents of the request, such as a selection.
func (q *Request) FetchOptions() chunkio.FetchOptions {
	return chunkio.FetchOptions{Anonymous: q.Input.Anonymous, Meter: q.Hooks.Meter, Memory: q.Limits.Memory, Temp: ScratchOptions(q)}
}

// ScratchOptions returns the options of scratch files under the limits of q.
func ScratchOptions(q *Request) scratch.Options {
	return scratch.Options{Dir: q.Limits.TempDir, Limit: q.Limits.MaxScratch, Ledger: q.ledger}
}

// SettleInput checks the options of q for reading, and fills in their defaults.
func SettleInput(q *Request) error {
	KeepStdin(q)
	if q.Columns.Sparse == "" {
		acceptsMaps := q.Input.Plan == "" && len(q.Columns.Names)+len(q.Columns.Exclude) == 0 && q.Columns.Categorical == ""
		q.Columns.Sparse = chunkio.DefaultSparse(context.Background(), q.Input.Paths, q.Input.Stdin, acceptsMaps)
	}
	if q.Columns.Sparse != "" && len(q.Columns.Names)+len(q.Columns.Exclude) > 0 {
		return stream.Usagef("{sparse} takes all features of the lists; {-columns} and {-exclude} do not go with it")
	}
	q.Columns.Missing = cmp.Or(q.Columns.Missing, MissingMean)
	if !slices.Contains(MissingPolicies(), q.Columns.Missing) {
		return stream.Usagef("{missing} %s: want %s%s", q.Columns.Missing, strings.Join(MissingPolicies(), ", "), suggest.DidYouMean(q.Columns.Missing, MissingPolicies()))
	}
	return checkColumnOptions(q)
}

func checkColumnOptions(q *Request) error {
	if q.Columns.MissingIndicators && q.Stats == "" && !slices.Contains(KeptMissing(), q.Columns.Missing) {
		return stream.Usagef("{missing-indicators} is for missing values that are filled in, and {missing} %s leaves none; choose {missing mean}, zero or pairwise", q.Columns.Missing)
	}
	if q.Columns.Categorical == categoricalNone {
		q.Columns.Categorical = ""
	}
	if q.Columns.Categorical != "" && q.Columns.Sparse != "" {
		return stream.Usagef("{categorical} is for columns, and {sparse} rows number theirs")
	}
	if q.Columns.Categories != "" {
		if err := checkCategoriesJSON(q.Columns.Categories); err != nil {
			return stream.Errorf("{categorical}: %w", err)
		}
	}
	if err := CheckRowScale(q); err != nil {
		return err
	}
	for _, o := range options {
		if isOn, isSwitch := o.field(q).(*bool); isSwitch && *isOn && o.HasRole(MakesFeatures) && q.Columns.Sparse != "" {
			return stream.Usagef("%v is for columns, and {sparse} rows number theirs", stream.Option(o.Name))
		}
	}
	return nil
}

// FillLimits checks the numbers of q against their bounds, and fills in the default limits, seed and meter.
func FillLimits(q *Request) error {
	if err := CheckBounds(q, options, nil); err != nil {
		return err
	}
	if q.Limits.Threads == 0 {
		q.Limits.Threads = runtime.GOMAXPROCS(0)
	}
	q.Limits.Memory = cmp.Or(q.Limits.Memory, defaultMemory)
	if q.ledger == nil {
		q.ledger = new(scratch.Ledger)
	}
	q.Choice.Seed = cmp.Or(q.Choice.Seed, 1)
	if q.Hooks.Meter == nil {
		q.Hooks.Meter = new(stream.Meter)
	}
	return nil
}

// maxThreads is a limit far above any real use. The Go runtime would need minutes to set up a million threads.
const maxThreads = 1024

// NamedCheckpoint returns the folder of checkpoints that q names; empty if q leaves the choice to the run or wants none.
func NamedCheckpoint(q *Request) string {
	if q.Checkpoint.Folder == AutoCheckpoint || q.Checkpoint.Folder == NoCheckpoint {
		return ""
	}
	return q.Checkpoint.Folder
}

// CheckTempFolder returns an error if dir is given and is not a folder.
func CheckTempFolder(dir string) error {
	if dir != "" {
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return &stream.OutputError{Path: dir, Err: errors.New("no such folder"), Remedy: stream.Textf("create it, or choose another {temp-dir}")}
		}
	}
	return nil
}

// RefuseInputAsOutput refuses an Output that is also an input: one of the files that q names, or one of moreInputs.
// Files in the folders, globs and lists of q are compared later, when they are found ([chunkio.Dataset.NotInput]).
func RefuseInputAsOutput(ctx context.Context, q *Request, moreInputs ...string) error {
	if q.Output == "" {
		return nil
	}
	return atomicfile.CheckNotInput(ctx, q.Output, append(namedFiles(q), moreInputs...)...)
}

func namedFiles(q *Request) []string {
	files := []string{q.Input.Plan, q.Stats}
	for _, in := range q.Input.Paths {
		files = append(files, strings.TrimPrefix(in, "@"))
	}
	values := ListOptions(q, ShapesAnswer)
	for option := range q.Choice.Options {
		values[option] = q.Choice.Options.Text(option)
	}
	for option, text := range values {
		if NamesFile(option, text) {
			files = append(files, text)
		}
	}
	return slices.DeleteFunc(files, func(file string) bool { return file == "" })
}

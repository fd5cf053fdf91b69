package request

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Suspicious columns, such as identifiers, should not be features. They are recognised from counts (hygiene.Facts) that
// every pass gathers with its statistics. For methods on the Gram matrix or a profile, suspicious columns are removed
// from the gathered statistics. Graph methods and methods over rows need to know these columns before the statistics
// are gathered, so a profile pass over the whole input finds them first.

// MissingShareToWarn is the share of missing values above which a column gets a warning.
const MissingShareToWarn = 0.5

// ExcludesSuspects reports whether q leaves out columns that otherwise only get a warning.
func ExcludesSuspects(q *Request) bool { return q.Columns.AutoExclude || q.Columns.MaxMissing > 0 }

// RefuseExclusion refuses AutoExclude and MaxMissing for commands that make statistics. Statistics keep all columns,
// and the counts with which a later selection can find suspicious columns.
func RefuseExclusion(q *Request, verb string) error {
	if ExcludesSuspects(q) {
		return stream.Usagef("{auto-exclude} and {max-missing}: a %s keeps all columns, and what tells which to leave out; ask it of select with {stats}", verb)
	}
	return nil
}

// MaxMissingShare returns the share of missing values above which a column is left out or gets a warning.
func MaxMissingShare(q *Request) float64 {
	if q.Columns.MaxMissing > 0 {
		return q.Columns.MaxMissing
	}
	return MissingShareToWarn
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
	files := []string{q.Plan, q.Stats}
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

// maxThreads is a limit far above any real use. The Go runtime would need minutes to set up a million threads.
const maxThreads = 1024

// NamedCheckpoint returns the folder of checkpoints that q names; empty if q leaves the choice to the run or wants none.
func NamedCheckpoint(q *Request) string {
	if q.Checkpoint.Folder == AutoCheckpoint || q.Checkpoint.Folder == NoCheckpoint {
		return ""
	}
	return q.Checkpoint.Folder
}

// FillFromPlan copies from p the options that q leaves open. It copies the scale and the options of a method only if q
// does not name another method.
func FillFromPlan(q *Request, p Request) {
	if len(q.Columns.Names)+len(q.Columns.Exclude) > 0 {
		p.Columns.Names, p.Columns.Exclude = nil, nil
	}
	switch q.Columns.Categorical {
	case "", p.Columns.Categorical:
		q.Columns.Categories = "" // all parts have the categories of the plan
	default:
		p.Columns.Categories = ""
	}
	FillOptions(q, &p, FrozenByPlan)
	if q.Choice.Method != "" && q.Choice.Method != p.Choice.Method {
		return
	}
	q.Choice.Method = p.Choice.Method
	FillOptions(q, &p, FollowsMethod)
	own := q.Choice.Options
	q.Choice.Options = maps.Clone(p.Choice.Options)
	maps.Copy(q.Choice.Options, own)
}

// Beginnings and special values of Choice.Groups. Other values are names of files or contents of such files.
const (
	GroupsPrefix = "prefix:"
	GroupsRegex  = "regex:"
	GroupsLists  = "lists"
)

// IsJSON reports whether text can be a JSON object, i.e. begins with a brace.
func IsJSON(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// isKindOf reports whether the text of an option equals one of the kinds, or begins with one that ends with a colon.
func isKindOf(text string, kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		return text == kind || strings.HasSuffix(kind, ":") && strings.HasPrefix(text, kind)
	})
}

// NamesFile reports whether the text of an option names a file. Text for groups names a file if it is neither JSON nor
// of a kind such as prefix:. Text for costs names a file if it is not JSON, and text for a tree if it is of no kind,
// whatever its ending. Text for anchors always names a file.
func NamesFile(option, text string) bool {
	switch option {
	case "groups", "costs":
		return text != "" && !IsJSON([]byte(text)) && (option == "costs" || !isKindOf(text, GroupsPrefix, GroupsRegex, GroupsLists))
	case "anchors-file":
		return text != ""
	case "tree":
		return text != "" && !isKindOf(text, GroupsPrefix, "image", "correlation") // trees use prefix: too
	}
	return false
}

// FillLimits checks the limits of q and fills in their defaults, also the seed and the meter.
func FillLimits(q *Request) error {
	if q.Limits.Threads < 0 || q.Limits.Threads > maxThreads {
		return stream.Usagef("{threads} %d: want 0 (one for each core) up to %d", q.Limits.Threads, maxThreads)
	}
	if q.Limits.Threads == 0 {
		q.Limits.Threads = runtime.GOMAXPROCS(0)
	}
	if q.Limits.Memory < 0 {
		return stream.Usagef("{memory-limit} %d: want a number of bytes", q.Limits.Memory)
	}
	if q.Limits.MaxScratch < 0 {
		return stream.Usagef("{max-temp-size} %d: want a number of bytes", q.Limits.MaxScratch)
	}
	if q.Checkpoint.Every < 0 {
		return stream.Usagef("{checkpoint-every} %v: want a time above 0", q.Checkpoint.Every)
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

// SettleInput checks the options of q for reading, and fills in their defaults.
func SettleInput(q *Request) error {
	KeepStdin(q)
	if q.SampleRows < 0 {
		return stream.Usagef("{rows} %d: want 0 (all) or more", q.SampleRows)
	}
	if q.Columns.Sparse == "" {
		q.Columns.Sparse = chunkio.DefaultSparse(q.Input.Paths)
	}
	if q.Columns.Sparse == "" && q.Plan == "" && len(q.Columns.Names)+len(q.Columns.Exclude) == 0 && q.Columns.Categorical == "" {
		q.Columns.Sparse = chunkio.SniffSparse(context.Background(), q.Input.Paths)
	}
	if q.Columns.Sparse != "" && len(q.Columns.Names)+len(q.Columns.Exclude) > 0 {
		return stream.Usagef("{sparse} takes all features of the lists; {columns} and {exclude} do not go with it")
	}
	q.Columns.Missing = cmp.Or(q.Columns.Missing, MissingMean)
	if !slices.Contains(MissingPolicies(), q.Columns.Missing) {
		return stream.Usagef("{missing} %s: want %s%s", q.Columns.Missing, strings.Join(MissingPolicies(), ", "), suggest.DidYouMean(q.Columns.Missing, MissingPolicies()))
	}
	return checkColumnOptions(q)
}

// MissingPolicy returns the policy that the source applies to missing entries. Under mean, pairwise and (for dense
// rows) zero, the source reads NaN, and the statistics fill these entries.
func MissingPolicy(q *Request) stream.MissingPolicy {
	switch q.Columns.Missing {
	case MissingDropRow:
		return stream.MissingDropRow
	case MissingZero:
		if q.Columns.Sparse != "" { // in sparse rows, absent entries are 0
			return stream.MissingZero
		}
		return stream.MissingKeep
	case MissingMean, MissingPairwise:
		return stream.MissingKeep
	}
	return stream.MissingError
}

// MissingFill returns the values that replace missing entries under the policy of q.
func MissingFill(q *Request) gram.Fill {
	switch q.Columns.Missing {
	case MissingZero:
		return gram.FillZero
	case MissingPairwise:
		return gram.FillPairwise
	}
	return gram.FillMean
}

// IsSinglePassStream reports whether the input is a stream of Arrow IPC on standard input that can be read only once,
// because there is no folder to keep it in.
func IsSinglePassStream(q *Request) bool {
	if q.Limits.TempDir != "" || !slices.Contains(q.Input.Paths, "-") {
		return false
	}
	in, ok := q.Input.Stdin.(*chunkio.Stdin)
	return ok && in.Stream()
}

package method

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Settings maps names of options to values. A value is a number, a boolean or a text, which comes from the record of a
// run or from a user. If an option has several values, each for a selection of its own, they are a []float64.
type Settings map[string]any

// Text returns the value of an option as text. Whole numbers are written without an exponent.
func (s Settings) Text(name string) string {
	switch v := s[name].(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64) // options for whole numbers do not accept 1e+06
	case []float64: // several values of a path
		list := make([]string, len(v))
		for i, x := range v {
			list[i] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		return strings.Join(list, ",")
	default:
		return fmt.Sprint(v)
	}
}

// Bound is a method made from its Spec, with the options that set it up.
type Bound struct {
	Spec
	Solver           Method
	Options          *Options
	Anchors          Anchors // for FromGraph methods
	Sample           int64   // number of rows to draw, for FromRows methods; 0 means all rows
	GraphRows        int     // number of rows to sample, for methods that use a sample; 0 means [SurveyRows]
	RequireConverged bool
}

// DefaultSample is the number of rows that FromRows methods draw by default, unless their Spec has another.
const DefaultSample = 10_000

const (
	// mostSurveyRows is the default number of sampled rows. With 2,000 sampled rows, clusters of the rows by the chosen 5
	// % of the features had an NMI with the classes of 48.0 % on mnist10k and 50.7 % on usps; with all rows, 47.8 % and
	// 51.9 %.
	mostSurveyRows = 2000
	// mostSurveyValues bounds the number of values in a sample (256 MiB). A sample of many columns still has
	// leastSurveyRows rows. The bound does not depend on the memory limit, because limits must not change results.
	mostSurveyValues = 1 << 25
	leastSurveyRows  = 500
)

// SurveyRows returns the default number of rows in a sample of rows with d columns.
func SurveyRows(d int) int {
	return max(min(mostSurveyRows, mostSurveyValues/max(d, 1)), leastSurveyRows)
}

// Declare makes the method, and declares its own options and the options that From and Takes imply.
func (s Spec) Declare() *Bound {
	b := &Bound{Spec: s, Solver: s.New(), Options: new(Options)}
	switch s.From {
	case FromGraph:
		b.Anchors.Declare(b.Options)
		b.Anchors.DeclareFile(b.Options)
	case FromRows:
		b.Options.Int64(&b.Sample, "sample", cmp.Or(s.Rows, DefaultSample),
			"iterate over a seeded sample of `N` rows; 0: all rows, in memory where they fit, else out of core, with the same result; sparse rows are converted to dense ones; from statistics: all sampled rows in them, or N of these").
			Bound(func() bool { return b.Sample >= 0 }, "want a number of rows, 0 for all")
	}
	if s.Takes.Sample {
		b.Options.Int(&b.GraphRows, "graph-rows", 0, fmt.Sprintf("look at a seeded sample of `N` rows for the graph (default: %d; fewer of more than %d columns)", mostSurveyRows, mostSurveyValues/mostSurveyRows)).
			Bound(func() bool { return b.GraphRows >= leastSurveyRows && b.GraphRows <= anchor.MostSampled }, stream.Textf("want %d to %d", leastSurveyRows, anchor.MostSampled).String())
	}
	if s.Takes.Iterates {
		b.Options.Bool(&b.RequireConverged, "require-converged", "fail unless the iteration converged; the result is written all the same")
	}
	b.Solver.Options(b.Options)
	return b
}

// Bind makes the method and sets its options to the values in settings. An error is a *stream.UsageError.
func (s Spec) Bind(settings Settings) (*Bound, error) {
	b := s.Declare()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		opt := b.Options.Find(name)
		if opt == nil {
			return nil, stream.Usagef("%v is not for method %s", stream.Option(name), s.Name)
		}
		if err := opt.setFromText(settings.Text(name)); err != nil {
			return nil, err
		}
	}
	for _, rule := range b.Options.checks {
		if err := rule(b.IsGiven); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// IsGiven reports whether an option was among the settings.
func (b *Bound) IsGiven(name string) bool {
	opt := b.Options.Find(name)
	return opt != nil && opt.isSet
}

// Single returns an error if an option has several weights. These are only for a path, which selects for each of them.
func (b *Bound) Single(settings Settings) error {
	for _, opt := range b.Options.list {
		if opt.Type != "NUMBERS" || !opt.isSet {
			continue
		}
		var w Weights
		if err := w.Set(settings.Text(opt.Name)); err == nil && len(w) > 1 {
			return stream.Usagef("%v has %d values; select takes one, path takes several", stream.Option(opt.Name), len(w))
		}
	}
	return nil
}

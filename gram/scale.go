package gram

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Scale defines how a column's values enter the matrix A that selectors see: a = (x - shift)·factor. The zero value
// is ScaleNone.
type Scale int

// Each constant is a scale, with the expression that replaces a column's value x.
const (
	ScaleNone     Scale = iota // x
	ScaleCenter                // x - mean
	ScaleMinMax                // (x - min)/(max - min)
	ScaleUnit                  // x/‖x‖
	ScaleStandard              // (x - mean)/sd, divisor n (Σw)
	// ScalePareto is (x - mean)/√sd. It lies between raw and standard values: a feature's variance becomes its
	// standard deviation (van den Berg et al., Centering, scaling, and transformations, BMC Genomics 2006).
	ScalePareto
	// ScaleRank means centred normal scores. The rows are mapped by [Scores] before any statistics are computed, and
	// then only need centring (van der Waerden scores, for which an outlier counts no more than the largest value;
	// nonparanormal: Liu, Lafferty, Wasserman, The nonparanormal, JMLR 2009).
	ScaleRank
)

var scaleNames = [...]string{"none", "center", "minmax", "unit", "standard", "pareto", "rank"}

// String returns the name that [ParseScale] accepts.
func (s Scale) String() string { return scaleNames[s] }

func (s Scale) centresValues() bool {
	return s == ScaleCenter || s == ScaleStandard || s == ScalePareto || s == ScaleRank
}

// ParseScale is the inverse of String. For other names it returns a *stream.UsageError.
func ParseScale(name string) (Scale, error) { return parseName[Scale]("scale", name, scaleNames[:]) }

// Fill is the value that replaces missing entries.
type Fill int

// Each constant is a way to fill missing entries.
const (
	FillMean Fill = iota // the column's mean over the whole input's observed entries
	FillZero             // 0, before scaling
	// FillPairwise fills nothing. A product of two columns is over the rows in which both are observed, scaled up to
	// all rows (see pairwise.go).
	FillPairwise
)

var fillNames = [...]string{"mean", "zero", "pairwise"}

// String returns the name that [ParseFill] accepts.
func (f Fill) String() string { return fillNames[f] }

// ParseFill is the inverse of String. For other names it returns a *stream.UsageError.
func ParseFill(name string) (Fill, error) { return parseName[Fill]("missing", name, fillNames[:]) }

func parseName[T ~int](option, name string, names []string) (T, error) {
	if i := slices.Index(names, name); i >= 0 {
		return T(i), nil
	}
	return 0, stream.Usagef("{"+option+"} %q: want %s", name, strings.Join(names, ", "))
}

package gram

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Scale defines how a column's values enter the matrix A that selectors see: a = (x - shift)·factor. The zero value
// is ScaleNone.
type Scale int

// Each constant is a scale. Its comment is the expression that replaces a value x of a column.
const (
	ScaleNone     Scale = iota // x
	ScaleCenter                // x - mean
	ScaleMinMax                // (x - min)/(max - min)
	ScaleUnit                  // x/‖x‖
	ScaleStandard              // (x - mean)/sd, divisor n (Σw)
	// ScalePareto is (x - mean)/√sd, between unscaled and standardized values: the variance of the scaled feature is its
	// former standard deviation (van den Berg et al., Centering, scaling, and transformations, BMC Genomics 2006).
	ScalePareto
	// ScaleRank means centred normal scores. [Scores] maps the rows before any statistics are computed; later the scores
	// are only centred. (These are van der Waerden scores, for which an outlier counts no more than the largest value; see
	// also nonparanormal: Liu, Lafferty, Wasserman, The nonparanormal, JMLR 2009).
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

// Fill defines the value that replaces missing entries.
type Fill int

// Each constant is a way to fill missing entries.
const (
	FillMean Fill = iota // mean of the column's observed entries in the whole input
	FillZero             // 0, before scaling
	// FillPairwise fills nothing. A product of two columns is computed from the rows in which both are observed, and
	// scaled up to all rows (see finishPairs).
	FillPairwise
)

var fillNames = [...]string{"mean", "zero", "pairwise"}

// String returns the name that [ParseFill] accepts.
func (f Fill) String() string { return fillNames[f] }

// ParseFill is the inverse of String. For other names it returns a *stream.UsageError.
func ParseFill(name string) (Fill, error) { return parseName[Fill]("missing", name, fillNames[:]) }

func parseName[T ~int](option, name string, allowed []string) (T, error) {
	if i := slices.Index(allowed, name); i >= 0 {
		return T(i), nil
	}
	return 0, stream.Usagef("{"+option+"} %q: want %s", name, strings.Join(allowed, ", "))
}

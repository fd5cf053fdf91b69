package gram

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Scale defines how a column's values enter the matrix A that selectors see: a = (x - shift)·factor. The zero value
// is ScaleNone.
type Scale int

// The scales, each with the expression that replaces a column's value x.
const (
	ScaleNone     Scale = iota // x
	ScaleCenter                // x - mean
	ScaleMinMax                // (x - min)/(max - min)
	ScaleUnit                  // x/‖x‖
	ScaleStandard              // (x - mean)/sd, divisor n (Σw)
	// ScalePareto is (x - mean)/√sd: between raw and standard values, so that a feature's variance
	// becomes its standard deviation (van den Berg et al., Centering, scaling, and
	// transformations, BMC Genomics 2006).
	ScalePareto
	// ScaleRank is centred normal scores: the rows are mapped by [Scores] before any statistics see them, and then
	// only need centring (van der Waerden scores, for which a far value is no more than the last; nonparanormal: Liu,
	// Lafferty, Wasserman, The nonparanormal, JMLR 2009).
	ScaleRank
)

var scaleNames = [...]string{"none", "center", "minmax", "unit", "standard", "pareto", "rank"}

// String is the name that [ParseScale] takes.
func (s Scale) String() string { return scaleNames[s] }

func (s Scale) centresValues() bool {
	return s == ScaleCenter || s == ScaleStandard || s == ScalePareto || s == ScaleRank
}

// ParseScale is the inverse of String; other names are a *stream.UsageError.
func ParseScale(name string) (Scale, error) { return parseName[Scale]("scale", name, scaleNames[:]) }

// Fill is the value that replaces missing entries.
type Fill int

// The fills.
const (
	FillMean Fill = iota // the column's mean over the whole input's observed entries
	FillZero             // 0, before scaling
	// FillPairwise fills nothing: a product of two columns is over the rows that have both, scaled up to all rows
	// (see pairwise.go).
	FillPairwise
)

var fillNames = [...]string{"mean", "zero", "pairwise"}

// String is the name that [ParseFill] takes.
func (f Fill) String() string { return fillNames[f] }

// ParseFill is the inverse of String; other names are a *stream.UsageError.
func ParseFill(name string) (Fill, error) { return parseName[Fill]("missing", name, fillNames[:]) }

func parseName[T ~int](option, name string, names []string) (T, error) {
	if i := slices.Index(names, name); i >= 0 {
		return T(i), nil
	}
	return 0, stream.Usagef("{"+option+"} %q: want %s", name, strings.Join(names, ", "))
}

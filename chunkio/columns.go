package chunkio

import (
	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/stream"
)

// AmbiguousError is the usage error if an option contains a name that several columns share.
type AmbiguousError = naming.AmbiguousError

// Reasons of columns left out: Excluded by {exclude}, and NotAskedFor if {columns} does not name the column.
const (
	Excluded    = schema.Excluded
	NotAskedFor = schema.NotAskedFor
)

// SharedName is the reason that a column is not a feature if other columns of its file have the same name.
const SharedName = naming.SharedName

// NoFeatures returns the error that all columns of a file are left out, with the reasons for the first few columns.
func NoFeatures(path string, leftOut []stream.LeftOut) error {
	return schema.NoFeatures(path, leftOut)
}

// IndicatorOf returns the name of the feature that indicates whether the named feature is missing.
func IndicatorOf(name string) string {
	return naming.IndicatorOf(name)
}

// IsIndicator reports whether a name is the result of IndicatorOf.
func IsIndicator(name string) bool {
	return naming.IsIndicator(name)
}

// MatchColumns reports, like Match, which features match a pattern. The name of a block means all its features.
func MatchColumns(option string, patterns []string, columns []stream.Column) ([]bool, error) {
	return naming.MatchColumns(option, patterns, columns)
}

// Match reports for each of the flattened column names whether it matches any of the patterns, by the rules of
// Options.Columns. A pattern that matches no name is a *stream.UsageError. It contains the option and, if any, a
// similar name.
func Match(option string, patterns, names []string) ([]bool, error) {
	return naming.MatchNames(option, patterns, names)
}

// RefuseShared returns an [AmbiguousError] if an option names several of the columns in left, else nil.
func RefuseShared(option string, wanted []string, left []stream.LeftOut) error {
	return naming.RefuseShared(option, wanted, left)
}

// WarnNames warns of columns left out only because they share their names, and of features whose names suggest a label.
func WarnNames(columns []stream.Column, left []stream.LeftOut) (warnings []stream.Text) {
	return naming.WarnNames(columns, left)
}

// OfNames reports whether a warning is one of the warnings that [WarnNames] returns.
func OfNames(warning stream.Text) bool {
	return naming.OfNames(warning)
}

// Restrict applies the options {columns} and {exclude} to statistics with the given feature columns. The parameter left
// contains the columns that the statistics leave out, and decided contains the columns in left that were features until
// the scan saw their values. The result why contains for each feature column the reason for which the new options leave
// it out, or "" if it stays. The result now contains the columns in left with their reasons under the new options. The
// result is the same as after a new scan of the input with these options, except that statistics have no values of the
// columns in left. Therefore the exact name of a column in left that would now be a feature is a *stream.UsageError,
// and a glob skips such columns.
func Restrict(columns []stream.Column, left, decided []stream.LeftOut, include, exclude []string) (why []string, now []stream.LeftOut, err error) {
	return schema.RestrictColumns(columns, left, decided, include, exclude)
}

// TypesAgree returns the common type of a column that has the types a and b in two files, or in two statistics. ok is
// false if these cannot be types of the same column. Numbers and booleans of all widths agree.
func TypesAgree(a, b string) (typ string, ok bool) {
	return catalog.TypesAgree(a, b)
}

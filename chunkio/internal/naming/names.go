package naming

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Some columns cannot be named by a user: columns whose names are not UTF-8, and columns that share their name. They
// are left out, and all other columns can be used. Commands that copy all columns also copy such columns.

// SharedName is the reason that a column is not a feature if other columns of its file have the same name.
const SharedName = "its name is ambiguous, as another column has it: rename one of them"

// LeafName distinguishes the leaves of a file. Nth counts the leaves of the same name before this one.
type LeafName struct {
	Name string
	Nth  int
}

// NoColumn is the value of LeafName.Nth for a leaf that is not a column of the dataset, because it has the name of a
// partition key or because the schema of its table lacks it.
const NoColumn = -1

// NameLeaves names the leaves of a file, and leaves out leaves without a usable name: JSON cannot represent a name that
// is not UTF-8, so a selection of such a column would name a column that the input lacks.
func NameLeaves(leaves []format.Leaf) ([]format.Leaf, []LeafName) {
	names, counts := make([]LeafName, len(leaves)), make(map[string]int, len(leaves))
	for i, l := range leaves {
		names[i] = LeafName{l.Name, counts[l.Name]}
		counts[l.Name]++
	}
	cloned := false
	for i, l := range leaves {
		valid := utf8.ValidString(l.Name)
		if valid && counts[l.Name] == 1 {
			continue
		}
		if !cloned {
			leaves, cloned = slices.Clone(leaves), true
		}
		if valid {
			LeaveOutSharedLeaf(&leaves[i])
		} else {
			markLeafAsLeftOut(&leaves[i], "its name is not UTF-8: rename it")
		}
	}
	return leaves, names
}

// LeaveOutSharedLeaf marks a leaf as no feature, for the reason that other leaves have the same name.
func LeaveOutSharedLeaf(l *format.Leaf) { markLeafAsLeftOut(l, SharedName) }

func markLeafAsLeftOut(leaf *format.Leaf, reason string) {
	leaf.Why, leaf.NoClass, leaf.Refused, leaf.Width, leaf.List = reason, reason, false, 0, false
	leaf.Entries, leaf.NoEntries = "", reason
}

// HaveSharedName reports whether one of the leaves is left out because it shares its name.
func HaveSharedName(leaves ...format.Leaf) bool {
	return slices.ContainsFunc(leaves, func(l format.Leaf) bool { return l.Why == SharedName })
}

func namesSharedByColumns(leftOut []stream.LeftOut) map[string]bool {
	names := map[string]bool{}
	for _, l := range leftOut {
		if l.Why == SharedName {
			names[l.Name] = true
		}
	}
	return names
}

// RefuseShared implements chunkio.RefuseShared: it returns an [AmbiguousError] if an option names several of the
// columns in left, else nil.
func RefuseShared(option string, wanted []string, left []stream.LeftOut) error {
	shared := namesSharedByColumns(left)
	for _, name := range wanted {
		if shared[name] {
			return ErrAmbiguous(option, name)
		}
	}
	return nil
}

// AmbiguousError is the usage error if an option contains a name that several columns share.
type AmbiguousError struct {
	name  string
	usage error
}

// ErrAmbiguous returns the error for an option that contains a shared name.
func ErrAmbiguous(option, name string) error {
	return &AmbiguousError{name, stream.Usagef("%v %s: the name is ambiguous, as several columns have it; rename them", stream.Option(option), name)}
}

func (e *AmbiguousError) Error() string { return e.usage.Error() }

// Unwrap returns the error as a [stream.UsageError].
func (e *AmbiguousError) Unwrap() error { return e.usage }

// OfSelection returns the error for a name in a selection instead of an option: the data at path have several columns
// of this name.
func (e *AmbiguousError) OfSelection(path string) error { return ErrAmbiguousSelection(path, e.name) }

// ErrAmbiguousSelection returns the error for a selection that contains a shared name.
func ErrAmbiguousSelection(path, name string) error {
	err := stream.Dataf(path, "a column of the selection cannot be told from others of its name")
	err.Column, err.Remedy = name, stream.PlainText("rename them")
	return err
}

const sharedWarning, namedWarning = "several columns share a name and are left out", "is used as a feature though its name suggests otherwise"

// WarnNames implements chunkio.WarnNames: it warns of the columns that are left out only because they share their
// names, and of features whose names suggest a label.
func WarnNames(columns []stream.Column, left []stream.LeftOut) (warnings []stream.Text) {
	const shown = 3
	names := namesSharedByColumns(left)
	var words []string
	for _, l := range left {
		if l.Why != SharedName || !names[l.Name] {
			continue
		}
		if len(words) == shown {
			words = append(words, fmt.Sprintf("and %d more", len(names)))
			break
		}
		words = append(words, fmt.Sprintf("%q", l.Name))
		delete(names, l.Name)
	}
	if len(words) > 0 {
		warnings = append(warnings, stream.Textf(sharedWarning+": %s; rename them", strings.Join(words, ", ")))
	}
	for _, c := range columns {
		switch strings.ToLower(c.Name) {
		case "label", "class", "target", "y":
			warnings = append(warnings, stream.Textf("column %q "+namedWarning+"; if it is not one: {label} %[1]s or {exclude} %[1]s", c.Name))
		}
	}
	return warnings
}

// OfNames implements chunkio.OfNames: it reports whether a warning is one of [WarnNames].
func OfNames(warning stream.Text) bool {
	s := warning.String()
	return strings.Contains(s, sharedWarning) || strings.Contains(s, namedWarning)
}

// indicatorPrefix begins the name of a feature that indicates whether another feature is missing.
const indicatorPrefix = "is_missing("

// IndicatorOf implements chunkio.IndicatorOf: it returns the name of the feature that indicates whether the named
// feature is missing.
func IndicatorOf(name string) string { return indicatorPrefix + name + ")" }

// FeatureOfIndicator returns the feature of an indicator.
func FeatureOfIndicator(name string) string { return name[len(indicatorPrefix) : len(name)-1] }

// IsIndicator implements chunkio.IsIndicator: it reports whether a name is the result of IndicatorOf.
func IsIndicator(name string) bool {
	return strings.HasPrefix(name, indicatorPrefix) && strings.HasSuffix(name, ")")
}

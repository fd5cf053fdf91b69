package naming

import (
	"strings"
)

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

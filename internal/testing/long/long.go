// Package long leaves the longest tests to the whole check. go test ./... takes a few minutes without them.
package long

import (
	"os"
	"testing"
)

// variable is set to 1 by .ci/run, which runs all laws in full.
const variable = "UFS_LONG"

// IsOn reports whether laws run in full.
func IsOn() bool { return os.Getenv(variable) == "1" }

// SkipTest skips t unless laws run in full.
func SkipTest(t testing.TB) {
	t.Helper()
	if !IsOn() {
		t.Skip("a long law: set " + variable + "=1")
	}
}

// CountCases returns the number of cases of a law that has too many for every run: all of them in full, few otherwise.
func CountCases(few, all int) int {
	if IsOn() {
		return all
	}
	return few
}

// TakesCase reports whether the case i of a law takes part: every case in full, one of n otherwise.
func TakesCase(i, n int) bool { return IsOn() || i%n == 0 }

// TakeCases returns the cases of a law that take part: all of them in full, one of n otherwise.
func TakeCases[T any](n int, cases []T) (taken []T) {
	for i, c := range cases {
		if TakesCase(i, n) {
			taken = append(taken, c)
		}
	}
	return taken
}

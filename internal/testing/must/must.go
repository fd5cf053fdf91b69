// Package must ends a test at an unexpected error.
package must

import "testing"

// Do ends the test unless err is nil.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call for use in a test. It ends the test if the call failed:
//
//	file := must.Get(os.Open(path))(t)
func Get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

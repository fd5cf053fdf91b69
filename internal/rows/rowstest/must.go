package rowstest

import "testing"

// OK ends the test with an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must returns what gives the value of a call to the test, or ends the test with its
// error: Must(os.Open(name))(t).
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

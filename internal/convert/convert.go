// Package convert makes lists from lists, and patterns from texts.
package convert

// Each returns the list of value(x) for each x of list. It is not nil, even if list is.
func Each[S, T any](list []S, value func(S) T) []T {
	values := make([]T, len(list))
	for i, x := range list {
		values[i] = value(x)
	}
	return values
}

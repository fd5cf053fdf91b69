// Package choice knows the candidates: features and groups of features that can be chosen, with their costs, and the
// candidates that are kept or forbidden.
package choice

// Package refine improves a selection of greedy by exchanging one feature at a time, as long as that lowers the error.
package refine

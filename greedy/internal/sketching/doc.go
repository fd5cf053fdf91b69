// Package sketching selects features by a sketch of the rows, which estimates the Gram matrix. Passes over the rows make
// the choice exact among the candidates that the sketch names; without passes, held-out rows measure the error.
package sketching

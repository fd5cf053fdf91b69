// Package gates has only tests: rules over the whole module that no single package can check.
package gates

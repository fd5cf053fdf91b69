// Package dataset opens the inputs of a run as a [Dataset], the table that all passes of the run read.
package dataset

// Package namelist reads lists of feature names that other programs wrote: text with a name on each line, CSV, or JSON.
// The order of a list is its ranking, unless the list has a column of ranks or scores.
package namelist

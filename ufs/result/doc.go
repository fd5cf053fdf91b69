// Package result holds the results of the verbs of package ufs, which has the same types under the same names. They are
// plain data with the JSON form that the command writes.
package result

// Package groups reads the groups of columns and the costs that a request names, from files, JSON or rules on names.
package groups

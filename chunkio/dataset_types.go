package chunkio

import "github.com/ufs-stream/ufs-stream/chunkio/internal/format"

// TypesAgree is the type of a column that has two types in two files or statistics, and whether
// it is one column at all: numbers and booleans of any width are.
func TypesAgree(a, b string) (typ string, ok bool) { return format.Agree(a, b) }

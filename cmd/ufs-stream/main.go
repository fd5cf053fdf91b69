// Command ufs-stream selects features from files too big for memory: it reads
// them once, keeps small statistics, and ranks the features from those.
//
// A verb is a file of this folder: its flags (flags.go has those that several verbs share),
// a call of package ufs, which does the work, and the printing of what comes back. The
// flags of methods come from what the methods declare.
package main

import "github.com/ufs-stream/ufs-stream/internal/program"

func main() { program.Main(run) }

// Command ufs-stream-bench is the bench as a release has it: the same program as `go run ./bench`, to be run in any
// folder. It measures the ufs-stream of --binary; without this flag the one in its own folder or in PATH.
//
//	go install github.com/ufs-stream/ufs-stream/cmd/ufs-stream@latest github.com/ufs-stream/ufs-stream/bench/ufs-stream-bench@latest
//	ufs-stream-bench quality --label class --methods default,greedy,sfufs:alpha=0.1,clusters=20 FOLDER…
package main

import (
	"github.com/ufs-stream/ufs-stream/bench/internal/verbs"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
)

func main() { program.Main(verbs.RunProgram) }

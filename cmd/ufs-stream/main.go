// Command ufs-stream selects features from files too big for memory: it reads
// them once, keeps small statistics, and ranks the features from those.
//
// The way of the data, in files of this folder: select.go takes the flags (flags.go),
// accumulate.go opens the input, plans its memory (budget.go) and makes the passes,
// choose.go asks a selector (reconstruct.go the greedy family, rank.go the baselines)
// and render.go writes the Selection.
package main

import (
	"fmt"
	"os"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/internal/program"
)

func main() {
	// gonum's LAPACK runs on our kernels, with the threads that --threads sets later.
	if err := linalg.Use(0); err != nil {
		fmt.Fprintln(os.Stderr, "ufs-stream:", err)
		os.Exit(exit.Usage)
	}
	program.Main(run)
}

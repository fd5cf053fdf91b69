// Command ufs-stream selects features from files too big for memory: it reads
// them once, keeps small statistics, and ranks the features from those.
//
// The way of the data, in files of this folder: select.go takes the flags (flags.go),
// accumulate.go opens the input, plans its memory (budget.go) and makes the passes,
// choose.go asks a selector (reconstruct.go the greedy family, rank.go the baselines)
// and render.go writes the Selection.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program on the spot
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

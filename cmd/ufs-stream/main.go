// Command ufs-stream selects features from files too big for memory: it reads
// them once, keeps small statistics, and ranks the features from those.
//
// The way of the data, verb by verb: select.go opens the input (input.go), plans
// the memory (budget.go), makes the passes (accumulate.go), asks a selector
// (choose.go: greedy, baseline) and writes the Selection (output.go).
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

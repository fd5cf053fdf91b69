// Package verbs is the whole program of the bench. It has two commands: bench, for `go run ./bench` in the project's
// folder, and ufs-stream-bench, which a release has.
package verbs

import (
	"context"
	"io"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/corpora"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/bench/internal/kill"
	"github.com/ufs-stream/ufs-stream/bench/internal/memory"
	"github.com/ufs-stream/ufs-stream/bench/internal/paper"
	"github.com/ufs-stream/ufs-stream/bench/internal/peers"
	"github.com/ufs-stream/ufs-stream/bench/internal/quality"
	"github.com/ufs-stream/ufs-stream/bench/internal/scale"
	"github.com/ufs-stream/ufs-stream/bench/internal/small"
)

// RunProgram runs the program with all its verbs and returns the exit code. It does not read standard input.
func RunProgram(ctx context.Context, args []string, _ io.Reader, out, errw io.Writer) int {
	return cli.Run(ctx, args, out, errw, corpora.New, gen.New, kill.New, memory.New, paper.New, peers.New, quality.New, scale.New, scale.NewSpeed, small.New)
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the whole program and returns the exit code. In a worker it does not return. Beam reads its settings from
// the flags of the process, so run can be called only once in a process.
func run(ctx context.Context, args []string, out, errw io.Writer) int {
	var s settings
	err := s.parseArgs(args, errw)
	if errors.Is(err, flag.ErrHelp) {
		return exit.Done
	}
	if err == nil {
		dieWithParent()
		beam.Init() // in a worker this call does all the work and does not return
		err = s.submitJob(ctx, out)
	}
	if err == nil {
		return exit.Done
	}
	fmt.Fprintf(errw, "ufs-beam: %s\n", stream.Spell(err, flagOf))
	return exit.CodeOf(err)
}

func (s *settings) submitJob(ctx context.Context, out io.Writer) error {
	if err := errors.Join(s.job.validate(), s.job.makePathsAbsolute(), s.chooseWorkerBinary()); err != nil {
		return err
	}
	rounds, err := s.planRounds(ctx)
	if err != nil {
		return err
	}
	result, err := beamx.RunWithMetrics(ctx, s.job.buildPipeline(rounds))
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: the job may go on without this program: end it with the runner's own tools (%w)", ctx.Err(), err)
		}
		if workerError := findFailure(err); workerError != nil {
			return fmt.Errorf("the job failed: %w%s", workerError, s.resumeHint(workerError.code))
		}
		return fmt.Errorf("the job failed: %w%s", err, s.resumeHint(exit.Fault))
	}
	if result == nil { // with Dataflow's --dry_run
		return nil
	}
	if *jobopts.Async {
		fmt.Fprintf(out, "submitted; the statistics will be in %s, and the parts stay in %s\n", place.DisplayName(s.job.Output), place.DisplayName(s.job.Parts))
		return nil
	}
	scanned, found := countParts(result)
	fmt.Fprintf(out, "%s: %d shards; %d parts scanned, %d there already\n", place.DisplayName(s.job.Output), s.job.Shards, scanned, found)
	if s.keepParts {
		return nil
	}
	return s.job.removeParts(ctx, rounds)
}

func (s *settings) resumeHint(code int) string {
	if isPermanent(code) {
		return fmt.Sprintf("\nthe parts of the other shards are kept in %s: once that is mended, the same command goes on from them, if the plan is still the same", place.DisplayName(s.job.Parts))
	}
	return fmt.Sprintf("\nthe parts that are done are kept in %s: the same command goes on from them", place.DisplayName(s.job.Parts))
}

func (s *settings) chooseWorkerBinary() error {
	inside := *jobopts.Endpoint == "" && s.runsOnPrism() || jobopts.IsLoopback()
	if *jobopts.WorkerBinary != "" || inside {
		return nil
	}
	if runtime.GOOS != "linux" {
		return stream.Usagef("workers run on Linux, and this program was built for %s: build it with GOOS=linux too, and name that one with --worker_binary", runtime.GOOS)
	}
	self, err := os.Executable()
	*jobopts.WorkerBinary = self
	return err
}

// runsOnPrism reports whether the runner is prism, Beam's own. It runs inside this program unless an endpoint is given.
func (s *settings) runsOnPrism() bool {
	runner := strings.ToLower(flag.Lookup("runner").Value.String())
	return runner == "" || runner == "prism" || runner == "prismrunner"
}

func countParts(result beam.PipelineResult) (scanned, found int64) {
	all := result.Metrics()
	for _, c := range all.AllMetrics().Counters() {
		switch c.Name() {
		case partsScanned:
			scanned += c.Result()
		case partsFound:
			found += c.Result()
		}
	}
	return scanned, found
}

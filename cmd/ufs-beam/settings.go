package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

// settings are the values of the program's own flags.
type settings struct {
	job          job
	profileRound bool
	keepParts    bool
}

// parseArgs parses the program's own flags, and the flags that packages of Beam have declared. The command line of a
// worker has only Beam's flags.
func (s *settings) parseArgs(args []string, errw io.Writer) error {
	own := flag.NewFlagSet("ufs-beam", flag.ContinueOnError)
	own.SetOutput(errw)
	memory := program.Bytes(0)
	scratch := program.Bytes(0)
	j := &s.job
	own.StringVar(&j.Plan, "plan", "", "the plan `FILE` or URL, made by ufs-stream plan -o job.plan.json")
	own.IntVar(&j.Shards, "shards", 0, "scan the plan in `N` shards: some times the number of cores of all workers")
	own.StringVar(&j.Parts, "parts", "", "the `FOLDER` or URL for the part files, which all workers reach under that name")
	own.StringVar(&j.Output, "output", "", "the statistics `FILE.ufs` or URL to make")
	own.Func("allow", "the plan may also name files below `PREFIX`, a folder or a URL with its parameters (repeatable):\nits own place and the buckets and folders that it records need none, unless they have parameters", func(prefix string) error {
		j.Allow = append(j.Allow, prefix)
		return nil
	})
	own.BoolVar(&s.profileRound, "profile-round", false, "make a profile of all shards first, as graph methods always do:\nfor columns that turn out useless with a plan of --missing error or drop-row")
	own.Int64Var(&j.SampleRows, "sample-rows", 0, "`ROWS` to take along for a method that iterates over rows (default 10000)")
	own.IntVar(&j.Threads, "threads", 0, "`CORES` that a worker uses at most (default all)")
	own.Var(&memory, "memory-limit", "peak memory `SIZE` of a worker process, which does one scan at a time (default 2GiB)")
	own.StringVar(&j.TempDir, "temp-dir", "", "`FOLDER` of the workers for scratch files (default the system's)")
	own.Var(&scratch, "max-temp-size", "`SIZE` of a worker's scratch files at most (default no bound)")
	own.BoolVar(&s.keepParts, "keep-parts", false, "keep the part files once the statistics are there")

	all := flag.CommandLine
	all.Init("ufs-beam", flag.ContinueOnError)
	all.SetOutput(io.Discard) // run reports the error once
	own.VisitAll(func(f *flag.Flag) { all.Var(f.Value, f.Name, f.Usage) })
	all.Usage = func() {} // package flag would print the usage after every error
	err := all.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(errw, usageText)
		own.PrintDefaults()
		fmt.Fprint(errw, beamUsage)
		return err
	case err != nil:
		return stream.Usagef("%s; --help shows the flags", err)
	case all.NArg() > 0:
		return stream.Usagef("%q is no flag: the input is in the plan", all.Arg(0))
	}
	j.Memory, j.MaxScratch = int64(memory), int64(scratch)
	return nil
}

const usageText = `Gather the statistics of a plan file as a job of Apache Beam.

  ufs-stream plan s3://lake/events -o job.plan.json
  ufs-beam --plan job.plan.json --shards 100 --parts s3://lake/parts/ --output s3://lake/all.ufs --runner flink --endpoint HOST:8099
  ufs-stream select --stats s3://lake/all.ufs -k 50

`

const beamUsage = `
Beam's own flags, of which the runners take these and more (see README.md):
  --runner prism|flink|spark|dataflow|universal   default prism, inside this program if there is no --endpoint
  --endpoint HOST:PORT          the runner's job server
  --environment_type TYPE       DOCKER (default), PROCESS, EXTERNAL or LOOPBACK: how workers are started
  --environment_config CONFIG   the image, or the address of the worker pool
  --worker_binary FILE          the program that workers run; default this one
  --job_name NAME  --async  --parallelism N  --experiments LIST
`

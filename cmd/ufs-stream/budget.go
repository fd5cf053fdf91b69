package main

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// outsideHeap is kept free for resident memory that the Go runtime does not count
	// against its own limit: the pages of the program itself. Measured on amd64 (messy,
	// usps, mnist70k, prostate_ge; sampled every 3 ms): VmRSS exceeds what the runtime
	// counts by at most 7 MiB, and the program's own pages (RssFile) are up to 11 MiB.
	// The rest is a margin, because the runtime may overrun its limit for a moment.
	outsideHeap = 24 << 20
	// programBytes is what the plan keeps free for everything that is not in it: the
	// program, the runtime, and garbage between two collections.
	programBytes = 48 << 20
	// collectPercent makes the collector run at 1.5 times the live heap instead of
	// twice: what lives is few large buffers, which cost it nothing to pass over.
	collectPercent = 50
	// profileColumn is what a profile and its report hold for one column.
	profileColumn = 512
)

// budget is the plan of a run's memory, in bytes: made before the run, from what the
// footers tell, and kept by its parts. Results never depend on it.
type budget struct {
	Limit      int64  `json:"limit_bytes"`
	Program    int64  `json:"program_bytes"`
	Reading    int64  `json:"reading_bytes"`
	Statistics int64  `json:"statistics_bytes"`
	Anchors    int64  `json:"anchors_bytes"` // of the statistics: what the anchor graph takes
	Solver     int64  `json:"solver_bytes"`
	Peak       int64  `json:"peak_bytes"`               // of the parts that are held at one time
	Smallest   int64  `json:"smallest_bytes"`           // the smallest --memory-limit that works
	InMemory   int64  `json:"smallest_in_memory_bytes"` // the smallest that needs no further passes
	OutOfCore  bool   `json:"out_of_core"`              // G does not fit: passes over the rows instead; or rows are in scratch files
	Scratch    int64  `json:"-"`                        // bytes in files
	Solves     int    `json:"-"`                        // settings of path that are solved at a time
	Later      passes `json:"-"`                        // over the input, once there are statistics: methods on a grid
}

// planSelection plans selecting from ds: in memory if G fits, else out of core
// where the method can.
func (r *request) planSelection(ds *chunkio.Dataset) (budget, error) {
	d := len(ds.Columns())
	switch r.chosen.need {
	case needProfile:
		return r.planPass(ds, profileColumn*int64(d), 0)
	case needGraph:
		return r.planGraph(ds, true)
	case needRows:
		if r.chosen.pixels {
			return r.planPixels(ds)
		}
		return r.planRows(ds)
	}
	in, err := r.planPass(ds, gram.Bytes(d, r.expectedMissing(ds)), greedy.Bytes(d, r.expectedK(d), r.expectedGroups(d)))
	if !ds.Replayable() {
		return in, err
	}
	out, outErr := r.planOutOfCore(ds, d)
	switch {
	case err == nil:
		in.Smallest = min(in.Smallest, out.Smallest)
		return in, nil
	case in.Smallest < out.Smallest: // then neither fits
		return in, err
	}
	out.InMemory = in.Smallest
	return out, outErr
}

// planScan plans gathering statistics without selecting from them.
// sample says whether a profile takes a sample of rows along.
func (r *request) planScan(n need, sample bool) func(*chunkio.Dataset) (budget, error) {
	return func(ds *chunkio.Dataset) (budget, error) {
		d := len(ds.Columns())
		var sampled int64
		if sample {
			sampled = anchor.SamplerBytes(atMostRows(r.sampleRows(r.mostAnchors(), d), ds), d)
		}
		switch n {
		case needProfile:
			return r.planPass(ds, profileColumn*int64(d)+sampled, 0)
		case needGraph:
			return r.planGraph(ds, false)
		}
		return r.planPass(ds, gram.Bytes(d, r.expectedMissing(ds)), 0)
	}
}

// planGraph plans the two passes of the graph methods: a profile with a sample of rows,
// from which the anchors come, and then the statistics, followed by a solver if one is
// asked for.
func (r *request) planGraph(ds *chunkio.Dataset, solve bool) (budget, error) {
	d, total := len(ds.Columns()), ds.Rows()
	f := &r.method.graph
	if r.input.rows > 0 {
		total = min(total, r.input.rows)
	}
	if r.by != nil { // then ds may be a part only
		total = r.by.profile.Seen
	}
	if f.file == "" {
		if _, err := anchor.Count(f.anchors, total, f.neighbors); err != nil {
			return budget{}, err
		}
	}
	m := r.expectedAnchors(total)
	anchors := anchor.Bytes(m, d, f.neighbors, r.limits.threads)
	// While anchors are placed there are the sample and its rows as points.
	anchors += r.held // it stays for another attempt
	rows := int(min(int64(r.sampleRows(m, d)), total))
	placing := profileColumn*int64(d) + anchor.SamplerBytes(rows, d) + 2*8*int64(rows)*int64(d) + 8*int64(m)*int64(d)
	if f.file == "" && f.drawn.value == "kmeans" {
		placing += cluster.Bytes(rows, d, m, 1)
	}
	var solver int64
	if solve {
		solver = r.graphSolverBytes(d, m)
	}
	b, err := r.planPass(ds, max(r.held+placing, gram.Bytes(d, r.expectedMissing(ds))+anchors), solver)
	b.Anchors = anchors
	return b, err
}

// atMostRows is rows, or all of ds if there are fewer.
func atMostRows(rows int, ds *chunkio.Dataset) int {
	if n := ds.Rows(); n >= 0 {
		return int(min(int64(rows), n))
	}
	return rows
}

// planPass plans one pass that leaves statistics of the given size, followed by a
// solver. Reading and solver do not live at the same time.
func (r *request) planPass(ds *chunkio.Dataset, statistics, solver int64) (budget, error) {
	b := budget{Limit: int64(r.limits.memory), Program: programBytes, Statistics: statistics, Solver: solver}
	b.Smallest = b.Program + statistics + max(ds.MinMemory(), solver)
	b.InMemory = b.Smallest
	if b.Smallest > b.Limit {
		return b, b.refusal()
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - statistics)
	b.Peak = b.Program + statistics + max(b.Reading, solver)
	return b, nil
}

// planOutOfCore plans the greedy family without G: reading and solver live together.
func (r *request) planOutOfCore(ds *chunkio.Dataset, d int) (budget, error) {
	solver := greedy.StreamBytes(d, r.expectedK(d), r.expectedGroups(d))
	b := budget{Limit: int64(r.limits.memory), Program: programBytes, Statistics: profileColumn * int64(d), OutOfCore: true}
	b.Smallest = b.Program + b.Statistics + ds.MinMemory() + solver
	if b.Smallest > b.Limit {
		return b, b.refusal()
	}
	b.Reading = ds.MemoryFor(min(max(b.Limit/4, ds.MinMemory()), b.Limit-b.Program-b.Statistics-solver))
	b.Solver = b.Limit - b.Program - b.Statistics - b.Reading
	b.Peak = b.Limit
	return b, nil
}

func (b budget) refusal() error {
	return &stream.MemoryError{What: "this run", Need: b.Smallest, Limit: b.Limit}
}

// leastMemory turns a complaint of opening the input about memory into the refusal of
// the whole plan, which it makes by opening the input without that limit.
func (r *request) leastMemory(ctx context.Context, inputs []string, opt chunkio.Options, plan func(*chunkio.Dataset) (budget, error), err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) {
		return err
	}
	if slices.Contains(inputs, "-") { // read already: it cannot be opened again
		return r.limits.whole(err)
	}
	opt.Memory = 0
	ds, openErr := openDataset(ctx, inputs, opt)
	if openErr != nil {
		return err
	}
	defer ds.Close()
	if _, planErr := plan(ds); planErr != nil {
		return planErr
	}
	return err
}

// enforce tells the Go runtime to keep to the planned peak rather than to the whole
// limit, so that garbage does not fill what the plan left free and a run's memory is
// that of its plan. Where statistics may outgrow the plan the limit itself holds.
// limitFlags.apply restores what was before.
func (b budget) enforce(mayGrow bool) {
	if !mayGrow {
		debug.SetMemoryLimit(b.Peak - outsideHeap)
	}
}

// room is what the statistics may grow to: the footers do not tell of every missing
// value, and columns that have some need more.
func (b budget) room() int64 { return b.Limit - b.Program - b.Anchors - max(b.Reading, b.Solver) }

// explain turns a part's complaint about its share into one about the whole limit.
// It comes up where the footers could not tell how many columns have missing values.
func (b budget) explain(err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || !m.OfMemory() {
		return err
	}
	whole := *m
	whole.Need, whole.Limit = m.Need-m.Limit+b.Limit, b.Limit
	return &whole
}

// whole turns a complaint of reading about its share of the limit into one about the
// limit itself.
func (f *limitFlags) whole(err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || !m.OfMemory() {
		return err
	}
	whole := *m
	whole.Need, whole.Limit = m.Need+programBytes, int64(f.memory)
	return &whole
}

// expectedK is the number of features that will be selected from d, as far as known.
func (r *request) expectedK(d int) int {
	switch {
	case r.method.k > 0:
		return min(r.method.k, d)
	case r.method.variance > 0:
		return d
	}
	return min(max(defaultK, len(r.method.keep)), d)
}

// defaultK is the number of features selected where neither -k nor --variance says.
const defaultK = 50

// expectedGroups is the number of groups of partgreedy, 0 for other methods.
func (r *request) expectedGroups(d int) int {
	switch {
	case r.chosen.name != "partgreedy":
		return 0
	case r.method.partitions > 0:
		return r.method.partitions
	}
	return greedy.DefaultPartitions(d)
}

// expectedMissing is the number of features whose missing values the statistics
// will have to carry, as far as the metadata tells.
func (r *request) expectedMissing(ds *chunkio.Dataset) int {
	if r.input.policy() != stream.MissingKeep {
		return 0
	}
	return columnsWithNulls(ds)
}

package ufs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/stream"
)

// plan finds room for the table, for reading, and for what follows, and returns the
// share of reading.
func (e *evaluator) plan(ds *chunkio.Dataset) (reading int64, err error) {
	rows := ds.Rows()
	if rows < 0 { // a stream: the table takes what reading leaves
		e.least = ds.MinMemory()
		return max((e.q.Memory-programBytes)/4, e.least), nil
	}
	if e.Sample > 0 {
		rows = min(rows, e.Sample)
	}
	table, err := e.room(ds, int(rows))
	if err != nil {
		return 0, err
	}
	return ds.MemoryFor(e.q.Memory - programBytes - table), nil
}

// usualClusters is what memory is planned for before the classes are counted.
const usualClusters = 64

// room settles how many runs of k-means fit side by side beside a table of n rows, and
// returns what the table takes.
func (e *evaluator) room(ds *chunkio.Dataset, n int) (table int64, err error) {
	d, k := len(e.columns), slices.Max(e.counts)
	widest := k
	if slices.Contains(e.Baselines, "all") {
		widest = d
	}
	need := func(n, workers int) int64 { // beside the table
		measure := max(judge.ReconstructionBytes(n, d, k), 8*int64(n)*int64(k)+judge.RedundancyBytes(max(k, min(d, mostPaired)))+8*int64(d), ds.MinMemory())
		if e.Label != "" {
			measure = max(measure, judge.TrialsBytes(n, widest, k, max(e.Clusters, usualClusters), workers))
		}
		return programBytes + measure
	}
	table = judge.TableBytes(n, d)
	if e.table != nil { // it has grown by steps where the rows were not known
		table = e.table.Bytes()
	}
	for e.workers = e.q.Threads; e.workers > 1 && need(n, e.workers)+table > e.q.Memory; {
		e.workers--
	}
	if all := need(n, e.workers) + table; all > e.q.Memory {
		few := sort.Search(n, func(rows int) bool { return need(rows+1, 1)+judge.TableBytes(rows+1, d) > e.q.Memory })
		return 0, e.tooMany(&stream.MemoryError{
			What: fmt.Sprintf("judging by %s rows of %s", comma(int64(n)), plural(d, "feature")), Need: all, Limit: e.q.Memory}, few)
	}
	return table, nil
}

// tooMany adds to a refusal what else helps: few rows would fit, or the features selected alone.
func (e *evaluator) tooMany(refusal error, few int) error {
	var fewer, alone stream.Text
	if few >= max(e.Clusters, usualClusters) {
		fewer = stream.Textf("; or judge by fewer rows, {sample} %d", few)
	}
	switch {
	case e.Label == "":
		alone = stream.Textf("; or judge by the features selected alone, {label} with {baselines} none")
	case len(e.Baselines) > 0:
		alone = stream.Textf("; or judge by the features selected alone, {baselines} none")
	}
	return stream.Errorf("%w%v%v", refusal, fewer, alone)
}

// larger is the refusal that names the larger limit: err, which judging gives, or the one
// that selecting again will give.
func (e *evaluator) larger(ctx context.Context, rows int64, err error) error {
	var judging, again *stream.MemoryError
	if rows < 0 || !errors.As(err, &judging) {
		return err
	}
	if other := e.foresee(ctx, rows); errors.As(other, &again) && again.Need > judging.Need {
		return other
	}
	return err
}

// wholeOf turns a complaint of the pass over ds about a share of the limit into one about
// the limit itself. Of a stream, plan gives reading a quarter or what it needs at least.
func (e *evaluator) wholeOf(ds *chunkio.Dataset, err error) error {
	var m *stream.MemoryError
	if ds.Rows() >= 0 || !errors.As(err, &m) || !m.OfMemory() {
		return e.q.wholeLimit(err)
	}
	share := *m
	if m.What == judge.AllRows {
		share.Need = max((4*m.Need+2)/3, m.Need+e.least)
	} else {
		share.Need = 4 * m.Need
	}
	return e.q.wholeLimit(&share)
}

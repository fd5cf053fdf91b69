package evaluating

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

// planReading divides the memory between the table of sampled rows, reading, and the later steps. It returns the part
// for reading.
func planReading(e *evaluator, ds *chunkio.Dataset) (reading int64, err error) {
	rows := ds.Rows()
	if rows < 0 { // for a stream the table uses the memory that reading leaves free
		e.minReading = ds.MinMemory()
		return max((e.request.Limits.Memory-budget.ProgramBytes)/4, e.minReading), nil
	}
	if e.Sample > 0 {
		rows = min(rows, e.Sample)
	}
	table, err := planTable(e, ds, int(rows))
	if err != nil {
		return 0, err
	}
	return ds.MemoryFor(e.request.Limits.Memory - budget.ProgramBytes - table), nil
}

// assumedClusters is the number of clusters for which memory is planned until the classes are counted.
const assumedClusters = 64

// planTable sets e.workers to the number of k-means runs that fit into memory at the same time, together with a table
// of n rows. It returns the size of the table in bytes.
func planTable(e *evaluator, ds *chunkio.Dataset, n int) (table int64, err error) {
	d, k := len(e.columns), slices.Max(e.counts)
	maxFeatures := k
	if slices.Contains(e.Baselines, "all") {
		maxFeatures = d
	}
	need := func(n, workers int) int64 { // memory without the table
		measure := max(judge.ReconstructionBytes(n, d, k), 8*int64(n)*int64(k)+judge.RedundancyBytes(max(k, min(d, maxCorrelatedPairwise)))+8*int64(d), ds.MinMemory())
		if e.Label != "" {
			if e.Clusterer == judge.Affinity {
				measure = max(measure, judge.AffinityTrialBytes(n, maxFeatures, k))
			} else {
				measure = max(measure, judge.TrialsBytes(n, maxFeatures, k, max(e.Clusters, assumedClusters), workers))
			}
			for _, name := range e.Classify {
				measure = max(measure, 8*int64(n)*int64(k)+judge.CrossValidateBytes(n, maxFeatures, e.Folds, max(len(e.classes), assumedClusters), workers, name))
			}
			if len(e.Classify) > 0 {
				measure += judge.FoldsBytes(n)
			}
		}
		return budget.ProgramBytes + measure
	}
	table = judge.TableBytes(n, d)
	if e.table != nil { // the table grew in steps if the number of rows was unknown
		table = e.table.Bytes()
	}
	for e.workers = e.request.Limits.Threads; e.workers > 1 && need(n, e.workers)+table > e.request.Limits.Memory; {
		e.workers--
	}
	if all := need(n, e.workers) + table; all > e.request.Limits.Memory {
		fittingRows := sort.Search(n, func(rows int) bool { return need(rows+1, 1)+judge.TableBytes(rows+1, d) > e.request.Limits.Memory })
		return 0, errTooManyRows(e, &stream.MemoryError{
			What: fmt.Sprintf("judging by %s rows of %s", wording.WithCommas(int64(n)), wording.CountNoun(d, "feature")), Need: all, Limit: e.request.Limits.Memory}, fittingRows)
	}
	return table, nil
}

func errTooManyRows(e *evaluator, refusal error, fittingRows int) error {
	var fewer, selectedOnly, unclassified stream.Text
	if fittingRows >= max(e.Clusters, assumedClusters) {
		fewer = stream.Textf("; or judge by fewer rows, {sample} %d", fittingRows)
	}
	switch {
	case e.Label == "":
		selectedOnly = stream.Textf("; or judge by the features selected alone, {label} with {baselines} none")
	case len(e.Baselines) > 0:
		selectedOnly = stream.Textf("; or judge by the features selected alone, {baselines} none")
	}
	if len(e.Classify) > 0 {
		unclassified = stream.Textf("; or judge without {classify}")
	}
	return stream.Errorf("%w%v%v%v", refusal, fewer, selectedOnly, unclassified)
}

// largerRefusal returns the one of two memory errors that requires more memory. One is err, which comes from judging.
// The other is the memory error that the repeated selections would give. rows is the number of rows; -1 if unknown.
func largerRefusal(ctx context.Context, e *evaluator, rows int64, err error) error {
	var judging, reselecting *stream.MemoryError
	if rows < 0 || !errors.As(err, &judging) {
		return err
	}
	if other := predictResamples(ctx, e, rows); errors.As(other, &reselecting) && reselecting.Need > judging.Need {
		return other
	}
	return err
}

// restateForLimit turns a memory error about a share of the limit into a memory error about the whole limit. Reading a
// stream gets a quarter of the limit or, if that does not suffice, the least memory that it needs: see planReading.
func restateForLimit(e *evaluator, ds *chunkio.Dataset, err error) error {
	var m *stream.MemoryError
	if ds.Rows() >= 0 || !errors.As(err, &m) || !m.OfMemory() {
		return budget.ErrForLimit(&e.request, err)
	}
	share := *m
	if m.What == judge.AllRows {
		share.Need = max((4*m.Need+2)/3, m.Need+e.minReading)
	} else {
		share.Need = 4 * m.Need
	}
	return budget.ErrForLimit(&e.request, &share)
}

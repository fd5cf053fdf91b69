package quality

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// scoringRows is a random sample of a dataset's rows for scoring all choices, as in the file and standardized.
type scoringRows struct {
	file, standard *judge.Table
	columns        []stream.Column
	varying        []int // columns that can be features: they vary and have finite squares
	clusters       int   // number of classes in the sample; 0 without a label
}

// scores are computed by comparing the clusters and the nearest neighbours of the rows with their classes.
type scores struct {
	NMI *stream.Spread `json:"nmi,omitempty"`
	ACC *stream.Spread `json:"acc,omitempty"`
	KNN *stream.Number `json:"knn,omitempty"` // leave-one-out accuracy of the nearest neighbour
}

func (o *options) readScoringRows(ctx context.Context, s dataset) (*scoringRows, error) {
	opt := chunkio.Options{Sparse: s.sparse, Label: s.label, Classes: s.label != "", Missing: stream.MissingKeep, Seed: o.seed, Threads: o.threads}
	rows := min(s.rows, o.evalRows)
	if s.rows > o.evalRows {
		opt.Sample = o.evalRows
	}
	ds, err := chunkio.Open(ctx, []string{s.path}, opt)
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	j := &scoringRows{columns: ds.Columns()}
	for _, t := range []**judge.Table{&j.file, &j.standard} {
		*t = judge.NewTable(len(j.columns), int(rows), o.threads, math.MaxInt64)
	}
	if err := stream.Fold(ctx, ds, stream.FoldOptions{}, j.file, j.standard); err != nil {
		return nil, err
	}
	j.file.FillMissing(gram.FillMean)
	j.standard.FillMissing(gram.FillMean)
	leftOut, err := j.standard.ScaleColumns(gram.ScaleStandard, j.columns)
	if err != nil {
		return nil, err
	}
	for i, c := range j.columns {
		if !slices.ContainsFunc(leftOut, func(l stream.LeftOut) bool { return l.Name == c.Name }) {
			j.varying = append(j.varying, i)
		}
	}
	if s.label != "" {
		classes := slices.Clone(j.file.Classes)
		slices.Sort(classes)
		j.clusters = len(slices.Compact(classes))
	}
	return j, nil
}

// columnOrders returns lists of the chosen columns, best first. There is only one list, except for random features,
// which have another list for every run of k-means.
func (j *scoringRows) columnOrders(o *options, v variant, sel *stream.Selection) [][]int {
	switch v.baseline {
	case judge.All:
		return [][]int{j.varying}
	case judge.Random:
		list := make([][]int, o.seeds)
		for run := range list {
			for _, i := range rand.New(rand.NewPCG(o.seed, uint64(run))).Perm(len(j.varying)) {
				list[run] = append(list[run], j.varying[i])
			}
		}
		return list
	}
	number := make(map[string]int)
	for i, c := range j.columns {
		number[c.Name] = i
	}
	var order []int
	for _, f := range sel.Selected {
		order = append(order, number[f.Name])
	}
	return [][]int{order}
}

// averagedOrders is the number of random choices over which the scores that do not come from k-means are averaged.
const averagedOrders = 5

// judgeChoices scores each choice: for every list of features in orders, it uses the first K, K being the number of
// features of the choice. It applies k-means and nearest neighbours to these columns: as stored in the file,
// standardized, and with every row divided by its length. It also computes the error of reconstructing all standardized
// columns. The baseline of all features always uses all columns, and has no error.
func (j *scoringRows) judgeChoices(ctx context.Context, o *options, s dataset, v variant, orders [][]int, choices []choiceMade) error {
	team := kernel.NewTeam(o.threads)
	few := orders[:min(len(orders), averagedOrders)]
	allFeatures := v.baseline == judge.All
	errors := make([]float64, len(orders[0]))
	for _, order := range few {
		if allFeatures || ctx.Err() != nil {
			break
		}
		most := min(len(order), choices[len(choices)-1].K)
		for i, e := range judge.ReconstructionError(team, j.standard.Matrix(), order[:most]) {
			errors[i] += e / float64(len(few))
		}
	}
	for i := range choices {
		c := &choices[i]
		if c.Chosen = min(c.K, len(orders[0])); allFeatures {
			c.Chosen = len(orders[0])
		}
		c.Error = stream.Number(errors[max(c.Chosen-1, 0)])
		if s.answer != nil && !allFeatures {
			covered := 0.0
			for _, order := range few {
				covered += float64(s.countCovered(j.columnNames(order[:c.Chosen]))) / float64(len(few))
			}
			share := stream.Number(covered)
			c.Covered = &share
		}
		if i > 0 && c.Chosen == choices[i-1].Chosen {
			c.scores, c.Standard, c.Cosine = choices[i-1].scores, choices[i-1].Standard, choices[i-1].Cosine
			continue
		}
		if err := j.scoreByClasses(ctx, o, orders, c); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (j *scoringRows) scoreByClasses(ctx context.Context, o *options, orders [][]int, c *choiceMade) error {
	if j.clusters < 2 {
		return nil
	}
	c.Standard, c.Cosine = new(scores), new(scores)
	for _, version := range []struct {
		to     *scores
		gather func(columns []int) kernel.Matrix[float64]
	}{
		{&c.scores, j.file.GatherColumns},
		{c.Standard, j.standard.GatherColumns},
		{c.Cosine, func(columns []int) kernel.Matrix[float64] { return normalizeRows(j.file.GatherColumns(columns)) }},
	} {
		var tables []kernel.Matrix[float64]
		for _, order := range orders {
			tables = append(tables, version.gather(order[:c.Chosen]))
		}
		trials, err := judge.RunTrials(ctx, j.file.Classes, func(run int) kernel.Matrix[float64] { return tables[run%len(tables)] },
			judge.TrialOptions{Runs: o.seeds, Restarts: 1, Clusters: j.clusters, Seed: o.seed, Threads: o.threads})
		if err != nil {
			return err
		}
		spread := func(s judge.Summary) *stream.Spread {
			return &stream.Spread{Mean: stream.Number(s.Mean), Std: stream.Number(s.Std)}
		}
		grades := judge.SummarizeScores(trials)
		version.to.NMI, version.to.ACC = spread(grades.NMISqrt), spread(grades.ACC)
		var right []float64
		for _, x := range tables[:min(len(tables), averagedOrders)] {
			right = append(right, judge.NearestAccuracy(kernel.NewTeam(o.threads), x, j.file.Classes))
		}
		accuracy := stream.Number(judge.Summarize(right).Mean)
		version.to.KNN = &accuracy
	}
	return nil
}

func normalizeRows(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	lengths := make([]float64, x.Rows)
	for k := range x.Cols {
		for i, v := range x.Data[k*x.ColStride:][:x.Rows] {
			lengths[i] = math.Hypot(lengths[i], v)
		}
	}
	for k := range x.Cols {
		column := x.Data[k*x.ColStride:][:x.Rows]
		for i, length := range lengths {
			if length > 0 {
				column[i] /= length
			}
		}
	}
	return x
}

func (j *scoringRows) columnNames(columns []int) (list []string) {
	for _, c := range columns {
		list = append(list, j.columns[c].Name)
	}
	return list
}

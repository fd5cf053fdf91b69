package judge

import (
	"context"
	"runtime"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
)

// TrialOptions say how often and how the rows are clustered.
type TrialOptions struct {
	Runs      int // independent clusterings; default 1
	Restarts  int // of each run, of which the lowest inertia counts; default 1
	Clusters  int
	Spherical bool // rows are directions, see cluster.Options
	Seed      uint64
	Threads   int    // 0 means GOMAXPROCS
	Done      func() // called after every run, from several goroutines; nil does nothing
}

// Trials clusters the rows of x, n×k, Runs times with seeds of their own and scores
// each clustering against the classes of the rows. of gives the columns of one run,
// for several runs at a time; most selections have the same for all, random ones do
// not. Runs go side by side: unlike the restarts of one run, they never wait for each
// other. The errors are those of cluster.KMeans.
func Trials(ctx context.Context, classes []int32, of func(run int) kernel.Matrix[float64], opt TrialOptions) ([]cluster.Scores, error) {
	runs, workers := max(opt.Runs, 1), opt.Threads
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	scores, errs := make([]cluster.Scores, runs), make([]error, runs)
	side := min(runs, workers)
	kernel.Each(side, runs, func(r int) {
		if ctx.Err() != nil {
			errs[r] = ctx.Err()
			return
		}
		made, err := cluster.KMeans(ctx, cluster.Matrix(of(r)), cluster.Options{
			Clusters: opt.Clusters, Restarts: opt.Restarts, Spherical: opt.Spherical,
			Seed: RunSeed(opt.Seed, r), Threads: max(workers/side, 1),
		})
		if err == nil {
			scores[r], err = cluster.Compare(made.Labels, classes)
		}
		if errs[r] = err; err == nil && opt.Done != nil {
			opt.Done()
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// RunSeed is the seed of one of several runs: neighbouring seeds share no run.
func RunSeed(seed uint64, run int) uint64 {
	return splitmix.Hash(seed, uint64(run))
}

// Grades sum up the scores of several runs.
type Grades struct{ ACC, NMISqrt, NMIMax, Purity, ARI Summary }

// Grade sums up the scores of runs.
func Grade(scores []cluster.Scores) Grades {
	over := func(score func(cluster.Scores) float64) Summary { return Summarize(Each(scores, score)) }
	return Grades{
		ACC:     over(func(s cluster.Scores) float64 { return s.ACC }),
		NMISqrt: over(func(s cluster.Scores) float64 { return s.NMISqrt }),
		NMIMax:  over(func(s cluster.Scores) float64 { return s.NMIMax }),
		Purity:  over(func(s cluster.Scores) float64 { return s.Purity }),
		ARI:     over(func(s cluster.Scores) float64 { return s.ARI }),
	}
}

// Each is one of the scores of every run.
func Each(scores []cluster.Scores, score func(cluster.Scores) float64) []float64 {
	x := make([]float64, len(scores))
	for i, s := range scores {
		x[i] = score(s)
	}
	return x
}

// TrialsBytes bounds what [Trials] holds beside the rows, n×d at most: each of so many
// workers the columns of its run (n×k, where they differ from run to run) and what
// k-means takes; and those of a run that has ended, which the collector has yet to find.
func TrialsBytes(n, d, k, clusters, workers int) int64 {
	return int64(workers+1) * (8*int64(n)*int64(k) + cluster.Bytes(n, d, clusters, 1))
}

package judge

import (
	"context"
	"runtime"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// TrialOptions sets how the rows are clustered, and how often.
type TrialOptions struct {
	Runs      int // number of independent clusterings; default 1
	Restarts  int // number of restarts of each run; the one with the lowest inertia is used; default 1
	Clusters  int
	Spherical bool // cluster rows by direction, see cluster.Options
	// RandomStarts begins restarts from rows drawn at random, see cluster.Options.
	RandomStarts bool
	// Affinity clusters by affinity propagation in place of k-means. Its result depends on the seed only where similarities
	// are equal, so that the options about starts do not matter. Damping is as in cluster.AffinityOptions, and Found
	// receives the number of clusters of each run, which may not be Clusters.
	Affinity bool
	Damping  float64
	Found    func(clusters int)
	Seed     uint64
	Threads  int    // 0 means GOMAXPROCS
	Done     func() // called after every run, from several goroutines; nil calls nothing
}

// RunTrials clusters the rows opt.Runs times with different seeds, and scores each clustering against the classes of
// the rows. columns returns the n×k matrix to cluster in a run, and is called from several goroutines. Only random
// selections have a different matrix in every run. The runs, not the restarts of one run, are parallel, because runs
// never wait for each other. The errors are as in cluster.KMeans.
func RunTrials(ctx context.Context, classes []int32, columns func(run int) kernel.Matrix[float64], opt TrialOptions) ([]cluster.Scores, error) {
	runs, workers := max(opt.Runs, 1), opt.Threads
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	scores, errs := make([]cluster.Scores, runs), make([]error, runs)
	parallel := min(runs, workers)
	if opt.Affinity { // its matrices are large, and its threads share them
		parallel = 1
	}
	kernel.Each(parallel, runs, func(r int) {
		if ctx.Err() != nil {
			errs[r] = ctx.Err()
			return
		}
		labels, err := clusterRows(ctx, cluster.Matrix(columns(r)), opt, RunSeed(opt.Seed, r), max(workers/parallel, 1))
		if err == nil {
			scores[r], err = cluster.Compare(labels, classes)
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

func clusterRows(ctx context.Context, rows cluster.Matrix, opt TrialOptions, seed uint64, threads int) ([]int32, error) {
	if opt.Affinity {
		e, err := cluster.Affinity(ctx, rows, cluster.AffinityOptions{Clusters: opt.Clusters, Damping: opt.Damping, Seed: seed, Threads: threads})
		if err != nil {
			return nil, err
		}
		if opt.Found != nil {
			opt.Found(len(e.Rows))
		}
		return e.Labels, nil
	}
	r, err := cluster.KMeans(ctx, rows, cluster.Options{
		Clusters: opt.Clusters, Restarts: opt.Restarts, Spherical: opt.Spherical, RandomStarts: opt.RandomStarts, Seed: seed, Threads: threads,
	})
	if err != nil {
		return nil, err
	}
	return r.Labels, nil
}

// RunSeed returns the seed of the run with the given number. Runs of neighbouring values of seed also have different
// seeds.
func RunSeed(seed uint64, run int) uint64 {
	return splitmix.Hash(seed, uint64(run))
}

// Grades holds a summary over several runs for each kind of score of a clustering, see cluster.Scores.
type Grades struct{ ACC, NMISqrt, NMIMax, Purity, ARI Summary }

// SummarizeScores returns the mean and standard deviation of every kind of score over the runs.
func SummarizeScores(scores []cluster.Scores) Grades {
	summary := func(score func(cluster.Scores) float64) Summary { return Summarize(PickScore(scores, score)) }
	return Grades{
		ACC:     summary(func(s cluster.Scores) float64 { return s.ACC }),
		NMISqrt: summary(func(s cluster.Scores) float64 { return s.NMISqrt }),
		NMIMax:  summary(func(s cluster.Scores) float64 { return s.NMIMax }),
		Purity:  summary(func(s cluster.Scores) float64 { return s.Purity }),
		ARI:     summary(func(s cluster.Scores) float64 { return s.ARI }),
	}
}

// PickScore returns one number for every run: the kind of score that the function score picks from the run's scores.
func PickScore(scores []cluster.Scores, score func(cluster.Scores) float64) []float64 {
	return convert.Each(scores, score)
}

// TrialsBytes returns an upper bound of the memory that [RunTrials] needs in addition to the n×d rows. Every worker
// needs the n×k matrix that the function columns returns for its run, unless all runs share one, and the memory of
// k-means. The memory of one more worker is added for garbage that is not yet collected.
func TrialsBytes(n, d, k, clusters, workers int) int64 {
	plain := cluster.Options{Clusters: clusters, Threads: 1}
	spherical := plain
	spherical.Spherical = true
	return int64(workers+1) * (8*int64(n)*int64(k) + max(plain.Bytes(n, d), spherical.Bytes(n, d)))
}

// AffinityTrialBytes returns the memory that [RunTrials] needs in addition to the n×d rows if it clusters by affinity
// propagation.
func AffinityTrialBytes(n, d, k int) int64 {
	return 8*int64(n)*int64(k) + cluster.AffinityBytes(n, d)
}

// Names of the ways to cluster rows.
const (
	KMeans   = "kmeans"
	Affinity = "affinity"
)

// Clusterers lists the ways to cluster rows, the default first.
func Clusterers() []string { return []string{KMeans, Affinity} }

// Names of the baselines of a selection.
const (
	All      = "all"      // all features
	Random   = "random"   // random features, different in every run
	Variance = "variance" // the features that vary most
)

// Baselines lists the names of the baselines of a selection.
func Baselines() []string { return []string{All, Random, Variance} }

// Names of the ways to choose the first centres of k-means.
const (
	PlusPlus   = "plusplus" // greedy k-means++
	RandomRows = "random"   // rows drawn uniformly
)

// Starts lists the ways to choose the first centres of k-means, the default first.
func Starts() []string { return []string{PlusPlus, RandomRows} }

// Protocol sets how often k-means is run to judge a selection.
type Protocol struct {
	Name           string
	Runs, Restarts int // each run uses the best of its restarts
}

// Protocols returns the protocols, which are named after papers. The first is the default.
func Protocols() []Protocol { return []Protocol{{"greedy", 20, 10}, {"sfufs", 30, 1}} }

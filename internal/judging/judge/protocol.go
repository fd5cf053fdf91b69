package judge

// Names of the baselines of a selection.
const (
	All      = "all"      // all features
	Random   = "random"   // random features, different in every run
	Variance = "variance" // the features that vary most
)

// Baselines lists the names of the baselines of a selection.
func Baselines() []string { return []string{All, Random, Variance} }

// Protocol sets how often k-means is run to judge a selection.
type Protocol struct {
	Name           string
	Runs, Restarts int // each run uses the best of its restarts
}

// Protocols returns the protocols, which are named after papers. The first is the default.
func Protocols() []Protocol { return []Protocol{{"greedy", 20, 10}, {"sfufs", 30, 1}} }

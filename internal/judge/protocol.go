package judge

// Names of the baselines of a selection.
const (
	All      = "all"      // all features
	Random   = "random"   // random features, different in every run
	Variance = "variance" // the features that vary most
)

// Baselines lists the names of the baselines of a selection.
func Baselines() []string { return []string{All, Random, Variance} }

// Protocol sets the number of runs of k-means.
type Protocol struct {
	Name           string
	Runs, Restarts int // the result of a run is its best restart
}

// Protocols returns the protocols, which are named after papers. The first is the default.
func Protocols() []Protocol { return []Protocol{{"greedy", 20, 10}, {"sfufs", 30, 1}} }

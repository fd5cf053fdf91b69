package judge

// What a selection is compared with.
const (
	All      = "all"      // features
	Random   = "random"   // features, others in every run
	Variance = "variance" // the features that vary most
)

// Baselines lists what a selection can be compared with.
func Baselines() []string { return []string{All, Random, Variance} }

// Protocol is how often k-means is run.
type Protocol struct {
	Name           string
	Runs, Restarts int // each run is its best restart
}

// Protocols are those of the papers they are named for; the first is the default.
func Protocols() []Protocol { return []Protocol{{"greedy", 20, 10}, {"sfufs", 30, 1}} }

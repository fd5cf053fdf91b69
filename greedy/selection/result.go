package selection

import "github.com/ufs-stream/ufs-stream/stream"

// Result is a selection and its effect on every feature. Slices with one entry a turn are parallel to Order. Slices
// with one entry a feature have length d. Order, Scores and Error also contain the results for smaller k: the first j
// entries are the selection of j features.
type Result struct {
	Order []int // chosen columns, in order
	// Blocks are the chosen blocks, in order, if the choice is among blocks: Order then has their columns one after
	// the other, and Scores, Error, Layers and Ties count blocks.
	Blocks []int
	Scores []float64 // criterion f/g of each chosen feature at its turn: in Algorithm 1 the reduction of ‖X − P_S X‖² (see package greedy)
	Error  []float64 // F(S)/F(∅) after each choice, with F(S) = ‖X − P_S X‖²; 0 means that everything is explained
	// Layers is the layer of each chosen feature, counted from 1. Once nothing is left to explain, a second layer is
	// chosen among the other features as if the first were absent, and so on. Each layer has its own scores, while
	// Error counts all layers. Layers is nil if all chosen features are of the first layer.
	Layers []int

	Explained []float64 // per feature: share of its sum of squares that the selection explains
	Nearest   []int     // per feature: the chosen column of largest absolute cosine, redundant ones excluded; -1 for chosen features and if all cosines are 0

	Ties      []Tie         // turns at which the lowest of several columns with equal scores was chosen
	Redundant []int         // kept columns that earlier kept columns already explain
	Exhausted bool          // fewer than k features were chosen, because nothing was left to choose
	Warnings  []stream.Text // for the user
	Groups    []int         // of Algorithm 2: the group of each column
	Refined   bool          // exchanges were tried
	Exchanges int           // exchanges made
	Passes    int           // passes over the rows by greedy.SelectStream and greedy.SelectSketched; 0 otherwise
	// Estimate describes the error of a sketch; nil if all numbers are exact.
	Estimate *stream.Estimate
}

// Tie is a turn at which other columns scored the same as the chosen one.
type Tie struct {
	Turn    int   // counted from 0
	Columns []int // the columns not taken, ascending
}

// Target is the matrix B to be reconstructed from the chosen columns. It is given by its products H = BᵀX with X.
type Target struct {
	Rows int       // c, the columns of B
	H    []float64 // c×d row-major; column i is Bᵀxᵢ
	// Own means that column j of B is made of feature j alone. Such a column leaves the target of a second layer
	// together with the feature. Other targets stay whole.
	Own bool
}

package result

import (
	"github.com/ufs-stream/ufs-stream/stream"
)

// RedundancySchema names the version of the JSON form of Redundant.
const RedundancySchema = "ufs-stream/redundancy/v1"

// Redundant lists columns that are alike. It is plain data. Clusters are sorted by size, columns in a cluster by their
// nearness to its component, and everything else by name. No answer depends on the order of the columns.
type Redundant struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`
	Rows     int64  `json:"rows"`
	RowsUsed int64  `json:"rows_used"`
	Features int    `json:"features"`
	Rank     int    `json:"rank"`  // number of features that are neither copies nor combinations of other features
	Scale    string `json:"scale"` // "rank" if correlations are of normal scores
	Missing  string `json:"missing"`

	Threshold  stream.Number `json:"threshold"`
	MaxEigen   stream.Number `json:"max_eigen"`
	Proportion stream.Number `json:"proportion"`

	Clusters []AlikeCluster `json:"clusters"`
	// No two Kept columns have a correlation above the threshold; each Dropped column has a correlation above the
	// threshold with the Kept column that replaces it.
	Kept         []string            `json:"kept"`
	Dropped      []AlikeDrop         `json:"dropped"`
	Duplicates   []Duplicates        `json:"duplicates"`
	Combinations []LinearCombination `json:"combinations"`
	// Longer is the number of further combinations that are not listed, because they have more than 20 terms.
	Longer int `json:"longer_combinations"`

	LeftOut  []stream.LeftOut `json:"left_out"`
	Inputs   []stream.Input   `json:"inputs"`
	Warnings []string         `json:"warnings"`
	Passes   int              `json:"passes"`
	Timing   stream.Timing    `json:"timing"`
	Memory   stream.Memory    `json:"memory"`
	Transfer *stream.Transfer `json:"transfer,omitempty"`
}

// AlikeCluster is a cluster of columns that their first principal component explains.
type AlikeCluster struct {
	Cluster        int           `json:"cluster"` // from 1
	Representative string        `json:"representative"`
	Explained      stream.Number `json:"explained"` // share of the variance, each column having 1
	Second         stream.Number `json:"second_eigenvalue"`
	Columns        []AlikeColumn `json:"columns"` // the representative first
}

// AlikeColumn is a column of a cluster.
type AlikeColumn struct {
	Name   string        `json:"name"`
	R2Own  stream.Number `json:"r2_own"`               // squared correlation with its cluster's component
	R2Next stream.Number `json:"r2_next"`              // the largest squared correlation with another cluster's component
	Next   int           `json:"next,omitempty"`       // number of that other cluster
	Ratio  stream.Number `json:"ratio"`                // (1 − R2Own)/(1 − R2Next): the representative has the smallest
	VIF    stream.Number `json:"vif"`                  // 1/(1 − R²), R² by all other columns; null if they determine it
	Exact  bool          `json:"determined,omitempty"` // all other columns determine the column
}

// AlikeDrop is a dropped column; the kept column For replaces it.
type AlikeDrop struct {
	Name        string        `json:"name"`
	For         string        `json:"for"`
	Correlation stream.Number `json:"correlation"`
}

// Duplicates lists the copies of a column.
type Duplicates struct {
	Name   string `json:"name"`
	Copies []Copy `json:"copies"`
}

// PairMatrix describes a file with a number for each pair of columns.
type PairMatrix struct {
	Path     string
	Columns  int   // number of columns whose pairs the file has
	Pairs    int64 // number of pairs in a list of pairs; 0 for a matrix
	Rows     int64 // number of rows of the data
	Passes   int
	Warnings []string
	Timing   stream.Timing
	Memory   stream.Memory
	Transfer *stream.Transfer
}

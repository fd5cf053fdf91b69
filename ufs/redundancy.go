package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/alike"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RedundancySchema names the version of the JSON form of Redundant.
const RedundancySchema = "ufs-stream/redundancy/v1"

const (
	// DefaultThreshold is the absolute correlation above which two columns are alike.
	DefaultThreshold = 0.95
	// DefaultProportion is the least share of each column's variance that the component of its cluster must explain.
	DefaultProportion = alike.DefaultProportion
)

// RedundancyRequest names the data whose columns are compared (Inputs or Stats, as in Select) and the thresholds. A
// zero field means its default; options of a method are ignored.
type RedundancyRequest struct {
	Request
	// Threshold is the absolute correlation that no pair of kept columns exceeds: default DefaultThreshold.
	Threshold float64
	// A cluster is divided if its second eigenvalue is above MaxEigen (default 1), or if its first principal component
	// explains less than Proportion (default 0.7) of one of its columns.
	MaxEigen, Proportion float64
}

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
	R2Own  stream.Number `json:"r2_own"`         // squared correlation with its cluster's component
	R2Next stream.Number `json:"r2_next"`        // the largest squared correlation with another cluster's component
	Next   int           `json:"next,omitempty"` // number of that other cluster
	Ratio  stream.Number `json:"ratio"`          // (1 − R2Own)/(1 − R2Next): the representative has the smallest
	VIF    stream.Number `json:"vif"`            // 1/(1 − R²), R² by all other columns; null if they determine it
	Exact  bool          `json:"determined,omitempty"`
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

// Redundancy finds columns of the input, or of its statistics, that are alike: see package alike for the mathematics.
// For d columns it needs 8·d² bytes of memory for the correlations of all pairs, and as much again for computing. It
// returns the same kinds of errors as Select.
func Redundancy(ctx context.Context, o RedundancyRequest) (*Redundant, error) {
	switch {
	case o.Threshold != 0 && !(o.Threshold > 0 && o.Threshold < 1):
		return nil, stream.Usagef("{threshold} %v: want a correlation above 0 and below 1, as 0.95", o.Threshold)
	case o.MaxEigen != 0 && !(o.MaxEigen > 0):
		return nil, stream.Usagef("{max-eigen} %v: want a number above 0, as 1", o.MaxEigen)
	case o.Proportion != 0 && !(o.Proportion > 0 && o.Proportion <= 1):
		return nil, stream.Usagef("{proportion} %v: want a share above 0 and up to 1", o.Proportion)
	}
	out := &Redundant{Schema: RedundancySchema, Version: Release}
	options := alike.ClusterOptions{MaxEigen: o.MaxEigen, Proportion: o.Proportion}.WithDefaults()
	out.Threshold, out.MaxEigen, out.Proportion = stream.Number(o.Threshold), stream.Number(options.MaxEigen), stream.Number(options.Proportion)
	if o.Threshold == 0 {
		out.Threshold = DefaultThreshold
	}
	var record *correlations
	err := o.withCorrelations(ctx, alike.MemoryBytes, func(c *correlations) error {
		record = c
		return c.fillRedundancy(ctx, options, out)
	})
	if err != nil {
		return nil, err
	}
	out.Timing, out.Memory = record.timing, record.memory
	return out, nil
}

func (c *correlations) fillRedundancy(ctx context.Context, options alike.ClusterOptions, out *Redundant) error {
	dependence, err := c.FindDependence()
	if err != nil {
		return err
	}
	clusters, err := c.FindClusters(ctx, options)
	if err != nil {
		return err
	}
	apart := c.ChooseUncorrelated(float64(out.Threshold))
	out.Rows, out.RowsUsed, out.Features, out.Rank, out.Scale, out.Missing = c.rows, c.rowsUsed, c.D, dependence.Rank, c.scale, c.missing
	out.LeftOut, out.Inputs, out.Warnings, out.Passes, out.Transfer = c.leftOut, c.inputs, c.warnings, c.passes, c.transfer
	out.Clusters, out.Kept, out.Dropped, out.Duplicates, out.Combinations = []AlikeCluster{}, []string{}, []AlikeDrop{}, []Duplicates{}, []LinearCombination{}
	for k, cl := range clusters {
		own := AlikeCluster{Cluster: k + 1, Representative: c.Names[cl.Representative], Explained: stream.Number(cl.Explained), Second: stream.Number(cl.Second)}
		for _, m := range cl.Members {
			column := AlikeColumn{Name: c.Names[m.Column], R2Own: stream.Number(m.R2Own), R2Next: stream.Number(m.R2Next), Next: m.Next + 1, Ratio: stream.Number(m.Ratio)}
			column.VIF, column.Exact = vifNumber(dependence.VIF[m.Column])
			own.Columns = append(own.Columns, column)
		}
		out.Clusters = append(out.Clusters, own)
	}
	for _, j := range apart.Kept {
		out.Kept = append(out.Kept, c.Names[j])
	}
	for _, d := range apart.Dropped {
		out.Dropped = append(out.Dropped, AlikeDrop{Name: c.Names[d.Column], For: c.Names[d.For], Correlation: stream.Number(d.Correlation)})
	}
	for _, group := range dependence.Copies {
		d := Duplicates{Name: c.Names[group.Column]}
		for _, n := range group.Of {
			d.Copies = append(d.Copies, c.newCopy(group.Column, n))
		}
		out.Duplicates = append(out.Duplicates, d)
	}
	for _, found := range dependence.Combinations {
		out.Combinations = append(out.Combinations, c.newLinearCombination(found))
	}
	out.Longer = dependence.Longer
	return nil
}

package relating

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/judging/alike"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

const (
	// DefaultThreshold is the absolute correlation above which two columns are alike.
	DefaultThreshold = 0.95
	// DefaultProportion is the least share of each column's variance that the component of its cluster must explain.
	DefaultProportion = alike.DefaultProportion
)

// RedundancyRequest names the data whose columns are compared (Inputs or Stats, as in Select) and the thresholds. A
// zero field means its default; options of a method are ignored.
type RedundancyRequest struct {
	request.Request
	// Threshold is the absolute correlation that no pair of kept columns exceeds: default DefaultThreshold.
	Threshold float64
	// A cluster is divided if its second eigenvalue is above MaxEigen (default 1), or if its first principal component
	// explains less than Proportion (default 0.7) of one of its columns.
	MaxEigen, Proportion float64
}

// FindRedundancy implements ufs.Redundancy: it finds columns of the input, or of its statistics, that are alike.
func FindRedundancy(ctx context.Context, o RedundancyRequest) (*result.Redundant, error) {
	switch {
	case o.Threshold != 0 && !(o.Threshold > 0 && o.Threshold < 1):
		return nil, stream.Usagef("{threshold} %v: want a correlation above 0 and below 1, as 0.95", o.Threshold)
	case o.MaxEigen != 0 && !(o.MaxEigen > 0):
		return nil, stream.Usagef("{max-eigen} %v: want a number above 0, as 1", o.MaxEigen)
	case o.Proportion != 0 && !(o.Proportion > 0 && o.Proportion <= 1):
		return nil, stream.Usagef("{proportion} %v: want a share above 0 and up to 1", o.Proportion)
	}
	out := &result.Redundant{Schema: result.RedundancySchema, Version: request.Release}
	options := alike.ClusterOptions{MaxEigen: o.MaxEigen, Proportion: o.Proportion}.WithDefaults()
	out.Threshold, out.MaxEigen, out.Proportion = stream.Number(o.Threshold), stream.Number(options.MaxEigen), stream.Number(options.Proportion)
	if o.Threshold == 0 {
		out.Threshold = DefaultThreshold
	}
	var record *correlations
	err := withCorrelations(ctx, o.Request, nil, alike.MemoryBytes, func(c *correlations) error {
		record = c
		return c.findRedundantColumns(ctx, options, out)
	})
	if err != nil {
		return nil, err
	}
	out.Timing, out.Memory = record.timing, record.memory
	return out, nil
}

func (c *correlations) findRedundantColumns(ctx context.Context, options alike.ClusterOptions, redundant *result.Redundant) error {
	dependence, err := c.FindDependence()
	if err != nil {
		return err
	}
	clusters, err := c.FindClusters(ctx, options)
	if err != nil {
		return err
	}
	apart := c.ChooseUncorrelated(float64(redundant.Threshold))
	redundant.Rows, redundant.RowsUsed, redundant.Features, redundant.Rank, redundant.Scale, redundant.Missing = c.rows, c.rowsUsed, c.D, dependence.Rank, c.scale, c.missing
	redundant.LeftOut, redundant.Inputs, redundant.Warnings, redundant.Passes, redundant.Transfer = c.leftOut, c.inputs, c.warnings, c.passes, c.transfer
	redundant.Clusters, redundant.Kept, redundant.Dropped, redundant.Duplicates, redundant.Combinations = []result.AlikeCluster{}, []string{}, []result.AlikeDrop{}, []result.Duplicates{}, []result.LinearCombination{}
	for k, cl := range clusters {
		own := result.AlikeCluster{Cluster: k + 1, Representative: c.Names[cl.Representative], Explained: stream.Number(cl.Explained), Second: stream.Number(cl.Second)}
		for _, m := range cl.Members {
			column := result.AlikeColumn{Name: c.Names[m.Column], R2Own: stream.Number(m.R2Own), R2Next: stream.Number(m.R2Next), Next: m.Next + 1, Ratio: stream.Number(m.Ratio)}
			column.VIF, column.Exact = vifNumber(dependence.VIF[m.Column])
			own.Columns = append(own.Columns, column)
		}
		redundant.Clusters = append(redundant.Clusters, own)
	}
	for _, j := range apart.Kept {
		redundant.Kept = append(redundant.Kept, c.Names[j])
	}
	for _, d := range apart.Dropped {
		redundant.Dropped = append(redundant.Dropped, result.AlikeDrop{Name: c.Names[d.Column], For: c.Names[d.For], Correlation: stream.Number(d.Correlation)})
	}
	for _, group := range dependence.Copies {
		d := result.Duplicates{Name: c.Names[group.Column]}
		for _, n := range group.Of {
			d.Copies = append(d.Copies, c.newCopy(group.Column, n))
		}
		redundant.Duplicates = append(redundant.Duplicates, d)
	}
	for _, found := range dependence.Combinations {
		redundant.Combinations = append(redundant.Combinations, c.newLinearCombination(found))
	}
	redundant.Longer = dependence.Longer
	return nil
}

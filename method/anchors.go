package method

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Anchors holds the options of an anchor graph.
type Anchors struct {
	Count     int    // number m of anchors; 0 means the default, see [anchor.Count]
	Placing   string // random (rows), kmeans (cluster centres of sampled rows), or balanced (of clusters of equal size)
	Neighbors int    // K, the number of nearest anchors that a row has weights on
	File      string // file whose rows are the anchors; may be empty
}

// KMeans reports whether the anchors are centres of clusters of sampled rows, and not rows themselves.
func (a *Anchors) KMeans() bool { return a.Placing != "random" }

// IsBalanced reports whether the anchors are centres of clusters of equal size.
func (a *Anchors) IsBalanced() bool { return a.Placing == "balanced" }

// Declare declares the options for the number of anchors, their placing, and the number of neighbors of a row.
func (a *Anchors) Declare(o *Options) {
	one := "want 1 or more"
	o.Int(&a.Count, "anchors", 0, "`M` anchors (default: all rows up to 2000, else 2000)").
		Bound(func() bool { return a.Count >= 1 }, one)
	o.Choice(&a.Placing, "anchor-method", "random", "anchors are random rows, or centres of kmeans on a sample, or of balanced clusters of it, which have equal sizes", "random", "kmeans", "balanced")
	o.Int(&a.Neighbors, "neighbors", anchor.DefaultNeighbors, "`K` nearest anchors (or rows) that a row has weights on").
		Bound(func() bool { return a.Neighbors >= 1 }, one)
	o.Check(func(isSet func(string) bool) error {
		if isSet("anchors") && a.Count <= a.Neighbors {
			return stream.Usagef("{anchors} %d is too few for {neighbors} %d: weights need the distance of one more, so at least %d", a.Count, a.Neighbors, a.Neighbors+1)
		}
		return nil
	})
}

// DeclareFile declares the option for a file of anchors.
func (a *Anchors) DeclareFile(o *Options) {
	o.Text(&a.File, "anchors-file", "take the rows of `FILE` as anchors: it has the input's columns in their order, and any others").
		Bound(func() bool { return a.File != "-" }, "a stream; save it to a Parquet file first")
	o.Check(func(isSet func(string) bool) error {
		if a.File != "" && (isSet("anchors") || isSet("anchor-method")) {
			return stream.Usagef("{anchors-file} sets the anchors; it cannot be combined with {-anchors} or {-anchor-method}")
		}
		return nil
	})
}

// Iteration holds the options that decide when an iterative method stops.
type Iteration struct {
	Most int     // greatest number of iterations; 0 means the method's own default
	Tol  float64 // stop if the objective's relative change is smaller; 0 means the method's own default
}

// Declare declares the options max-iter, for Most, and tol, for Tol. The help contains their defaults, given as texts,
// and the verb for the objective's change, such as "falls".
func (i *Iteration) Declare(o *Options, defaultMost, defaultTol, verb string) {
	o.Int(&i.Most, "max-iter", 0, "at most `N` iterations (default "+defaultMost+")").
		Bound(func() bool { return i.Most >= 1 }, "want 1 or more")
	o.Float(&i.Tol, "tol", 0, "stop when the objective "+verb+" by less than this share (default "+defaultTol+")").
		Bound(func() bool { return i.Tol > 0 && i.Tol < 1 }, "want a share above 0 and below 1")
}

// Clusters declares the option for the number of clusters.
func (o *Options) Clusters(clusters *int) {
	o.Int(clusters, "clusters", 10, "`C` clusters to expect, the number of dimensions of the embedding").
		Bound(func() bool { return *clusters >= 1 }, "want 1 or more")
}

// Start declares the option for the first clusters of the rows, or for the first numbers in their place.
func (o *Options) Start(start *string) *Option {
	return o.Choice(start, "start", "kmeans", "the first clusters of the rows: of k-means, as 0 and 1; soft, with 0.2 added to all entries; or, for some methods, random numbers in their place", "kmeans", "soft", "random")
}

package fspca

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the problem and the condition for stopping. A zero field means its default, except for K.
type Options struct {
	K          int // number of features to choose, at least 1
	Components int // m, at most K; default 10, but at most K/2 and at least 1
	MaxIter    int // number of choices of features; default 50. The paper needs at most 10
	Threads    int // 0 means GOMAXPROCS; the answer does not depend on it
	Progress   func(iteration int, objective float64)
}

const defaultMaxIter = 50

// CheckBounds reports every fault of o for d features in one *stream.UsageError.
func (o Options) CheckBounds(d int) error {
	var faults stream.Faults
	o.choiceOf(nil).AddFaults(&faults, d)
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults.
func (o Options) WithDefaults() Options {
	o.Components = cmp.Or(o.Components, rowsparse.DefaultComponents(o.K))
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	return o
}

// Result is a choice of K features.
type Result struct {
	// Order lists the chosen features. Scores are Pᵢᵢ/Tr(G) of all features for the last W; the scores of the chosen
	// features add up to Tr(WᵀGW)/Tr(G). Objective is 1 − Tr(WᵀGW)/Tr(G), the share of the variance outside the subspace.
	method.Descent
	Warnings []stream.Text
}

// Bytes bounds the memory of Select in addition to G. If rank is not 0, G is a factor of `rank` rows.
func Bytes(d, rank int, opt Options) int64 {
	return opt.WithDefaults().choiceOf(nil).ChoiceBytes(d, rank)
}

func (o Options) choiceOf(g *gram.Matrix) *rowsparse.Choice {
	return &rowsparse.Choice{G: g, K: o.K, Components: o.Components, MaxIter: o.MaxIter, Threads: o.Threads, Progress: o.Progress}
}

// Select chooses opt.K of d features by the Gram matrix of their centred columns, which it does not modify. It needs
// the memory given by [Bytes]. The start costs the m+1 leading eigenpairs of G, or of RRᵀ if G is a factor R of fewer
// rows than features. An iteration costs the pairs of a matrix whose order is K or, if that is less, the number of
// rows, and 2·m·d² or 4·m·n·d flops. Errors are a *stream.UsageError for wrong options, a *stream.DataError for features that are
// all constant, the context's error, or an error that wraps an error of package linalg.
func Select(ctx context.Context, g *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.CheckBounds(g.D); err != nil {
		return nil, err
	}
	if err := g.Check(); err != nil {
		panic(fmt.Sprintf("fspca: %v", err))
	}
	if g.Trace(opt.Threads) == 0 {
		return nil, stream.Dataf("", "every feature is constant")
	}
	c := opt.WithDefaults().choiceOf(g)
	chosen, err := c.SelectRows(ctx)
	if err != nil {
		return nil, fmt.Errorf("fspca: %w", err)
	}
	r := &Result{Descent: chosen.Descent}
	if chosen.IsAmbiguous {
		r.Warnings = append(r.Warnings, stream.Textf("eigenvalues %d and %d are equal to rounding: another subspace has as much variance and may lead to other features; try another {components}", c.Components, c.Components+1))
	}
	return r, nil
}

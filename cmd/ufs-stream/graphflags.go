package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/sfufs"
	"github.com/ufs-stream/ufs-stream/stream"
)

// graphFlags shape the anchor graph, and what a method makes of it.
type graphFlags struct {
	anchors   int
	drawn     choice // --anchor-method
	file      string // --anchors-file
	fileRows  int    // found by countGiven
	neighbors int

	clusters   int
	alpha      numbers
	gamma      numbers
	constraint choice
	smooth     int
	maxIter    int
	tol        float64
	converged  bool // --require-converged
}

func (f *graphFlags) add(fs *pflag.FlagSet) {
	f.drawn = newChoice("random", "random", "kmeans")
	f.constraint = newChoice("identity", "identity", "scatter")
	fs.IntVar(&f.anchors, "anchors", 0, "graph methods: `M` anchors (default: 500 below 10^4 rows, 1000 below 10^5, else 2000; at most a quarter of the rows)")
	fs.Var(&f.drawn, "anchor-method", "graph methods: anchors are random rows, or centres of kmeans on a sample")
	fs.StringVar(&f.file, "anchors-file", "", "graph methods: take the rows of `FILE` as anchors: it has the input's columns in their order, and any others")
	fs.IntVar(&f.neighbors, "neighbors", 5, "graph methods: `K` nearest anchors that a row has weights on")
	fs.IntVar(&f.clusters, "clusters", 10, "sfufs, fufs, mcfs: `C` clusters to expect, the number of dimensions of the embedding")
	fs.Var(&f.alpha, "alpha", "sfufs: weight of the regression (default 1); path takes several, as 0.1,1 or 1e-3..1e3 (a value a decade)")
	fs.Var(&f.gamma, "gamma", "sfufs, fufs: weight of the sparsity (default 1; 0.1 with --constraint scatter); path takes several, as --alpha")
	fs.Var(&f.constraint, "constraint", "sfufs, fufs: WᵀW = I (identity, the papers) or in units of the scatter (scatter, ours)")
	fs.IntVar(&f.smooth, "smooth", 2, "graphgreedy: rounds `T` of smoothing on the graph; 0 is plain greedy on centred data")
	fs.IntVar(&f.maxIter, "max-iter", 0, "sfufs, fufs: at most `N` iterations (default 50)")
	fs.Float64Var(&f.tol, "tol", 0, "sfufs, fufs: stop when the objective falls by less than this share (default 1e-4)")
	fs.BoolVar(&f.converged, "require-converged", false, "exit with code 5 unless the iteration converged; the result is written all the same")
}

// belongs lists, for each flag, the methods that know it.
func (f *graphFlags) belongs() map[string][]string {
	graph := graphMethods()
	fit := []string{"sfufs", "fufs"}
	return map[string][]string{
		"anchors": graph, "anchor-method": graph, "anchors-file": graph, "neighbors": graph,
		"clusters": {"sfufs", "fufs", "mcfs"}, "alpha": {"sfufs"}, "gamma": fit, "constraint": fit,
		"smooth": {"graphgreedy"}, "max-iter": fit, "tol": fit, "require-converged": fit,
	}
}

// check refuses flags of other methods and values that cannot be right.
func (f *graphFlags) check(m method, given func(string) bool) error {
	of := f.belongs()
	for _, flag := range sortedKeys(of) {
		if given(flag) && !slices.Contains(of[flag], m.name) {
			return stream.Usagef("--%s is not for method %s but for %s", flag, m.name, strings.Join(of[flag], ", "))
		}
	}
	switch {
	case given("anchors") && f.anchors < 1:
		return stream.Usagef("--anchors %d: want 1 or more", f.anchors)
	case given("neighbors") && f.neighbors < 1:
		return stream.Usagef("--neighbors %d: want 1 or more", f.neighbors)
	case given("anchors") && f.anchors <= f.neighbors:
		return stream.Usagef("--anchors %d is too few for --neighbors %d: weights need the distance of one more, so at least %d", f.anchors, f.neighbors, f.neighbors+1)
	case f.file != "" && (given("anchors") || given("anchor-method")):
		return stream.Usagef("--anchors-file says which anchors; --anchors and --anchor-method do not go with it")
	case given("clusters") && f.clusters < 1:
		return stream.Usagef("--clusters %d: want 1 or more", f.clusters)
	case f.smooth < 0 || f.smooth > mostSmooth:
		return stream.Usagef("--smooth %d: want 0 to %d", f.smooth, mostSmooth)
	case given("max-iter") && f.maxIter < 1:
		return stream.Usagef("--max-iter %d: want 1 or more", f.maxIter)
	case given("tol") && !(f.tol > 0 && f.tol < 1):
		return stream.Usagef("--tol %v: want a share above 0 and below 1", f.tol)
	case f.file == "-":
		return stream.Usagef("--anchors-file -: a stream; save it to a Parquet file first")
	}
	for _, alpha := range f.alpha {
		if alpha == 0 {
			return stream.Usagef("--alpha 0: want a number above 0")
		}
		if err := (sfufs.Options{Alpha: alpha}).Validate(1); err != nil {
			return stream.Usagef("--alpha: %v", err)
		}
	}
	for _, gamma := range f.gamma {
		if err := (sfufs.Options{Gamma: gamma}).Validate(1); err != nil {
			return stream.Usagef("--gamma: %v", err)
		}
	}
	return nil
}

// single refuses several alphas or gammas, which only path takes.
func (f *graphFlags) single() error {
	if _, err := f.alpha.one("alpha"); err != nil {
		return err
	}
	_, err := f.gamma.one("gamma")
	return err
}

// mostSmooth bounds --smooth: after a hundred rounds nothing but constants is left.
const mostSmooth = 100

// numbers is a flag of one number or several: a list, or a run of decades.
type numbers []float64

func (n *numbers) Type() string { return "NUMBERS" }

func (n *numbers) String() string {
	parts := make([]string, len(*n))
	for i, x := range *n {
		parts[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strings.Join(parts, ",")
}

// Set reads "1", "0.1,1,10" or "1e-3..1e3".
func (n *numbers) Set(s string) error {
	var out numbers
	for part := range strings.SplitSeq(s, ",") {
		from, to, run := strings.Cut(part, "..")
		a, err := parseNumber(from)
		if err != nil {
			return err
		}
		if !run {
			out = append(out, a)
			continue
		}
		b, err := parseNumber(to)
		if err != nil {
			return err
		}
		if !(a > 0 && b >= a) {
			return fmt.Errorf("%q: want FROM..TO with 0 < FROM <= TO, as 1e-3..1e3", part)
		}
		steps := int(math.Floor(math.Log10(b) - math.Log10(a) + 1e-9)) // b/a may overflow
		for i := range steps + 1 {
			x, err := decade(a, i)
			if err != nil {
				return err
			}
			out = append(out, x)
		}
	}
	*n = out
	return nil
}

// decade is a·10ⁱ, through decimal, so that 1e-3..1e3 holds 0.1 and not 0.1000…01.
func decade(a float64, i int) (float64, error) {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(a, 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(digits+"e"+strconv.Itoa(e+i), 64)
}

// option is n as a record of a run has it: the number, or all of several.
func (n numbers) option() any {
	if len(n) == 1 {
		return n[0]
	}
	return n.String()
}

func parseNumber(s string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return 0, fmt.Errorf("%q: want a number of at least 0", s)
	}
	return x, nil
}

// one is the only number, 0 for none.
func (n numbers) one(flag string) (float64, error) {
	switch len(n) {
	case 0:
		return 0, nil
	case 1:
		return n[0], nil
	}
	return 0, stream.Usagef("--%s has %d values; select takes one, path takes several", flag, len(n))
}

package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestPairwise: select with pairwise-complete covariances gives the same result from a file, from shards, and from
// its statistics, scanned with any policy. A matrix that is not positive semidefinite is mended, with a warning.
// Methods that need whole rows refuse.
func TestPairwise(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	r := rand.New(rand.NewPCG(1, 15))
	const n, d = 60, 8
	columnNames, columns := make([]string, d), make([][]float64, d)
	for j := range d {
		columnNames[j], columns[j] = "x"+string(rune('a'+j)), make([]float64, n)
		for i := range n {
			columns[j][i] = math.Sin(float64(i*(j%3+1))) + 0.1*r.NormFloat64()
			if r.IntN(3) > 0 { // so many holes that covariances contradict each other
				columns[j][i] = math.NaN()
			}
		}
	}
	in := columnsFile(t, at("holes.parquet"), columnNames, columns...)
	args := []string{"--method", "greedy", "-k", "5", "--missing", "pairwise"}
	want := selection(t, append(slices.Clone(args), in)...)
	if !slices.ContainsFunc(want.Warnings, func(s string) bool { return strings.Contains(s, "negative eigenvalue") }) {
		t.Errorf("warnings %q tell of no negative eigenvalue", want.Warnings)
	}
	if want.Options["missing"] != "pairwise" || want.Columns[0].Filled != 0 {
		t.Errorf("options %v, %d entries filled", want.Options, want.Columns[0].Filled)
	}
	for _, policy := range []string{"pairwise", "mean"} {
		must(t, "scan", in, "--missing", policy, "-o", at(policy+".ufs"))
		must(t, "scan", in, "--missing", policy, "--shard", "1/1", "-o", at("1.ufs"))
		must(t, "merge", at("1.ufs"), "-o", at("all.ufs"))
		for _, file := range []string{at(policy + ".ufs"), at("all.ufs")} {
			got := selection(t, append(slices.Clone(args), "--stats", file)...)
			if !slices.Equal(names(got), names(want)) {
				t.Errorf("from %s: %v, want %v", file, got.Selected, want.Selected)
			}
		}
	}
	ends(t, exit.Usage, "--missing mean", "select", in, "--method", "sfufs", "--missing", "pairwise")
	ends(t, exit.Usage, "--missing mean", "select", in, "--method", "eufs", "--missing", "pairwise")
	ends(t, exit.Memory, "--memory-limit", "select", in, "--method", "greedy", "--missing", "pairwise", "--memory-limit", "1MiB")
}

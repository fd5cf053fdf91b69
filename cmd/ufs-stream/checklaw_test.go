package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/exit"
)

// driftTable is a table of factors: each column has one of them (kind "groups") or a mixture of all, and noise. The
// loadings are those of seed, the rows those of draw.
func driftTable(kind string, seed, draw uint64, rows, columns, factors int) (names []string, values [][]float64) {
	loadings, random := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, draw))
	weights := make([][]float64, columns)
	for j := range weights {
		weights[j] = make([]float64, factors)
		for f := range factors {
			switch {
			case kind == "mixtures":
				weights[j][f] = loadings.NormFloat64()
			case f == j%factors:
				weights[j][f] = 0.7 + 0.3*loadings.Float64()
			}
		}
		names, values = append(names, fmt.Sprintf("x%02d", j)), append(values, make([]float64, rows))
	}
	own := make([]float64, factors)
	for i := range rows {
		for f := range own {
			own[f] = random.NormFloat64()
		}
		for j := range weights {
			for f, w := range weights[j] {
				values[j][i] += w * own[f]
			}
			values[j][i] += 20 + 0.5*random.NormFloat64()
		}
	}
	return names, values
}

// TestCheckNeverSaysFalselyThatAllIsWell: of generated tables half of the chosen columns are replaced by noise of the
// same mean and spread: no check of any method says that the selection still serves, with a baseline or without. Against the same
// data and a fresh sample of the same law it serves.
func TestCheckNeverSaysFalselyThatAllIsWell(t *testing.T) {
	seeds := uint64(1)
	for seed := range seeds {
		for _, shape := range []struct {
			kind                         string
			rows, columns, factors, keep int
		}{{"groups", 1000, 12, 4, 6}, {"groups", 600, 30, 5, 4}, {"mixtures", 1000, 20, 4, 5}, {"mixtures", 800, 60, 6, 15}} {
			at := folder(t)
			scanned := func(name string, names []string, values [][]float64) (file, stats string) {
				file, stats = columnsFile(t, at(name+".parquet"), names, values...), at(name+".ufs")
				must(t, "scan", file, "-o", stats)
				return file, stats
			}
			names, values := driftTable(shape.kind, seed, 10, shape.rows, shape.columns, shape.factors)
			file, same := scanned("same", names, values)
			_, other := driftTable(shape.kind, seed, 11, shape.rows, shape.columns, shape.factors)
			_, fresh := scanned("fresh", names, other)
			for _, method := range []string{"", "--method greedy", "--method laplacian", "--method mcfs", "--method mcfs --scale none", "--method align --scale none"} {
				flags := []string{"select", file, "-k", strconv.Itoa(shape.keep), "-o", at("sel.json")}
				must(t, append(flags, strings.Fields(method)...)...)
				chosen := readNames(t, at("sel.json"))
				random := rand.New(rand.NewPCG(seed, 5))
				random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
				replaced := slices.Clone(other)
				for _, name := range chosen[:(len(chosen)+1)/2] {
					j := slices.Index(names, name)
					replaced[j] = slices.Clone(other[j])
					random.Shuffle(len(replaced[j]), func(a, b int) { replaced[j][a], replaced[j][b] = replaced[j][b], replaced[j][a] })
				}
				_, drifted := scanned("drifted", names, replaced)
				for _, baseline := range [][]string{nil, {"--baseline", same}} {
					for stats, serves := range map[string]bool{same: true, fresh: true, drifted: false} {
						r := invoke(append([]string{"check", "--selection", at("sel.json"), "--stats", stats}, baseline...)...)
						if (r.code == exit.Done) != serves || r.code != exit.Done && r.code != exit.Stale && r.code != exit.Undecided {
							t.Errorf("%+v, seed %d, method %q, %s %v: exit code %d, and it serves: %t\n%s%s", shape, seed, method, stats, baseline, r.code, serves, r.out, r.err)
						}
					}
				}
			}
		}
	}
}

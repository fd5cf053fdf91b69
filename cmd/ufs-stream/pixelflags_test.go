package main

import (
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestPixelsExitCodes: a refusal names the cell or the flag at fault.
func TestPixelsExitCodes(t *testing.T) {
	at := folder(t)
	pixels, columns := picture(90, 4, 6)
	in := columnsFile(t, at("in.parquet"), pixels, columns...)
	missing := columnsFile(t, at("missing.parquet"), pixels[:23], columns[:23]...)
	twice := slices.Clone(pixels)
	twice[9] = "px_01_02" // as px_1_2, which is there
	duplicate := columnsFile(t, at("twice.parquet"), twice, columns...)
	signed := slices.Clone(columns)
	signed[8] = slices.Clone(signed[8])
	signed[8][40] = -1
	negative := columnsFile(t, at("negative.parquet"), pixels, signed...)
	signed[8][40] = nan
	holes := columnsFile(t, at("holes.parquet"), pixels, signed...)
	empty := slices.Clone(columns)
	empty[9] = slices.Repeat([]float64{nan}, 90)
	nothing := columnsFile(t, at("nothing.parquet"), pixels, empty...)
	_, many := picture(3000, 4, 6)
	for i := range many[8] {
		if i%10 > 0 {
			many[8][i] = nan
		}
	}
	few := columnsFile(t, at("few.parquet"), pixels, many...)
	labelled := columnsFile(t, at("labelled.parquet"), append(slices.Clone(pixels), "kind"), append(slices.Clone(columns), columns[8])...)
	constant := columnsFile(t, at("constant.parquet"), []string{"px_0_0", "px_0_1"}, slices.Repeat([]float64{1}, 30), slices.Repeat([]float64{3}, 30))
	stats := at("all.ufs")
	must(t, "scan", in, "-o", stats)
	flags := "select --clusters 3 --max-iter 2 -k 3 --method cpufs "
	checkAll(t, []outcome{
		{flags + in, exit.Done, "not converged after 2 iterations"},
		{flags + missing, exit.Usage, "px_3_5"},
		{flags + duplicate, exit.Usage, "both pixel (1, 2)"},
		{flags + "--exclude px_2_2 " + in, exit.Usage, "px_2_2"},
		{"plan --method cpufsnn " + missing, exit.Usage, "px_3_5"},
		{flags + labelled, exit.Usage, `"kind" is not named px_R_C`},
		{flags + "--label kind " + labelled, exit.Done, ""},
		{flags + "--shape 5x5 " + labelled, exit.Done, ""},
		{flags + "--shape 5x6 " + labelled, exit.Usage, "30 cells"},
		{flags + "--shape 6x4 " + in, exit.Usage, "4x6"},
		{flags + "--shape 4 " + in, exit.Usage, "sides"},
		{flags + "--shape 4x6x1 " + in, exit.Usage, "the features' names make a grid of 4x6"},
		{flags + "--shape 5x1x5 " + labelled, exit.Done, ""},
		{flags + "--start soft " + in, exit.Done, ""},
		{flags + "--start random --graph anchor " + in, exit.Done, ""},
		{flags + "--start 0 " + in, exit.Usage, "kmeans, soft, random"},
		{flags + "--shape 4xy " + in, exit.Usage, "28x28"},
		{flags + "--scale standard " + in, exit.Usage, "want minmax, or none"},
		{flags + "--scale none " + in, exit.Done, ""},
		{flags + "--scale none " + negative, exit.Data, "px_1_2"},
		{flags + "--scale none --missing mean " + negative, exit.Data, "takes no negative values"},
		{flags + negative, exit.Done, ""},
		{flags + "--missing error " + holes, exit.Data, "px_1_2"},
		{flags + "--missing mean " + holes, exit.Done, ""},
		{flags + "--missing zero --scale none " + holes, exit.Done, ""},
		{flags + "--missing drop-row " + holes, exit.Done, ""},
		{flags + "--missing mean " + nothing, exit.Done, ""},
		{flags + "--missing drop-row " + nothing, exit.Data, "all dropped"},
		{flags + "--missing drop-row --graph anchor " + few, exit.Done, ""}, // 500 anchors of 3,000 rows are 75 of 300
		{flags + "--missing drop-row --graph anchor --rows 1000 --sample 0 " + few, exit.Done, ""},
		{flags + constant, exit.Data, "no usable feature"},
		{flags + "--graph none " + in, exit.Usage, "want knn or anchor"},
		{flags + "--graph anchor --anchors 12 --anchor-method kmeans " + in, exit.Done, ""},
		{flags + "--graph knn --anchors 12 " + in, exit.Usage, "--graph anchor"},
		{flags + "--clusters 91 " + in, exit.Usage, "90 rows"},
		{flags + "--nu 0 " + in, exit.Usage, "above 0"},
		{flags + "--eta Inf " + in, exit.Usage, "1e12"},
		{flags + "--alpha 0.1x " + in, exit.Usage, "nothing to take a share of"},
		{flags + "--beta 0 " + in, exit.Usage, "above 0"},
		{flags + "--beta 1..10 " + in, exit.Usage, "path takes several"},
		{flags + "--mu 1 " + in, exit.Usage, "--mu is not for method cpufs but for eufs, hufs"},
		{flags + "--weight px_1_1 " + in, exit.Usage, "--weight is not for method cpufs"},
		{"select --method eufs --shape 4x6 " + in, exit.Usage, "--shape is not for method eufs but for cpufs, cpufsnn"},
		{"select --method cpufs --stats " + stats, exit.Usage, "iterates over rows"},
		{"scan --method cpufs -o " + at("x.ufs") + " " + in, exit.Usage, "use select INPUT… --method cpufs"},
		{"path --method cpufs " + in, exit.Usage, "select with each"},
		{"select --method cpufs -", exit.Usage, "save it to a file"},
		{flags + "--require-converged " + in, exit.Unconverged, "not converged after 2 iterations"},
		{flags + "--memory-limit 10MiB " + in, exit.Memory, "--memory-limit"},
		{flags + "-k 25 " + in, exit.Usage, "more than the 24 features"},
	}, at(""))
}

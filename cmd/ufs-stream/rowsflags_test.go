package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestRowsExitCodes: a request that a method that iterates over rows cannot serve is
// refused before anything is read; bad data is refused with its place.
func TestRowsExitCodes(t *testing.T) {
	dir, paths := plant(t, 300, 1)
	in := paths[0]
	at := func(name, text string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if text != "" {
			write(t, path, text)
		}
		return path
	}
	stats := at("all.ufs", "")
	must(t, "scan", in, "-o", stats)
	constant := columnsFile(t, at("constant.parquet", ""), []string{"a", "b"}, slices.Repeat([]float64{1}, 30), slices.Repeat([]float64{3}, 30))
	holes := columnsFile(t, at("holes.parquet", ""), []string{"a", "b"}, slices.Repeat([]float64{1, nan, 2, 5, 3, nan}, 9), slices.Repeat([]float64{4, 1, 6, 2, 8, 3}, 9))
	eufs, hufs := "select "+in+" --max-iter 2 -k 3 --method eufs", "select "+in+" --max-iter 2 -k 3 --method hufs"
	checkAll(t, []outcome{
		{"select --method eufss " + in, exit.Usage, "did you mean eufs?"},
		{eufs + " --graph kn", exit.Usage, "did you mean knn?"},
		{eufs + " --state float", exit.Usage, "float32"},
		{hufs + " --tree imag", exit.Usage, "did you mean image?"},
		{hufs + " --tree prefix", exit.Usage, "prefix:SEP"},
		{hufs + " --tree prefix:", exit.Usage, "separator"},
		{hufs + " --tree prefix:_", exit.Usage, "no two of the"},
		{hufs + " --tree image", exit.Usage, "px_R_C"},
		{hufs + " --tree " + at("none.json", ""), exit.Data, "none.json"},
		{hufs + " --tree " + at("list.json", `[1]`), exit.Data, "list.json: not a tree"},
		{hufs + " --tree " + at("stranger.json", `{"features": ["x000", "x001"], "children": [{"features": ["x000"]}, {"features": ["x999"]}]}`), exit.Data, `root.children[1]: "x999" is not a feature`},
		{hufs + " --tree " + at("fine.json", `{"features": ["x000", "x026"], "children": [{"features": ["x026"]}]}`), exit.Done, ""},
		{"plan --method hufs --tree image " + in, exit.Usage, "px_R_C"},
		{"tree " + in, exit.Usage, "no --tree"},
		{"tree --tree corelation " + in, exit.Usage, "did you mean correlation?"},
		{"tree --tree image " + in, exit.Usage, "px_R_C"},
		{"tree --tree image " + stats, exit.Usage, "statistics file"},
		{"tree --tree correlation --memory-limit 10MiB " + in, exit.Memory, "--memory-limit"},
		{"tree --tree correlation --weight x000 " + in, exit.Usage, "--weight"},

		{"select --method eufs --stats " + stats, exit.Usage, "select INPUT… --method eufs"},
		{"path --method hufs --stats " + stats, exit.Usage, "--method greedy with --stats"},
		{"scan --method eufs -o " + at("x.ufs", "") + " " + in, exit.Usage, "use select INPUT… --method eufs"},
		{"select --method eufs -", exit.Usage, "save it to a file"},
		{eufs + " --weight x000", exit.Usage, "--weight is not for method eufs"},
		{eufs + " --constraint scatter", exit.Usage, "--constraint is not for method eufs but for sfufs, fufs"},
		{eufs + " --anchors-file " + in, exit.Usage, "not for method eufs"},
		{eufs + " --variance 0.9", exit.Usage, "-k"},
		{eufs + " --alpha 0.1x,0.2x", exit.Usage, "path takes several"},
		{eufs + " --beta 1..10", exit.Usage, "path takes several"},
		{"plan --method eufs --beta 1..10 " + in, exit.Usage, "path takes several"},
		{"path --method eufs --alpha 0.1x..1 " + in, exit.Usage, "two shares"},
		{eufs + " --alpha -1", exit.Usage, "at least 0"},
		{eufs + " --alpha x", exit.Usage, "want a number"},
		{eufs + " --mu 0", exit.Usage, "above 0"},
		{eufs + " --mu Inf", exit.Usage, "want a number"},
		{eufs + " --mu 0x", exit.Usage, "above 0"},
		{eufs + " --rho 0.9", exit.Usage, "at least 1"},
		{eufs + " --mu-max 0", exit.Usage, "above 0"},
		{eufs + " --mu 2 --mu-max 1", exit.Usage, "above its bound"},
		{eufs + " --start hard", exit.Usage, "kmeans, soft, random"},
		{eufs + " --start random", exit.Usage, "want kmeans or soft"},
		{eufs + " --sigma 0", exit.Usage, "above 0"},
		{eufs + " --graph anchor --sigma 1", exit.Usage, "has no --sigma"},
		{hufs + " --sigma 1", exit.Usage, "not for method hufs"},
		{eufs + " --tol 2", exit.Usage, "share"},
		{eufs + " --sample -1", exit.Usage, "0 for all"},
		{eufs + " --clusters 0", exit.Usage, "want 1 or more"},
		{eufs + " --clusters 301", exit.Usage, "more than the 300 rows"},
		{eufs + " --sample 8", exit.Usage, "more than the 8 rows"},
		{eufs + " --graph none --neighbors 3", exit.Usage, "leave them out"},
		{eufs + " --graph knn --anchors 30", exit.Usage, "--graph anchor"},
		{eufs + " --graph anchor --anchors 301", exit.Usage, "only 300 rows"},
		{eufs + " --graph anchor --anchors 5", exit.Usage, "at least 6"},
		{eufs + " --graph anchor --anchor-method kmeans", exit.Done, ""},
		{"select --method greedy --sample 3 " + in, exit.Usage, "--sample is not for method greedy but for eufs, hufs, cpufs, cpufsnn"},
		{"select --method sfufs --alpha 0.1x " + in, exit.Usage, "nothing to take a share of"},
		{"path --method fufs --gamma 1e-3x..1x " + in, exit.Usage, "nothing to take a share of"},
		{eufs + " -k 49", exit.Usage, "more than the 48 features"},

		{"select --method eufs --clusters 3 " + constant, exit.Data, "no usable feature"},
		{"select --method eufs --clusters 3 --missing error " + holes, exit.Data, "holes.parquet"},
		{"select --method eufs --clusters 3 --missing drop-row " + holes, exit.Done, ""},
		{"select --method eufs --clusters 3 --missing drop-row --sample 30 " + holes, exit.Done, "that --missing drop-row leaves are used"},
		{"select --method hufs --clusters 3 --missing mean " + holes, exit.Done, ""},
		{eufs + " --memory-limit 10MiB", exit.Memory, "--memory-limit"},
		{eufs + " --temp-dir " + filepath.Join(dir, "no"), exit.Fault, "no such folder"},
		{eufs + " --require-converged", exit.Unconverged, "not converged after 2 iterations"},
		{"path --method eufs --alpha 0.1x,0.2x --max-iter 2 --require-converged " + in, exit.Unconverged, "not converged at --alpha 0.1x"},
		{hufs + " --tree none --alpha 0.1x", exit.Done, "--tree none: there are no groups"},
		{eufs + " --graph none --beta 1", exit.Done, "there is no graph"},
		{hufs + " --alpha 0", exit.Done, ""},
		{eufs + " --mu 0.001", exit.Done, "still 0 after 2 iterations"},
		{eufs + " --beta 50 --mu 20", exit.Done, "ill-conditioned"},
		{eufs + " --alpha 1.5x --mu 1 --max-iter 100", exit.Done, "all weights become 0"},
		{eufs + " --mu 1e13 --mu-max 1e14 --alpha 1e12", exit.Done, "depend on mu alone"},
	}, in, dir)
}

// TestTreeRoundTrip: a tree from a file gives the same answer as the tree that was written
// to it, for select and for tree. A column that turns out constant may stay in the file.
func TestTreeRoundTrip(t *testing.T) {
	pixels := make([][]float64, 17)
	names := make([]string, 17)
	for j := range pixels {
		pixels[j] = make([]float64, 60)
		for i := range pixels[j] {
			pixels[j][i] = float64((i*(j+3)*(j+7) + i*i*j) % 11)
		}
	}
	for j := range 17 {
		names[j] = []string{"px_0_", "px_1_", "px_2_", "px_3_"}[j%4] + string(rune('0'+j/4))
	}
	clear(pixels[5])
	in := columnsFile(t, filepath.Join(t.TempDir(), "pixels.parquet"), names, pixels...)
	for _, kind := range []string{"image", "correlation", "prefix:_"} {
		file := filepath.Join(t.TempDir(), "tree.json")
		text := must(t, "tree", in, "--tree", kind)
		must(t, "tree", in, "--tree", kind, "-o", file)
		if written := read(t, file); written != text || !strings.HasPrefix(text, `{"features": ["px_0_0"`) {
			t.Errorf("%s:\n%s\nand on standard output\n%s", kind, written, text)
		}
		if again := must(t, "tree", in, "--tree", file); again != text {
			t.Errorf("%s: read again\n%s\nwant\n%s", kind, again, text)
		}
		var got [2]string
		for i, tree := range []string{kind, file} {
			s := selection(t, in, "--method", "hufs", "--tree", tree, "-k", "9", "--clusters", "3", "--max-iter", "9", "--alpha", "0.2x")
			if s.Options["tree"] != tree {
				t.Errorf("%s: recorded as %v", tree, s.Options["tree"])
			}
			s.Options["tree"] = nil
			got[i] = answer(t, s)
		}
		if got[0] != got[1] {
			t.Errorf("%s: %s\nfrom its file %s", kind, got[0], got[1])
		}
		if without := selection(t, in, "--method", "hufs", "--tree", "none", "-k", "9", "--clusters", "3", "--max-iter", "9", "--alpha", "0.2x"); answer(t, without) == got[0] {
			t.Errorf("%s: the tree changes nothing", kind)
		}
	}
	if s := selection(t, in, "--method", "hufs", "-k", "9", "--clusters", "3", "--max-iter", "9"); s.Options["tree"] != "image" {
		t.Errorf("the tree of pixels is %v by default, want image", s.Options["tree"])
	}
}

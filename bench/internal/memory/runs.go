package memory

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/methods"
)

type job struct {
	verb    string
	name    string // its name in the table of results: the verb, with the method or another distinction
	args    []string
	output  string // ending of the output file
	needs   []string
	limited bool // the verb has the flag --memory-limit
}

// Files that earlier runs write and later runs read.
const (
	selectionFile = "selection.json"
	statsFile     = "all.ufs"
	firstPart     = "part-1.ufs"
	secondPart    = "part-2.ufs"
)

func listJobs(s *shape, label, dir string) []job {
	in, data := s.inputArgs(), s.labelledArgs(label)
	at := func(name string) string { return filepath.Join(dir, name) }
	selection := []string{"--selection", at(selectionFile)}
	sparse := s.kind == "sparse"
	list := []job{
		{verb: "select", name: "select, to go on from", args: slices.Concat(data, []string{"--method", "greedy", "-k", "3", "-o", at(selectionFile)})},
		{verb: "scan", name: "scan", args: slices.Concat(data, []string{"-o", at(statsFile)})},
		{verb: "scan", name: "scan --shard 1/2", args: slices.Concat(data, []string{"--shard", "1/2", "-o", at(firstPart)})},
		{verb: "scan", name: "scan --shard 2/2", args: slices.Concat(data, []string{"--shard", "2/2", "-o", at(secondPart)})},
		{verb: "inspect", name: "inspect", args: in},
		{verb: "inspect", name: "inspect --scan", args: slices.Concat(in, []string{"--scan"})},
		{verb: "convert", name: "convert", args: in[:1], output: ".parquet"},
		{verb: "apply", name: "apply", args: slices.Concat(in[:1], selection), output: ".parquet", needs: []string{selectionFile}},
		{verb: "merge", name: "merge", args: []string{at(firstPart), at(secondPart)}, output: ".ufs", needs: []string{firstPart, secondPart}},
		{verb: "check", name: "check", args: slices.Concat([]string{"--stats", at(statsFile)}, selection), needs: []string{statsFile, selectionFile}},
		{verb: "redundancy", name: "redundancy", args: data},
		{verb: "explain", name: "explain", args: slices.Concat([]string{firstName}, in[:1], selection), needs: []string{selectionFile}},
		{verb: "eval", name: "eval", args: slices.Concat(data, selection), needs: []string{selectionFile}},
		{verb: "eval", name: "eval, no classes", args: slices.Concat(in, selection), needs: []string{selectionFile}},
		{verb: "path", name: "path", args: slices.Concat(data, []string{"--method", "greedy", "-k", "3"})},
		{verb: "path", name: "path --method sfufs", args: slices.Concat(data, []string{"--method", "sfufs", "-k", "3", "--alpha", "0.1,1", "--gamma", "1", "--max-iter", "3"})},
		{verb: "tree", name: "tree --tree correlation", args: slices.Concat(data, []string{"--tree", "correlation"}), output: ".json"},
		{verb: "select", name: "select --stats", args: []string{"--stats", at(statsFile), "-k", "3"}, needs: []string{statsFile}},
		{verb: "report", name: "report", args: []string{at(selectionFile)}, output: ".html", needs: []string{selectionFile}},
	}
	for i := range list {
		list[i].limited = list[i].verb != "report"
	}
	for _, m := range methods.All() {
		run := job{verb: "select", name: "select --method " + m.Name, limited: true, args: slices.Concat(data, []string{"--method", m.Name, "-k", "3"})}
		options := m.Declare().Options
		if s.kind != "" && options.Find("shape") != nil {
			run.args = append(run.args, "--shape", s.gridShape())
		}
		if options.Find("max-iter") != nil { // more iterations do not need more memory
			run.args = append(run.args, "--max-iter", "3")
		}
		list = append(list, run)
		if options.Find("sample") != nil && !sparse {
			run.name += " --sample 0"
			run.args = slices.Concat(run.args, []string{"--sample", "0"})
			list = append(list, run)
		}
	}
	return list
}

// firstName is a placeholder in the arguments. It is replaced by the name of the first selected column.
const firstName = "FIRST"

// shape is a table that needs much memory for one reason, such as its width.
type shape struct {
	name, about   string
	kind          string // kind of gen; empty for an existing file
	rows, columns int
	group         int // rows of a row group; 0 leaves the choice to gen
	path          string
}

func listMadeShapes(sizeFactor float64) []shape {
	part := func(n int, least int) int { return max(int(math.Round(float64(n)*sizeFactor)), least) }
	whole := part(1_000_000, 400)
	return []shape{
		{name: "wide", about: "more columns than rows", kind: "planted", rows: part(500, 60), columns: part(20_000, 100)},
		{name: "tall", about: "few columns", kind: "planted", rows: part(4_000_000, 2000), columns: 10},
		{name: "sparse", about: "word counts, in lists of indices and values", kind: "sparse", rows: part(20_000, 300), columns: part(50_000, 100)},
		{name: "one group", about: "one row group of 2 GB", kind: "planted", rows: whole, columns: 250, group: whole},
		{name: "many groups", about: "a row group for every row", kind: "planted", rows: whole, columns: 8, group: 1},
	}
}

func (s *shape) makeTable(ctx context.Context, o *options, dir string) error {
	if s.kind == "" {
		return nil
	}
	s.path = filepath.Join(dir, s.name+".parquet")
	args := []string{"gen", s.kind, "--rows", strconv.Itoa(s.rows), "--columns", strconv.Itoa(s.columns), "-o", s.path, "-q"}
	if s.group > 0 {
		args = append(args, "--group-rows", strconv.Itoa(s.group))
	}
	if s.kind == "planted" {
		args = append(args, "--label")
	}
	return o.generate(ctx, args)
}

func (s *shape) inputArgs() []string {
	args := []string{s.path}
	if s.kind == "sparse" {
		args = append(args, "--sparse", "indices,values,"+strconv.Itoa(s.columns))
	}
	return args
}

func (s *shape) labelledArgs(label string) []string {
	if s.kind != "" {
		label = gen.LabelName
	}
	if label == "" {
		return s.inputArgs()
	}
	return append(s.inputArgs(), "--label", label)
}

func (s *shape) gridShape() string {
	height := int(math.Sqrt(float64(s.columns)))
	for s.columns%height > 0 {
		height--
	}
	return fmt.Sprintf("%dx%d", height, s.columns/height)
}

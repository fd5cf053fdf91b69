package memory

import (
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/methods"
)

// job is one run of the program on one table.
type job struct {
	verb    string
	what    string // the row of the table: the verb, with its method or what else tells it from others
	args    []string
	output  string // an ending, where -o must be named: the program writes there
	needs   []string
	limited bool // it has --memory-limit
}

// The files that some runs need are made by others that go before them.
const (
	selectionFile = "selection.json"
	statsFile     = "all.ufs"
	firstPart     = "part-1.ufs"
	secondPart    = "part-2.ufs"
)

// jobs lists the runs on a table. dir has the files that runs leave for others.
func jobs(s *shape, label, dir string) []job {
	in, data := s.input(), s.labelled(label)
	at := func(name string) string { return filepath.Join(dir, name) }
	selection := []string{"--selection", at(selectionFile)}
	sparse := s.kind == "sparse"
	list := []job{
		{verb: "select", what: "select, to go on from", args: slices.Concat(data, []string{"--method", "greedy", "-k", "3", "-o", at(selectionFile)})},
		{verb: "scan", what: "scan", args: slices.Concat(data, []string{"-o", at(statsFile)})},
		{verb: "scan", what: "scan --shard 1/2", args: slices.Concat(data, []string{"--shard", "1/2", "-o", at(firstPart)})},
		{verb: "scan", what: "scan --shard 2/2", args: slices.Concat(data, []string{"--shard", "2/2", "-o", at(secondPart)})},
		{verb: "inspect", what: "inspect", args: in},
		{verb: "inspect", what: "inspect --scan", args: slices.Concat(in, []string{"--scan"})},
		{verb: "convert", what: "convert", args: in[:1], output: ".parquet"},
		{verb: "apply", what: "apply", args: slices.Concat(in[:1], selection), output: ".parquet", needs: []string{selectionFile}},
		{verb: "merge", what: "merge", args: []string{at(firstPart), at(secondPart)}, output: ".ufs", needs: []string{firstPart, secondPart}},
		{verb: "check", what: "check", args: slices.Concat([]string{"--stats", at(statsFile)}, selection), needs: []string{statsFile, selectionFile}},
		{verb: "redundancy", what: "redundancy", args: data},
		{verb: "explain", what: "explain", args: slices.Concat([]string{firstName}, in[:1], selection), needs: []string{selectionFile}},
		{verb: "eval", what: "eval", args: slices.Concat(data, selection), needs: []string{selectionFile}},
		{verb: "eval", what: "eval, no classes", args: slices.Concat(in, selection), needs: []string{selectionFile}},
		{verb: "path", what: "path", args: slices.Concat(data, []string{"--method", "greedy", "-k", "3"})},
		{verb: "path", what: "path --method sfufs", args: slices.Concat(data, []string{"--method", "sfufs", "-k", "3", "--alpha", "0.1,1", "--gamma", "1", "--max-iter", "3"})},
		{verb: "tree", what: "tree --tree correlation", args: slices.Concat(data, []string{"--tree", "correlation"}), output: ".json"},
		{verb: "select", what: "select --stats", args: []string{"--stats", at(statsFile), "-k", "3"}, needs: []string{statsFile}},
		{verb: "report", what: "report", args: []string{at(selectionFile)}, output: ".html", needs: []string{selectionFile}},
	}
	for i := range list {
		list[i].limited = list[i].verb != "report"
	}
	for _, m := range methods.All() {
		run := job{verb: "select", what: "select --method " + m.Name, limited: true, args: slices.Concat(data, []string{"--method", m.Name, "-k", "3"})}
		options := m.Declare().Options
		if s.kind != "" && options.Find("shape") != nil {
			run.args = append(run.args, "--shape", s.pixels())
		}
		if options.Find("max-iter") != nil { // more take no more memory
			run.args = append(run.args, "--max-iter", "3")
		}
		list = append(list, run)
		if options.Find("sample") != nil && !sparse {
			run.what += " --sample 0"
			run.args = slices.Concat(run.args, []string{"--sample", "0"})
			list = append(list, run)
		}
	}
	return list
}

// firstName stands for the name of the first column that the selection chose.
const firstName = "FIRST"

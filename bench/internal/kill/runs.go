package kill

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
)

// job is one kind of long run of ufs-stream.
type job struct {
	name string
	verb string
	args []string // without -o and --checkpoint
	out  string   // path of the output
	// folder is true if the output is a folder. Finished files remain in it even without a checkpoint.
	folder bool
}

// tableSize is the size of a generated table, which several jobs read.
type tableSize struct {
	rows, columns, files int
}

func (o *options) makeJobs(ctx context.Context, dir string) ([]job, error) {
	at := func(name string) string { return filepath.Join(dir, name) }
	generated := func(name string, t tableSize) (string, error) {
		args := []string{"gen", "planted", "--label", "--rows", strconv.Itoa(int(float64(t.rows) * o.share)), "--columns", strconv.Itoa(t.columns), "-q", "-o", at(name)}
		if t.files > 0 {
			args = append(args, "--files", strconv.Itoa(t.files))
		}
		if err := removePaths(at(name)); err != nil { // gen refuses to write into an existing folder
			return "", err
		}
		return at(name), o.generate(ctx, args)
	}
	long, err := generated("long", tableSize{rows: 400_000, columns: 200, files: 8})
	if err != nil {
		return nil, err
	}
	wide, err := generated("wide", tableSize{rows: 40_000, columns: 1500, files: 8})
	if err != nil {
		return nil, err
	}
	label := func(path string, more ...string) []string {
		return slices.Concat([]string{path, "--label", "label"}, more)
	}
	outOfCore := func(path, method string, more ...string) ([]string, error) {
		args := label(path, slices.Concat([]string{"--method", method, "-k", "20"}, more)...)
		limit, err := o.findSmallestLimit(ctx, args)
		return append(args, "--memory-limit", limit), err
	}
	greedy, err := outOfCore(wide, "greedy")
	if err != nil {
		return nil, err
	}
	eufs, err := outOfCore(long, "eufs", "--sample", "0", "--max-iter", "10")
	if err != nil {
		return nil, err
	}
	selection := at("selection.json")
	if err := o.runProgram(ctx, slices.Concat([]string{"select"}, label(long, "--method", "variance", "-k", "60", "-o", selection))); err != nil {
		return nil, err
	}
	return []job{
		{name: "scan", verb: "scan", args: label(long, "--method", "sfufs"), out: at("all.ufs")},
		{name: "select greedy", verb: "select", args: label(wide, "--method", "greedy", "-k", "20"), out: at("greedy.json")},
		{name: "select greedy, out of core", verb: "select", args: greedy, out: at("outofcore.json")},
		{name: "select sfufs", verb: "select", args: label(long, "--method", "sfufs", "-k", "20", "--anchors", "300"), out: at("sfufs.json")},
		{name: "select eufs, out of core", verb: "select", args: eufs, out: at("eufs.json")},
		{name: "apply", verb: "apply", args: []string{long, "--selection", selection}, out: at("reduced"), folder: true},
	}, nil
}

func (o *options) findSmallestLimit(ctx context.Context, args []string) (string, error) {
	var plan struct {
		Memory struct {
			Smallest int64 `json:"smallest_bytes"`
		} `json:"memory"`
	}
	if _, err := o.shop.RunJSON(ctx, &plan, "plan", append(args, "--checkpoint", "none")...); err != nil {
		return "", err
	}
	return fmt.Sprintf("%dMiB", plan.Memory.Smallest>>20+1), nil
}

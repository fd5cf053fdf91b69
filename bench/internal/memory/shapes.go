package memory

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
)

// shape is a table that needs much memory for one reason, such as its width.
type shape struct {
	name, about   string
	kind          string // kind of gen; empty for an existing file
	rows, columns int
	group         int // rows of a row group; 0 leaves the choice to gen
	path          string
}

func listMadeShapes(share float64) []shape {
	part := func(n int, least int) int { return max(int(math.Round(float64(n)*share)), least) }
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

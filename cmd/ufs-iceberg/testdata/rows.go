//go:build ignore

// Command rows prints the rows that ufs-stream reads by a plan. Each line has the bits of the numbers of a row, in the
// order of the columns on the first line, and the texts of the columns that are given behind the plan.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

func main() {
	if err := printRows(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func printRows(ctx context.Context, plan string, texts []string) error {
	opt := chunkio.Options{Plan: plan, Missing: stream.MissingKeep, Columns: []string{"*"}}
	var lines [][]string
	var names []string
	for i, label := range append([]string{""}, texts...) {
		opt.Label, opt.Classes = label, label != ""
		d, err := chunkio.Open(ctx, nil, opt)
		if err != nil {
			return err
		}
		if i == 0 {
			for _, c := range d.Columns() {
				names = append(names, c.Name)
			}
		}
		at := 0
		for c, err := range d.Chunks(ctx, stream.Range{From: 0, To: d.Rows()}) {
			if err != nil {
				return err
			}
			for row := range c.Rows {
				if i == 0 {
					var cells []string
					for j := range c.Cols {
						cells = append(cells, cell(c.Col(j)[row]))
					}
					lines = append(lines, cells)
					continue
				}
				text := "null"
				if k := c.Class[row]; k >= 0 {
					text = fmt.Sprintf("%q", d.Classes()[k])
				}
				lines[at] = append(lines[at], text)
				at++
			}
		}
		d.Close()
	}
	fmt.Println(strings.Join(append(names, texts...), "\t"))
	for _, cells := range lines {
		fmt.Println(strings.Join(cells, "\t"))
	}
	return nil
}

func cell(v float64) string {
	if math.IsNaN(v) {
		return "missing"
	}
	return fmt.Sprintf("%016x", math.Float64bits(v))
}

package ufs_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// demoData is a folder with a Parquet file in which six hidden factors are repeated, mixed
// and drowned in noise. A program of yours names its own files instead.
func demoData() (dir string) {
	dir, err := os.MkdirTemp("", "ufs-example-")
	if err == nil {
		err = chunkio.WriteParquet(context.Background(), filepath.Join(dir, "planted.parquet"), planted.New(planted.Options{}), chunkio.WriteOptions{})
	}
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

// Select the features that best reconstruct all others.
func ExampleSelect() {
	data := demoData()
	defer os.RemoveAll(data)
	s, err := ufs.Select(context.Background(), ufs.Request{Input: ufs.Input{Paths: []string{data}}, Choice: ufs.Choice{K: 6}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range s.Selected {
		fmt.Printf("%d %s: %.1f %% explained so far\n", f.Rank, f.Name, 100*(1-f.Error))
	}
	// Output:
	// 1 x032: 17.2 % explained so far
	// 2 x021: 32.3 % explained so far
	// 3 x001: 45.3 % explained so far
	// 4 x035: 56.3 % explained so far
	// 5 x010: 65.3 % explained so far
	// 6 x013: 72.2 % explained so far
}

// Solve SFUFS for every setting of a grid from the same two passes over the data.
func ExamplePath() {
	data := demoData()
	defer os.RemoveAll(data)
	p, err := ufs.Path(context.Background(), ufs.Request{
		Input:  ufs.Input{Paths: []string{data}},
		Choice: ufs.Choice{K: 6, Method: "sfufs", Options: method.Settings{"gamma": "0.01,0.1,1"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, set := range p.Grid.Settings {
		fmt.Printf("gamma %v: %v\n", float64(set.Gamma), set.Selected)
	}
	fmt.Println(p.Grid.Passes, "passes")
	// Output:
	// gamma 0.01: [x034 x042 x039 x036 x011 x013]
	// gamma 0.1: [x049 x014 x039 x042 x011 x013]
	// gamma 1: [x005 x049 x042 x018 x013 x000]
	// 2 passes
}

// Gather statistics of parts, on as many machines as there are, add them up, and select.
func ExampleScan() {
	data := demoData()
	defer os.RemoveAll(data)
	ctx := context.Background()
	at := func(name string) string { return filepath.Join(data, name+".ufs") }
	for _, shard := range []string{"1/2", "2/2"} {
		part := ufs.ScanRequest{Request: ufs.Request{Input: ufs.Input{Paths: []string{data}}, Output: at("part" + shard[:1])}, Shard: shard}
		if _, err := ufs.Scan(ctx, part); err != nil {
			fmt.Println(err)
			return
		}
	}
	if _, err := ufs.Merge(ctx, ufs.MergeRequest{Files: []string{at("part1"), at("part2")}, Output: at("all")}); err != nil {
		fmt.Println(err)
		return
	}
	s, err := ufs.Select(ctx, ufs.Request{Stats: at("all"), Choice: ufs.Choice{K: 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range s.Selected {
		fmt.Println(f.Name)
	}
	// Output:
	// x032
	// x021
	// x001
}

// Hear of every pass over the input.
func ExampleRequest_progress() {
	data := demoData()
	defer os.RemoveAll(data)
	_, err := ufs.Select(context.Background(), ufs.Request{
		Input:  ufs.Input{Paths: []string{data}},
		Choice: ufs.Choice{K: 6, Method: "laplacian"},
		Hooks: ufs.Hooks{Progress: func(p ufs.Progress) {
			if !p.Done {
				fmt.Printf("pass %d of %d: %s, %d rows\n", p.Pass, p.Passes, p.What, p.Rows)
			}
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Output:
	// pass 1 of 2: profile, 20000 rows
	// pass 2 of 2: statistics, 20000 rows
}

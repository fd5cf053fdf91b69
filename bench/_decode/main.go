// Command decode decodes every column of its input in one pass of package chunkio, as ufs-stream does, and discards the
// values. This is the cost of reading without any statistics. `bench speed` runs it in turn with bench/_bareread.
//
//	decode THREADS PATH…
//
// It prints the number of values. Like ufs-stream, it leaves out columns that do not contain numbers.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

func main() {
	values, err := run(context.Background(), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "decode:", err)
		os.Exit(1)
	}
	fmt.Println(values)
}

// run reads the inputs once. It keeps missing values, so that they do not end the pass.
func run(ctx context.Context, args []string) (values int64, err error) {
	if len(args) < 2 {
		return 0, errors.New("usage: decode THREADS PATH…")
	}
	threads, err := strconv.Atoi(args[0])
	if err != nil || threads < 1 {
		return 0, fmt.Errorf("%q is no number of threads", args[0])
	}
	runtime.GOMAXPROCS(threads) // as ufs-stream's --threads does
	rows, err := chunkio.Open(ctx, args[1:], chunkio.Options{Threads: threads, Missing: stream.MissingKeep})
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for c, err := range rows.Chunks(ctx, stream.Range{}) {
		if err != nil {
			return 0, err
		}
		values += int64(c.Rows) * int64(c.Cols)
	}
	return values, nil
}

// Command ours is this project's side of compare: it writes a Parquet file as .npy,
// and times k-means over such a file.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("ours", flag.ContinueOnError)
	npy := fs.String("npy", "", "the `file` to read, or to write by --convert")
	parquet := fs.String("convert", "", "write this Parquet `file` to --npy")
	label := fs.String("label", "", "the `column` that is no feature")
	columns := fs.Int("columns", 0, "convert only so many columns, evenly spaced; 0 for all")
	var opt cluster.Options
	fs.IntVar(&opt.Clusters, "clusters", 10, "")
	fs.IntVar(&opt.Restarts, "restarts", 10, "")
	fs.Uint64Var(&opt.Seed, "seed", 0, "")
	fs.IntVar(&opt.Threads, "threads", 2, "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *parquet != "" {
		return convert(ctx, *parquet, *label, *columns, *npy)
	}
	x, err := load(*npy)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(opt.Threads)
	start, before := time.Now(), cpu()
	r, err := cluster.KMeans(ctx, cluster.Matrix(x), opt)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"seconds": time.Since(start).Seconds(), "cpu": cpu() - before, "inertia": r.Inertia, "moves": len(r.Trace) - 1,
	})
}

// cpu is the process's time on all cores so far, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// convert writes the features as one float64 array, column by column.
func convert(ctx context.Context, from, label string, columns int, to string) error {
	d, err := chunkio.Open(ctx, []string{from}, chunkio.Options{Label: label})
	if err != nil {
		return err
	}
	defer d.Close()
	n, all := int(d.Rows()), len(d.Columns())
	k := all
	if columns > 0 {
		k = min(columns, all)
	}
	x := make([]float64, n*k)
	for c, err := range d.Chunks(ctx, stream.Range{}) {
		if err != nil {
			return err
		}
		for j := range k {
			for i, v := range c.Col(j * all / k) {
				x[j*n+int(c.Start)+i] = v
			}
		}
	}
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': (%d, %d), }", n, k)
	out := []byte("\x93NUMPY\x01\x00")
	out = binary.LittleEndian.AppendUint16(out, headBytes-10)
	out = fmt.Appendf(out, "%-*s\n", headBytes-11, head)
	if out, err = binary.Append(out, binary.LittleEndian, x); err != nil {
		return err
	}
	return os.WriteFile(to, out, 0o600)
}

// headBytes is the length of the header of a .npy file, if the header is short.
const headBytes = 128

// load reads the array that convert wrote to the file with that name.
func load(name string) (x kernel.Matrix[float64], err error) {
	f, err := os.Open(name)
	if err != nil {
		return x, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var head [headBytes]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return x, err
	}
	var n, k int
	if _, err := fmt.Sscanf(string(head[10:]), "{'descr': '<f8', 'fortran_order': True, 'shape': (%d, %d), }", &n, &k); err != nil {
		return x, err
	}
	data := make([]float64, n*k)
	return kernel.ColMajor(data, n, k, n), binary.Read(in, binary.LittleEndian, data)
}

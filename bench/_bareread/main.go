// Command bareread decodes every column of Parquet files through arrow v15's own column readers and discards the
// values. So its time is the least that reading the files with that library can take. `bench scale`, `bench speed` and
// `bench small` run it in turn with ufs-stream, to compare their times. It also reads CSV files through encoding/csv and
// strconv, and .npy.gz files of float32 through compress/gzip, in one thread.
//
//	bareread THREADS FILE…
//
// The name of its folder begins with _, so that ./... does not include it. Only chunkio may import arrow, and this
// program is not part of the product. BenchmarkDecode in chunkio reads in the same way.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
)

func main() {
	values, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bareread:", err)
		os.Exit(1)
	}
	fmt.Println(values)
}

// run reads the files, and those in the folders, one after the other. The threads share the columns of each row group.
func run(args []string) (values int64, err error) {
	if len(args) < 2 {
		return 0, errors.New("usage: bareread THREADS FILE…")
	}
	threads, err := strconv.Atoi(args[0])
	if err != nil || threads < 1 {
		return 0, fmt.Errorf("%q is no number of threads", args[0])
	}
	runtime.GOMAXPROCS(threads) // as with --threads of ufs-stream, this also limits the garbage collector
	files, err := listFiles(args[1:])
	if err != nil {
		return 0, err
	}
	workers := make([]worker, threads)
	for _, path := range files {
		if err := readFile(path, workers); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
	}
	for i := range workers {
		values += workers[i].values
	}
	return values, nil
}

func listFiles(inputs []string) (files []string, err error) {
	for _, in := range inputs {
		err := filepath.WalkDir(in, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (path == in || slices.Contains([]string{".parquet", csvEnding, ".gz"}, filepath.Ext(path))) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return files, nil
}

const csvEnding, arrayEnding = ".csv", ".npy.gz"

func readFile(path string, workers []worker) error {
	switch {
	case strings.HasSuffix(path, csvEnding):
		return workers[0].readText(path)
	case strings.HasSuffix(path, arrayEnding):
		return workers[0].readArray(path)
	}
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer r.Close()
	for g := range r.NumRowGroups() {
		group := r.RowGroup(g)
		var work sync.WaitGroup
		for w := range workers {
			work.Go(func() {
				for i := w; i < group.NumColumns() && workers[w].err == nil; i += len(workers) {
					workers[w].err = workers[w].readColumn(group.Column(i))
				}
			})
		}
		work.Wait()
		for i := range workers {
			if workers[i].err != nil {
				return workers[i].err
			}
		}
	}
	return nil
}

// worker holds the buffers of a thread, which are used again for every column.
type worker struct {
	bools   []bool
	ints    []int32
	longs   []int64
	floats  []float32
	doubles []float64
	bytes   []parquet.ByteArray
	levels  []int16
	values  int64
	sum     float64 // of the numbers that are read as text or as an array
	err     error
}

func (w *worker) readColumn(c file.ColumnChunkReader, err error) error {
	if err != nil {
		return err
	}
	switch r := c.(type) {
	case *file.BooleanColumnChunkReader:
		return readValues(w, r, &w.bools)
	case *file.Int32ColumnChunkReader:
		return readValues(w, r, &w.ints)
	case *file.Int64ColumnChunkReader:
		return readValues(w, r, &w.longs)
	case *file.Float32ColumnChunkReader:
		return readValues(w, r, &w.floats)
	case *file.Float64ColumnChunkReader:
		return readValues(w, r, &w.doubles)
	case *file.ByteArrayColumnChunkReader:
		return readValues(w, r, &w.bytes)
	}
	return fmt.Errorf("a column of %T", c)
}

func (w *worker) readText(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		return err
	}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, field := range fields {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return err
			}
			w.sum += x
		}
		w.values += int64(len(fields))
	}
}

func (w *worker) readArray(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return err
	}
	var head [10]byte
	if _, err := io.ReadFull(z, head[:]); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, z, int64(binary.LittleEndian.Uint16(head[8:]))); err != nil {
		return err
	}
	values := make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(z, values)
		for ; n >= 4; n -= 4 {
			w.sum += float64(math.Float32frombits(binary.LittleEndian.Uint32(values[n-4:])))
			w.values++
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

type typedReader[T any] interface {
	HasNext() bool
	ReadBatch(batchSize int64, values []T, defLvls, repLvls []int16) (total int64, valuesRead int, err error)
	Err() error
}

func readValues[T any](w *worker, r typedReader[T], buf *[]T) error {
	const batch = 16384 // the library is fastest with batches of 8,192 values or more
	if *buf == nil {
		*buf = make([]T, batch)
	}
	if w.levels == nil {
		w.levels = make([]int16, batch)
	}
	for r.HasNext() {
		_, n, err := r.ReadBatch(batch, *buf, w.levels, nil)
		if err != nil {
			return err
		}
		w.values += int64(n)
	}
	return r.Err()
}

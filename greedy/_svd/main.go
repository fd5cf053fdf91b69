// Command ours writes a Parquet file of sparse rows as the three arrays of a CSR matrix, for compare.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

func main() {
	from := flag.String("parquet", "", "the `file`")
	sparse := flag.String("sparse", "indices,values", "its columns of lists")
	to := flag.String("to", ".", "the `folder` of indptr.npy, indices.npy and data.npy")
	flag.Parse()
	if err := convert(context.Background(), *from, *sparse, *to); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

// convert takes two passes: the first counts, as the head of an array has its length.
func convert(ctx context.Context, from, sparse, to string) error {
	d, err := chunkio.Open(ctx, []string{from}, chunkio.Options{Sparse: sparse})
	if err != nil {
		return err
	}
	defer d.Close()
	ends := []int64{0}
	pass := func(do func(c *stream.CSR) error) error {
		for c, err := range d.Chunks(ctx, stream.Range{}) {
			if err != nil {
				return err
			}
			if err := do(c.Sparse); err != nil {
				return err
			}
		}
		return nil
	}
	err = pass(func(c *stream.CSR) error {
		for i := 1; i < len(c.RowPtr); i++ {
			ends = append(ends, ends[len(ends)-1]+int64(c.RowPtr[i]-c.RowPtr[i-1]))
		}
		return nil
	})
	if err != nil {
		return err
	}
	entries := ends[len(ends)-1]
	indptr := newArray(to, "indptr", "<i8", int64(len(ends)))
	indptr.add(ends)
	indices, data := newArray(to, "indices", "<i4", entries), newArray(to, "data", "<f8", entries)
	err = pass(func(c *stream.CSR) error {
		lo, hi := c.RowPtr[0], c.RowPtr[len(c.RowPtr)-1]
		indices.add(c.Index[lo:hi])
		data.add(c.Value[lo:hi])
		return nil
	})
	return errors.Join(err, indptr.close(), indices.close(), data.close())
}

// array is a .npy file under way, with a sticky error.
type array struct {
	f   *os.File
	out *bufio.Writer
	err error
}

func newArray(dir, name, kind string, n int64) *array {
	a := new(array)
	if a.f, a.err = os.Create(filepath.Join(dir, name+".npy")); a.err != nil {
		return a
	}
	a.out = bufio.NewWriterSize(a.f, 1<<20)
	head := fmt.Sprintf("%-*s\n", 117, fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", kind, n))
	_, a.err = a.out.WriteString("\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(head)))) + head)
	return a
}

func (a *array) add(x any) {
	if a.err == nil {
		a.err = binary.Write(a.out, binary.LittleEndian, x)
	}
}

func (a *array) close() error {
	if a.out != nil && a.err == nil {
		a.err = a.out.Flush()
	}
	if a.f != nil {
		a.err = errors.Join(a.err, a.f.Close())
	}
	return a.err
}

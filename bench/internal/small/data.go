package small

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

const partName = "part"

func (t table) writeFiles(ctx context.Context, dir string, seed uint64) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return &stream.OutputError{Path: dir, Err: err}
	}
	opt := planted.Options{Rows: t.files * t.rows, Columns: int(t.columns), Seed: seed}
	if err := opt.Validate(); err != nil {
		return err
	}
	all := gen.NewTable(planted.New(opt), t.files*t.rows)
	for i := range t.files {
		rows := planted.Part{Source: all, Range: stream.Range{From: i * t.rows, To: (i + 1) * t.rows}}
		path := filepath.Join(dir, fmt.Sprintf("part-%05d", i))
		var err error
		switch t.format {
		case csvFormat:
			err = writeFile(ctx, path+".csv", rows, writeCSV)
		case npyFormat:
			err = writeFile(ctx, path+".npy.gz", rows, writeCompressedArray)
		default:
			err = chunkio.WriteParquet(ctx, path+".parquet", rows, chunkio.WriteOptions{
				Type: "float", RowGroupRows: int(t.group),
				LabelName: partName, Label: func(row int64) int32 { return int32(row % t.rows * 100 / t.rows) },
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeFile(ctx context.Context, path string, src stream.Source, write func(context.Context, io.Writer, stream.Source) error) error {
	f, err := os.Create(path)
	if err != nil {
		return &stream.OutputError{Path: path, Err: err}
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(ctx, w, src); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return &stream.OutputError{Path: path, Err: err}
	}
	return f.Close()
}

func writeCSV(ctx context.Context, w io.Writer, src stream.Source) error {
	names := make([]string, 0, len(src.Columns()))
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	if _, err := fmt.Fprintln(w, strings.Join(names, ",")); err != nil {
		return err
	}
	var line []byte
	return eachRow(ctx, src, func(c *stream.Chunk, row int) error {
		line = line[:0]
		for j := range c.Cols {
			line = append(strconv.AppendFloat(line, c.Col(j)[row], 'g', -1, 32), ',')
		}
		line[len(line)-1] = '\n'
		_, err := w.Write(line)
		return err
	})
}

func writeCompressedArray(ctx context.Context, w io.Writer, src stream.Source) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", src.Rows(), len(src.Columns()))
	const alignment, prefix = 64, 10 // the values begin at a multiple of 64 bytes; magic, version and length come first
	head += strings.Repeat(" ", alignment-1-(prefix+len(head))%alignment) + "\n"
	line := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	if _, err := z.Write(append(line, head...)); err != nil {
		return err
	}
	err = eachRow(ctx, src, func(c *stream.Chunk, row int) error {
		line = line[:0]
		for j := range c.Cols {
			line = binary.LittleEndian.AppendUint32(line, math.Float32bits(float32(c.Col(j)[row])))
		}
		_, err := z.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	return z.Close()
}

func eachRow(ctx context.Context, src stream.Source, use func(c *stream.Chunk, row int) error) error {
	for c, err := range src.Chunks(ctx, stream.Range{}) {
		if err != nil {
			return err
		}
		for i := range c.Rows {
			if err := use(c, i); err != nil {
				return err
			}
		}
	}
	return nil
}

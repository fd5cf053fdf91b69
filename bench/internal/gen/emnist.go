package gen

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

func emnistCommand(c *cli.Shared) *cobra.Command {
	var from, path, label string
	var threads int
	var fractions bool
	cmd := &cobra.Command{
		Use:   "emnist --from mnist70k.parquet -o DIR",
		Short: "Copies of images, shifted by -1, 0 and 1 pixels in both directions, in nine files",
		Long: `Read images of columns px_R_C and a whole-number label, and write them nine times, one file
each, shifted by -1, 0, 1 rows and columns in a frame of one pixel more on every side.
The file names tell the shift: 2_dy-1_dx+0.parquet is one row up. From the 70,000 digits
of MNIST this makes 630,000 rows of 900 columns.

With --float64 each pixel p becomes (p + 1/2) / 255 of type double: no value is a whole number,
so that what is fast for whole numbers does not apply.`,
		Args: program.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case from == "":
				return stream.Usagef("--from is missing: name the Parquet file of the images")
			case path == "" || path == "-":
				return stream.Usagef("-o is missing: name the folder to make")
			case threads < 0:
				return stream.Usagef("--threads %d: want a number from 1 on, or 0 for all", threads)
			}
			return writeEMNIST(cmd.Context(), c, from, path, label, fractions, threads)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "read the images of `FILE`")
	cmd.Flags().StringVarP(&path, "output", "o", "", "make the folder `DIR`")
	cmd.Flags().StringVar(&label, "label", LabelName, "`COLUMN` of the classes")
	cmd.Flags().BoolVar(&fractions, "float64", false, "pixels as double, none a whole number")
	cmd.Flags().IntVar(&threads, "threads", 0, "threads (default: all)")
	return cmd
}

func writeEMNIST(ctx context.Context, c *cli.Shared, source, path, label string, fractions bool, threads int) error {
	// Read the label as one more feature, so that it stays in its row.
	src, err := chunkio.Open(ctx, []string{source}, chunkio.Options{Columns: []string{"px_*", label}, Threads: threads, Memory: 256 << 20})
	if _, ok := errors.AsType[*stream.UsageError](err); ok { // the error names --columns, which is not a flag of gen
		return stream.Usagef("--from %s: want columns px_R_C and the label %s beside them; --label names another", source, label)
	}
	if err != nil {
		return err
	}
	defer src.Close()
	if err := src.Check(); err != nil {
		return err
	}
	var parts []outputPart
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			s, err := newShiftedImages(src, label, dy, dx)
			if err != nil {
				return err
			}
			if fractions {
				s.useFractions()
			}
			parts = append(parts, outputPart{fmt.Sprintf("%d_dy%+d_dx%+d.parquet", len(parts)+1, dy, dx), s})
		}
	}
	features := len(parts[0].source.Columns()) - 1
	err = writeParts(ctx, c, path, features, parts, chunkio.WriteOptions{RowGroupRows: rowsPerGroup(features, src.Rows()), Threads: threads})
	var data *stream.DataError
	if errors.As(err, &data) && data.Path == "" {
		data.Path = source
		data.Remedy = stream.Textf("")
	}
	return err
}

// shiftedImages is a source of the images of another source, moved within a frame that is one pixel larger on every
// side. The last column is the label.
type shiftedImages struct {
	stream.Source
	columns       []stream.Column
	sourceColumns []int // column of the source; -1 if the moved image does not cover the pixel, whose value is 0

	fractions bool // a pixel p becomes (p + 1/2) / 255
}

// newShiftedImages finds the pixels of src by their names, and moves the pixel at (r, c) to (r+1+dy, c+1+dx).
func newShiftedImages(src stream.Source, label string, dy, dx int) (*shiftedImages, error) {
	columnAt := make(map[[2]int]int)
	typ, labelColumn := "", -1
	height, width := 0, 0
	for j, col := range src.Columns() {
		var r, c int
		if col.Name == label {
			labelColumn = j
			continue
		}
		if n, _ := fmt.Sscanf(col.Name, "px_%d_%d", &r, &c); n != 2 || col.Name != fmt.Sprintf("px_%d_%d", r, c) {
			return nil, stream.Usagef("--from: column %s is no pixel px_R_C", col.Name)
		}
		columnAt[[2]int{r, c}] = j
		height, width = max(height, r+1), max(width, c+1)
		if typ == "" {
			typ = col.Type
		} else if typ != col.Type {
			typ = "double" // a double can represent the values of all types
		}
	}
	if labelColumn < 0 || len(columnAt) != height*width {
		return nil, stream.Usagef("--from: want a label and a pixel px_R_C at every place of a rectangle, got %d of %dx%d", len(columnAt), height, width)
	}
	s := &shiftedImages{Source: src}
	for r := range height + 2 {
		for c := range width + 2 {
			j, ok := columnAt[[2]int{r - 1 - dy, c - 1 - dx}]
			if !ok {
				j = -1
			}
			s.sourceColumns = append(s.sourceColumns, j)
			s.columns = append(s.columns, stream.Column{Name: fmt.Sprintf("px_%d_%d", r, c), Type: typ})
		}
	}
	s.sourceColumns = append(s.sourceColumns, labelColumn)
	s.columns = append(s.columns, stream.Column{Name: label, Type: "int32"})
	return s, nil
}

func (s *shiftedImages) useFractions() {
	s.fractions = true
	for j := range s.columns[:len(s.columns)-1] {
		s.columns[j].Type = "double"
	}
}

// Columns implements stream.Source. It returns the pixels of the larger frame, and the label.
func (s *shiftedImages) Columns() []stream.Column { return s.columns }

// Chunks implements stream.Source. It delivers the moved images of the rows r.
func (s *shiftedImages) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		var data []float64
		for c, err := range s.Source.Chunks(ctx, r) {
			if err != nil {
				yield(nil, err)
				return
			}
			if n := c.Rows * len(s.sourceColumns); len(data) < n {
				data = make([]float64, n)
			}
			out := &stream.Chunk{Start: c.Start, Block: c.Block, Rows: c.Rows, Cols: len(s.sourceColumns), Stride: c.Rows, Data: data}
			for j, from := range s.sourceColumns {
				if from < 0 {
					clear(out.Col(j))
				} else {
					copy(out.Col(j), c.Col(from))
				}
				if s.fractions && j < len(s.sourceColumns)-1 {
					for i, p := range out.Col(j) {
						out.Col(j)[i] = (p + 0.5) / 255
					}
				}
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

package resume

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ufs-stream/ufs-stream/stream"
)

// stageValues are the variables that a [stream.Stage] saves in addition to its files. They are stored little-endian,
// each preceded by its number of elements.
type stageValues []any

const valuesBuffer = 4096 // number of float64 in a buffer

// WriteTo implements io.WriterTo.
func (v stageValues) WriteTo(w io.Writer) (int64, error) {
	to := &countingWriter{w: w}
	for _, x := range v {
		var err error
		switch x := x.(type) {
		case *bool:
			err = writeNumbers(to, []bool{*x})
		case *int:
			err = writeNumbers(to, []int64{int64(*x)})
		case *float64:
			err = writeNumbers(to, []float64{*x})
		case []byte:
			err = writeNumbers(to, x)
		case []uint64:
			err = writeNumbers(to, x)
		case []float64:
			err = writeNumbers(to, x)
		case *[]float64:
			err = writeNumbers(to, *x)
		case *[]int32:
			err = writeNumbers(to, *x)
		case *[]int:
			wide := make([]int64, len(*x))
			for i, n := range *x {
				wide[i] = int64(n)
			}
			err = writeNumbers(to, wide)
		default:
			panic(fmt.Sprintf("resume: no value of a stage can be a %T", x))
		}
		if err != nil {
			return to.n, err
		}
	}
	return to.n, nil
}

// ReadFrom implements io.ReaderFrom. A slice that is not passed by a pointer must have the saved length.
func (v stageValues) ReadFrom(r io.Reader) (int64, error) {
	from := &countingReader{r: r}
	for _, x := range v {
		var err error
		switch x := x.(type) {
		case *bool:
			err = readScalar(from, x)
		case *int:
			var n int64
			err = readScalar(from, &n)
			*x = int(n)
		case *float64:
			err = readScalar(from, x)
		case []float64:
			err = readFixedNumbers(from, x)
		case *[]byte:
			*x, err = readNumbers[byte](from)
		case *[]uint64:
			*x, err = readNumbers[uint64](from)
		case *[]float64:
			*x, err = readNumbers[float64](from)
		case *[]int32:
			*x, err = readNumbers[int32](from)
		case *[]int:
			var wide []int64
			if wide, err = readNumbers[int64](from); err == nil {
				*x = make([]int, len(wide))
				for i, n := range wide {
					(*x)[i] = int(n)
				}
			}
		default:
			panic(fmt.Sprintf("resume: no value of a stage can be a %T", x))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = stream.Errorf("its values end early")
		}
		if err != nil {
			return from.n, err
		}
	}
	return from.n, nil
}

func writeNumbers[T any](w io.Writer, x []T) error {
	if err := binary.Write(w, binary.LittleEndian, uint64(len(x))); err != nil {
		return err
	}
	return writeRawNumbers(w, x)
}

// writeRawNumbers writes numbers without their count, in blocks of valuesBuffer numbers.
func writeRawNumbers[T any](w io.Writer, x []T) error {
	var buf []byte
	for len(x) > 0 {
		n := min(len(x), valuesBuffer)
		var err error
		if buf, err = binary.Append(buf[:0], binary.LittleEndian, x[:n]); err != nil {
			return err
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		x = x[n:]
	}
	return nil
}

func readRawNumbers[T any](r io.Reader, x []T) error {
	buf := make([]byte, binary.Size(x[:min(len(x), valuesBuffer)]))
	for len(x) > 0 {
		chunk := x[:min(len(x), valuesBuffer)]
		buf = buf[:binary.Size(chunk)]
		if _, err := io.ReadFull(r, buf); err != nil {
			return err
		}
		if _, err := binary.Decode(buf, binary.LittleEndian, chunk); err != nil {
			return err
		}
		x = x[len(chunk):]
	}
	return nil
}

// readNumbers reads numbers after their count. It allocates memory block by block, because a damaged count may be huge.
func readNumbers[T any](r io.Reader) (x []T, err error) {
	var left uint64
	if err := binary.Read(r, binary.LittleEndian, &left); err != nil {
		return nil, err
	}
	buf := make([]T, min(left, valuesBuffer))
	for left > 0 {
		chunk := buf[:min(left, valuesBuffer)]
		if err := binary.Read(r, binary.LittleEndian, chunk); err != nil {
			return nil, err
		}
		x = append(x, chunk...)
		left -= uint64(len(chunk))
	}
	return x, nil
}

func readFixedNumbers[T any](r io.Reader, x []T) error {
	var n uint64
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return err
	}
	if n != uint64(len(x)) {
		return stream.Errorf("it has %d numbers instead of %d", n, len(x))
	}
	return readRawNumbers(r, x)
}

func readScalar[T any](r io.Reader, x *T) error {
	one := make([]T, 1)
	err := readFixedNumbers(r, one)
	*x = one[0]
	return err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

package resume

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ufs-stream/ufs-stream/stream"
)

// values are the variables of a [stream.Stage] in addition to its files, little-endian, each after its count of
// numbers.
type values []any

const valuesBuffer = 4096 // numbers

// WriteTo implements io.WriterTo.
func (v values) WriteTo(w io.Writer) (int64, error) {
	to := &countingWriter{w: w}
	for _, x := range v {
		var err error
		switch x := x.(type) {
		case *bool:
			err = putNumbers(to, []bool{*x})
		case *int:
			err = putNumbers(to, []int64{int64(*x)})
		case *float64:
			err = putNumbers(to, []float64{*x})
		case []byte:
			err = putNumbers(to, x)
		case []uint64:
			err = putNumbers(to, x)
		case []float64:
			err = putNumbers(to, x)
		case *[]float64:
			err = putNumbers(to, *x)
		case *[]int32:
			err = putNumbers(to, *x)
		case *[]int:
			wide := make([]int64, len(*x))
			for i, n := range *x {
				wide[i] = int64(n)
			}
			err = putNumbers(to, wide)
		default:
			panic(fmt.Sprintf("resume: no value of a stage can be a %T", x))
		}
		if err != nil {
			return to.n, err
		}
	}
	return to.n, nil
}

// ReadFrom implements io.ReaderFrom: values of fixed length must be as long as they were.
func (v values) ReadFrom(r io.Reader) (int64, error) {
	from := &countingReader{r: r}
	for _, x := range v {
		var err error
		switch x := x.(type) {
		case *bool:
			err = getOne(from, x)
		case *int:
			var n int64
			err = getOne(from, &n)
			*x = int(n)
		case *float64:
			err = getOne(from, x)
		case []float64:
			err = getFixed(from, x)
		case *[]byte:
			*x, err = getNumbers[byte](from)
		case *[]uint64:
			*x, err = getNumbers[uint64](from)
		case *[]float64:
			*x, err = getNumbers[float64](from)
		case *[]int32:
			*x, err = getNumbers[int32](from)
		case *[]int:
			var wide []int64
			if wide, err = getNumbers[int64](from); err == nil {
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

func putNumbers[T any](w io.Writer, x []T) error {
	if err := binary.Write(w, binary.LittleEndian, uint64(len(x))); err != nil {
		return err
	}
	return putRaw(w, x)
}

// putRaw writes numbers without their count, through a buffer.
func putRaw[T any](w io.Writer, x []T) error {
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

func getRaw[T any](r io.Reader, x []T) error {
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

// getNumbers allocates memory as it reads, because a damaged length may be huge.
func getNumbers[T any](r io.Reader) (x []T, err error) {
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

func getFixed[T any](r io.Reader, x []T) error {
	var n uint64
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return err
	}
	if n != uint64(len(x)) {
		return stream.Errorf("it has %d numbers instead of %d", n, len(x))
	}
	return getRaw(r, x)
}

func getOne[T any](r io.Reader, x *T) error {
	one := make([]T, 1)
	err := getFixed(r, one)
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

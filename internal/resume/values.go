package resume

import (
	"encoding/binary"
	"errors"
	"io"
	"reflect"

	"github.com/ufs-stream/ufs-stream/stream"
)

// stageValues are the variables that a [stream.Stage] saves in addition to its files: pointers to a number, a flag or a
// slice of numbers, and slices of numbers whose length does not change. They are stored little-endian, an int as an
// int64, each preceded by its number of elements.
type stageValues []any

const valuesBuffer = 4096 // number of elements in a buffer

func (v stageValues) byteSize() (size int64) {
	for _, x := range v {
		list, _ := elementsOf(x)
		element := int64(list.Type().Elem().Size())
		if list.Type().Elem().Kind() == reflect.Int {
			element = 8
		}
		size += 8 + element*int64(list.Len())
	}
	return size
}

func (v stageValues) WriteTo(w io.Writer) (int64, error) {
	var count byteCount
	to := io.MultiWriter(w, &count)
	for _, x := range v {
		list, _ := elementsOf(x)
		if err := writeNumbers(to, list); err != nil {
			return int64(count), err
		}
	}
	return int64(count), nil
}

func writeNumbers(w io.Writer, list reflect.Value) error {
	if err := binary.Write(w, binary.LittleEndian, uint64(list.Len())); err != nil {
		return err
	}
	for from := 0; from < list.Len(); from += valuesBuffer {
		part := list.Slice(from, min(from+valuesBuffer, list.Len())).Interface()
		if ints, ok := part.([]int); ok {
			wide := make([]int64, len(ints))
			for i, n := range ints {
				wide[i] = int64(n)
			}
			part = wide
		}
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// elementsOf returns the elements of a variable as a slice, and the variable if its number of elements may change.
func elementsOf(x any) (list, variable reflect.Value) {
	list = reflect.ValueOf(x)
	if list.Kind() == reflect.Slice {
		return list, variable
	}
	variable = list.Elem()
	if variable.Kind() == reflect.Slice {
		return variable, variable
	}
	list = reflect.MakeSlice(reflect.SliceOf(variable.Type()), 1, 1)
	list.Index(0).Set(variable)
	return list, variable
}

// ReadFrom implements io.ReaderFrom. A slice that is not passed by a pointer must have the saved length.
func (v stageValues) ReadFrom(r io.Reader) (int64, error) {
	var count byteCount
	from := io.TeeReader(r, &count)
	for _, x := range v {
		err := readVariable(from, x)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = stream.Errorf("its values end early")
		}
		if err != nil {
			return int64(count), err
		}
	}
	return int64(count), nil
}

func readVariable(r io.Reader, x any) error {
	var n uint64
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return err
	}
	list, variable := elementsOf(x)
	isSlice := variable.IsValid() && variable.Kind() == reflect.Slice
	if isSlice {
		list = reflect.Zero(variable.Type())
	} else if n != uint64(list.Len()) {
		return stream.Errorf("it has %d numbers instead of %d", n, list.Len())
	}
	for from := 0; uint64(from) < n; from += valuesBuffer { // block by block, because a damaged count may be huge
		to := from + int(min(n-uint64(from), valuesBuffer))
		if isSlice {
			list = reflect.AppendSlice(list, reflect.MakeSlice(list.Type(), to-from, to-from))
		}
		if err := readElements(r, list.Slice(from, to)); err != nil {
			return err
		}
	}
	switch {
	case isSlice:
		variable.Set(list)
	case variable.IsValid():
		variable.Set(list.Index(0))
	}
	return nil
}

func readElements(r io.Reader, list reflect.Value) error {
	ints, ok := list.Interface().([]int)
	if !ok {
		return binary.Read(r, binary.LittleEndian, list.Interface())
	}
	wide := make([]int64, len(ints))
	err := binary.Read(r, binary.LittleEndian, wide)
	for i, n := range wide {
		ints[i] = int(n)
	}
	return err
}

type byteCount int64

func (c *byteCount) Write(p []byte) (int, error) {
	*c += byteCount(len(p))
	return len(p), nil
}

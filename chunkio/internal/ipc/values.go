package ipc

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// tileValues is the number of values in a tile, i.e. the values that are decoded at a time: 64 KiB of float64.
const tileValues = 8192

// numberReader reads consecutive values of one array as float64. Nulls are read as format.Null.
type numberReader struct {
	field *field // field that defines the type of the values
	left  int64  // number of values not read yet

	bits  *bitReader    // values of a bool array
	bytes *bufferReader // values of all other arrays
	valid *bitReader    // validity of the values; nil if there are no nulls
	dict  []float64     // if set, the values are indices into dict
	runs  *runReader    // if set, the array is run-end encoded; bits, bytes, valid and dict are then nil

	raw                []byte
	tile, decodedAhead []float64 // memory of a tile, and the values in it that have been decoded but not returned
}

func (g *group) openNumbers(f *field, from, to int64) (r *numberReader, err error) {
	node := g.batch.nodes[f.node]
	if f.kind == arrowRunEnd && f.index == nil {
		runs, err := openRuns(g, f, from)
		return &numberReader{left: to - from, runs: runs}, err
	}
	if from < 0 || to > node.length {
		return nil, fmt.Errorf("values %d to %d of an array of %d", from, to, node.length)
	}
	r = &numberReader{field: f, left: to - from}
	if f.index != nil {
		r.field = f.index
		d := g.dicts[f.dict]
		if d == nil && from < to {
			return nil, fmt.Errorf("dictionary %d is missing", f.dict)
		} else if d != nil {
			r.dict = d.values
		}
		if r.dict == nil {
			r.dict = []float64{}
		}
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if g.mayBeNull(f) {
		if r.valid, err = g.body.openBits(g.bufferRangeOf(f, 0), from, to); err != nil {
			return nil, err
		}
	}
	if r.field.kind == arrowBool {
		r.bits, err = g.body.openBits(g.bufferRangeOf(f, 1), from, to)
	} else if size := int64(r.field.bits / 8); to > 1<<62/size {
		err = errShortBuffer
	} else {
		r.bytes, err = g.body.openBuffer(g.bufferRangeOf(f, 1), from*size, to*size)
	}
	return r, err
}

func (r *numberReader) readNumbers(dst []float64) error {
	if int64(len(dst)) > r.left {
		return fmt.Errorf("%d values where %d are left", len(dst), r.left)
	}
	for len(dst) > 0 {
		if len(r.decodedAhead) == 0 {
			if direct := min(int64(tileValues), r.left); int64(len(dst)) >= direct {
				if err := r.decodeTile(dst[:direct]); err != nil {
					return err
				}
				r.left -= direct
				dst = dst[direct:]
				continue
			}
			// For a short request, such as one row of lists, decode a whole tile, which also serves the following
			// requests.
			n := min(tileValues, r.left)
			if r.tile == nil {
				r.tile = make([]float64, n)
			}
			if err := r.decodeTile(r.tile[:n]); err != nil {
				return err
			}
			r.decodedAhead = r.tile[:n]
		}
		n := copy(dst, r.decodedAhead)
		dst, r.decodedAhead = dst[n:], r.decodedAhead[n:]
		r.left -= int64(n)
	}
	return nil
}

func (r *numberReader) skipNumbers(count int64) error {
	scratch := make([]float64, min(count, tileValues))
	for ; count > 0; count -= int64(len(scratch)) {
		scratch = scratch[:min(count, int64(len(scratch)))]
		if err := r.readNumbers(scratch); err != nil {
			return err
		}
	}
	return nil
}

func (r *numberReader) decodeTile(dst []float64) error {
	if r.runs != nil {
		return r.runs.readRepeatedValues(dst)
	}
	if r.bits != nil {
		clear(dst)
		if err := r.bits.visitBitsEqualTo(len(dst), 1, func(i int) { dst[i] = 1 }); err != nil {
			return err
		}
	} else {
		n := len(dst) * r.field.bits / 8
		r.raw = format.Resize(r.raw, n)
		if err := r.bytes.readFull(r.raw); err != nil {
			return err
		}
		r.field.convertNumbers(dst, r.raw)
	}
	if r.valid != nil {
		if err := r.valid.visitBitsEqualTo(len(dst), 0, func(i int) { dst[i] = format.Null }); err != nil {
			return err
		}
	}
	if r.dict == nil {
		return nil
	}
	for i, x := range dst {
		switch {
		case format.IsNull(x):
		case x < 0 || x >= float64(len(r.dict)):
			return fmt.Errorf("index %.0f into a dictionary of %d", x, len(r.dict))
		default:
			dst[i] = r.dict[int(x)]
		}
	}
	return nil
}

func (r *numberReader) close() {
	if r == nil {
		return
	}
	r.bits.close()
	r.bytes.close()
	r.valid.close()
	r.runs.close()
}

package ipc

import (
	"fmt"
	"sort"
)

// runReader reads a run-end encoded array, in which a run is a repeated value. Run i repeats values[i] at the positions
// from ends[i-1] to ends[i], not including ends[i].
type runReader struct {
	ends, values *numberReader
	left         int64     // number of runs that have not been read yet
	pos          int64     // position of the next value
	end          []float64 // ends of the runs in the current tile
	value        []float64 // values of the runs in the current tile
	current      int       // index in the tile of the run that contains pos
}

// openRuns opens a run-end encoded array at the position `from`. To find this position, the ends of all runs are read
// from the first one on, a tile at a time.
func openRuns(g *group, f *field, from int64) (*runReader, error) {
	n := g.batch.nodes[f.children[0].node].length
	ends, err := g.openNumbers(f.children[0], 0, n)
	if err != nil {
		return nil, err
	}
	values, err := g.openNumbers(f.children[1], 0, n)
	if err != nil {
		ends.close()
		return nil, err
	}
	return &runReader{ends: ends, values: values, left: n, pos: from}, nil
}

func (r *runReader) readRepeatedValues(dst []float64) error {
	for len(dst) > 0 {
		for r.current == len(r.end) {
			if err := r.readRunTile(); err != nil {
				return err
			}
		}
		n := int(min(int64(r.end[r.current])-r.pos, int64(len(dst))))
		for i := range n {
			dst[i] = r.value[r.current]
		}
		dst = dst[n:]
		r.pos += int64(n)
		if r.pos == int64(r.end[r.current]) {
			r.current++
		}
	}
	return nil
}

// readRunTile reads the next tile of runs. If a run in this tile contains pos, it becomes the current run.
func (r *runReader) readRunTile() error {
	n := min(r.left, tileValues)
	if n == 0 {
		return fmt.Errorf("runs end before position %d", r.pos)
	}
	if r.end == nil {
		r.end, r.value = make([]float64, n), make([]float64, n)
	}
	last := -1.0
	if len(r.end) > 0 && r.current > 0 {
		last = r.end[len(r.end)-1]
	}
	r.end, r.value = r.end[:n], r.value[:n]
	if err := r.ends.readNumbers(r.end); err != nil {
		return err
	}
	if err := r.values.readNumbers(r.value); err != nil {
		return err
	}
	for _, e := range r.end {
		if !(e > last) { // also true for a null, which is NaN
			return fmt.Errorf("run ends %.0f after %.0f", e, last)
		}
		last = e
	}
	r.left -= n
	r.current = sort.Search(len(r.end), func(i int) bool { return int64(r.end[i]) > r.pos })
	return nil
}

func (r *runReader) close() {
	if r != nil {
		r.ends.close()
		r.values.close()
	}
}

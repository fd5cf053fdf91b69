package chunkio

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

const noClassRemedy = "name a column that holds classes: {label}"

// classMemory returns an upper bound on the memory for the distinct values of a label. rows is the number of rows, or
// -1 if it is unknown. The bound covers the texts of the values, and their entries in two maps and two lists.
func classMemory(rows int64) int64 {
	if rows < 0 || rows > format.MaxClasses {
		rows = format.MaxClasses
	}
	return 192 * rows
}

// classTable numbers the classes of a Dataset in the order in which its passes first deliver them. The zero value is
// empty.
type classTable struct {
	mutex sync.Mutex
	distinctValues
}

// Classes returns the names of the classes, indexed by Chunk.Class, in the order of their first rows. The list is
// complete once a pass has ended. It lacks classes whose rows were not delivered. Later passes keep these numbers, so
// that a class has the same number in every Chunk of the Dataset.
func (d *Dataset) Classes() []string {
	d.classes.mutex.Lock()
	defer d.classes.mutex.Unlock()
	return slices.Clone(d.classes.names)
}

func (t *classTable) numberClass(name string) (int32, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.internValue([]byte(name))
}

// distinctValues numbers distinct values from 0, in the order of their first appearance.
type distinctValues struct {
	index map[string]int32
	names []string
	bytes int // total length of names
}

func (d *distinctValues) internValue(value []byte) (int32, error) {
	if i, ok := d.index[string(value)]; ok { // this conversion allocates no string
		return i, nil
	}
	if d.bytes += len(value); len(d.names) == format.MaxClasses || d.bytes > format.MaxClassText {
		return 0, fmt.Errorf("it is no class: it has more than %d distinct values, or %d MiB of them", format.MaxClasses, format.MaxClassText>>20)
	}
	if d.index == nil {
		d.index = map[string]int32{}
	}
	i, name := int32(len(d.names)), string(value)
	d.index[name], d.names = i, append(d.names, name)
	return i, nil
}

func newLabelRead(c *catalog, entries []entry, name string) (*columnRead, error) {
	for _, e := range entries {
		switch {
		case !e.name().isMeantBy(name):
		case e.isRefused:
			return nil, errUndecodable(c, e)
		case e.leaf >= 0 && c.leaves[e.leaf].List:
			return nil, stream.Usagef("{label} %s: a list is no class", name)
		case e.leaf >= 0 && c.leaves[e.leaf].NoClass != "":
			return nil, stream.Usagef("{label} %s: cannot serve as class: %s", name, c.leaves[e.leaf].NoClass)
		default:
			r := newColumnRead(e, 1)
			return &r, nil
		}
	}
	return nil, stream.Usagef("{label} %s: no column has this name", name) // leftOutReasons should have failed before
}

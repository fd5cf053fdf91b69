package chunkio

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

const noClassRemedy = "name a column that holds classes: {label}"

// classMemory bounds what the distinct values of a label among rows rows take (rows is
// -1 where unknown): their text, and their places in two maps and two lists.
func classMemory(rows int64) int64 {
	if rows < 0 || rows > format.MaxClasses {
		rows = format.MaxClasses
	}
	return 192 * rows
}

// classTable numbers the classes of a Dataset in the order in which its passes
// deliver them first. The zero value has none.
type classTable struct {
	mutex sync.Mutex
	distinct
}

// Classes lists the names of the classes by Chunk.Class, in the order of their first
// row: complete once a pass has ended. Rows that were not delivered name none. Later
// passes keep the numbers, so that they are the same for every Chunk of the Dataset.
func (d *Dataset) Classes() []string {
	d.classes.mutex.Lock()
	defer d.classes.mutex.Unlock()
	return slices.Clone(d.classes.names)
}

// number returns the number of a class; a new class gets the next.
func (t *classTable) number(name string) (int32, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.add([]byte(name))
}

// distinct numbers distinct values from 0, in order.
type distinct struct {
	index map[string]int32
	names []string
	bytes int
}

func (d *distinct) add(value []byte) (int32, error) {
	if i, ok := d.index[string(value)]; ok { // makes no string
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

// labelRead finds the column of the classes.
func labelRead(c *catalog, entries []entry, name string) (*read, error) {
	for _, e := range entries {
		switch {
		case !e.name().matches(name):
		case e.refused:
			return nil, undecodable(c, e)
		case e.leaf >= 0 && c.leaves[e.leaf].List:
			return nil, stream.Usagef("{label} %s: a list is no class", name)
		case e.leaf >= 0 && c.leaves[e.leaf].NoClass != "":
			return nil, stream.Usagef("{label} %s: cannot serve as class: %s", name, c.leaves[e.leaf].NoClass)
		default:
			r := newRead(e, 1)
			return &r, nil
		}
	}
	return nil, stream.Usagef("{label} %s: no column has this name", name) // reasons would have said so
}

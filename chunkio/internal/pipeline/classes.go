package pipeline

import (
	"fmt"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

const noClassRemedy = "name a column that holds classes: {label}"

// bytesOfClasses returns an upper bound on the memory for the distinct values of a label. rowCount is -1 if it is
// unknown. The bound covers the texts of the values, and their entries in two maps and two lists.
func bytesOfClasses(rowCount int64) int64 {
	if rowCount < 0 || rowCount > format.MaxClasses {
		rowCount = format.MaxClasses
	}
	return 192 * rowCount
}

// classTable numbers the classes of a Dataset in the order in which its passes first deliver them. The zero value is
// empty.
type classTable struct {
	mutex sync.Mutex
	distinctValues
}

func (t *classTable) numberOfClass(name string) (int32, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.numberOfValue([]byte(name))
}

// distinctValues gives each distinct text a number, from 0 on, in the order of their first appearance.
type distinctValues struct {
	index map[string]int32
	names []string
	bytes int // total length of names
}

func (d *distinctValues) numberOfValue(value []byte) (int32, error) {
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

package intake

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestNamesWithinEachOther: members of an object have its name as a prefix, so a short text may define names without
// end, and a short header many columns and bytes: they are refused before they take the memory.
func TestNamesWithinEachOther(t *testing.T) {
	const members = 2_000
	long := strings.Repeat("n", 200<<10)
	var flat, fields strings.Builder
	for j := range members {
		fmt.Fprintf(&flat, `,"m%d":1`, j)
		fmt.Fprintf(&fields, `,{"name":"m%d","type":"int"}`, j)
	}
	deep := strings.Repeat(`{"m":1,"name":`, 9_000) + "1" + strings.Repeat("}", 9_000)
	for _, x := range []struct {
		format     Format
		text, says string
	}{
		{NDJSON, `{"` + long + `":{` + flat.String()[1:] + `}}` + "\n", "4 MiB of their names"},
		{NDJSON, deep + "\n", "4 MiB of their names"},
		{Avro, avroFile(`{"type":"record","name":"R","fields":[{"name":"`+long+`","type":{"type":"record","name":"S","fields":[`+fields.String()[1:]+`]}}]}`, "null"), "take too much memory"},
		{Avro, avroFile(strings.Repeat(`{"type":`, 20_000), "null"), "nested more than 10,000 deep"},
		{NPY, NPYMagic + "\x01\x00\x4E\x00" + fmt.Sprintf("%-78s", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 16000000), }"), "reading rows needs"},
		{NPY, npy("{'descr': '|S1000000000', 'fortran_order': False, 'shape': (1,), }", []byte{}), "a row of 954 MiB, more than 1.0 MiB"},
		{NPY, NPYMagic + "\x02\x00\x00\x20\x03\x00" + fmt.Sprintf("%-204800s", "{'descr': [('"+long[:200<<9]+"', '<f4', (100,))], 'fortran_order': False, 'shape': (1,)}"), "names of the columns take more than 4 MiB"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := taken(x.format, []byte(x.text), Options{Memory: 64 << 20})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%.40q: %.300v, want %q", x.text, err, x.says)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 { // of 400 MB that the names of the first take
			t.Errorf("%.40q: %d MiB allocated", x.text, used>>20)
		}
	}
}

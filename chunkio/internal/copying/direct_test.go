package copying

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
)

// A file of rows is converted without scratch, with the same result as through scratch. It starts again if a column
// turns out to be text after the sample that decided its type.
func TestConvertWritesOnce(t *testing.T) {
	var text bytes.Buffer
	text.WriteString("a,b\n")
	for i := range 200_000 {
		fmt.Fprintf(&text, "%d,%g\n", i, float64(i)/8)
	}
	text.WriteString("x,2.5\n")
	dir, spool := t.TempDir(), t.TempDir()
	in := filepath.Join(dir, "t.csv")
	formattest.Must(t, os.WriteFile(in, text.Bytes(), 0o644))
	once, twice := filepath.Join(dir, "once.parquet"), filepath.Join(dir, "twice.parquet")
	tight := ApplyOptions{Spool: scratch.Options{Dir: spool, Limit: 1}}
	done, err := ConvertInputs(t.Context(), []string{in}, once, tight)
	formattest.Must(t, err)
	copied, err := ConvertInputs(t.Context(), []string{in}, twice, ApplyOptions{Where: "b > -1"})
	formattest.Must(t, err)
	if info, err := os.Stat(once); err != nil || info.Size() != done.Bytes {
		t.Errorf("%d bytes said of %v (%v)", done.Bytes, info, err)
	}
	done.Bytes, copied.Bytes = 0, 0
	if !reflect.DeepEqual(done, copied) {
		t.Errorf("says %+v, of a copy %+v", done, copied)
	}
	a, b := formattest.ReadDump(t, once), formattest.ReadDump(t, twice)
	for _, column := range []string{"a", "b"} {
		if x, y := a.FindLeaf(column).RowTexts(), b.FindLeaf(column).RowTexts(); len(x) != 200_001 || !reflect.DeepEqual(x, y) {
			t.Errorf("column %s: %d rows differ from the %d of a copy", column, len(x), len(y))
		}
	}

	// A key in the path is a column, which only a copy adds.
	formattest.Must(t, os.Mkdir(filepath.Join(dir, "k=7"), 0o755))
	keyed := filepath.Join(dir, "k=7", "t.csv")
	formattest.Must(t, os.WriteFile(keyed, []byte("a\n1\n"), 0o644))
	if done, err = ConvertInputs(t.Context(), []string{keyed}, twice, ApplyOptions{}); err != nil || !reflect.DeepEqual(done.Columns, []string{"a", "k"}) {
		t.Errorf("with a key: %+v, %v", done, err)
	}
	if _, err := ConvertInputs(t.Context(), []string{keyed}, twice, tight); err == nil {
		t.Error("a copy from 1 byte of scratch")
	}

	// Nothing is left of a failure.
	text.WriteString("1,2,3\n")
	formattest.Must(t, os.WriteFile(in, text.Bytes(), 0o644))
	bad := filepath.Join(dir, "bad")
	formattest.Must(t, os.Mkdir(bad, 0o755))
	if _, err := ConvertInputs(t.Context(), []string{in}, filepath.Join(bad, "t.parquet"), tight); !chunkiotest.IsData(err) {
		t.Errorf("a row of three fields: %v", err)
	}
	for _, folder := range []string{bad, spool} {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left in %s: %v %v", folder, left, err)
		}
	}
}

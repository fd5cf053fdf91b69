package small

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

func TestMain(m *testing.M) { benchtest.Main(m) }

// Every case is measured in its smallest form, and has a row.
func TestSmall(t *testing.T) {
	w, err := benchtest.BuildReadersOnce()
	if err != nil {
		t.Fatalf("building the programs: %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	o := &options{part: 1e6, count: 1, method: "variance", binary: w.Program, bare: w.Bare, folder: t.TempDir(), seed: 1, progress: io.Discard}
	var out strings.Builder
	if err := o.runSmall(t.Context(), &out); err != nil {
		t.Fatalf("measuring: %v", err)
	}
	benchtest.CheckTables(t, out.String())
	for _, c := range listCases(o.part) {
		if !strings.Contains(out.String(), "\n| "+c.name+" | ") {
			t.Errorf("no row of %q:\n%s", c.name, out.String())
		}
	}
	if benchtest.ReadText(t, filepath.Join(o.folder, "small.md")) != out.String() {
		t.Error("small.md differs from the output")
	}
	benchtest.CheckNoScratch(t)
}

// The formats have the same values, and the condition keeps a hundredth of the rows.
func TestTables(t *testing.T) {
	want := [][]float64{}
	for _, f := range []format{parquetFormat, csvFormat, npyFormat} {
		dir := filepath.Join(t.TempDir(), "data")
		if err := (table{f, 2, 200, fewColumns, 50}).writeFiles(t.Context(), dir, 1); err != nil {
			t.Fatalf("format %d: writing: %v", f, err)
		}
		opt := chunkio.Options{}
		if f == parquetFormat {
			opt.Label = partName
		}
		_, columns := benchtest.ReadTable(t, dir, opt)
		if f == parquetFormat {
			want = columns
		}
		if len(columns) != fewColumns || len(columns[0]) != 400 {
			t.Fatalf("format %d: %d columns of %d rows, want %d of 400", f, len(columns), len(columns[0]), fewColumns)
		}
		for j := range columns {
			for i, x := range columns[j] {
				if float32(x) != float32(want[j][i]) {
					t.Fatalf("format %d: column %d, row %d: %v, want %v", f, j, i, x, want[j][i])
				}
			}
		}
	}
	for _, c := range listCases(1) {
		if c.condition != "" && c.yardstick.rows*c.yardstick.files*100 != c.table.rows*c.table.files {
			t.Errorf("%s: the yardstick has %d × %d rows of %d × %d", c.name, c.yardstick.files, c.yardstick.rows, c.table.files, c.table.rows)
		}
	}
}

// Of 10 s for 1,000 things, 2 s are the start and 3 s twice a bare reading.
func TestPerThing(t *testing.T) {
	m := measured{smallCase: smallCase{things: 1000}, ours: []time.Duration{10 * time.Second, time.Hour, time.Second}, bare: []time.Duration{1500 * time.Millisecond}}
	if got := m.perThing(2 * time.Second); got != 5*time.Millisecond {
		t.Errorf("%s a thing, want 5ms", got)
	}
	if got := m.perThing(8 * time.Second); got != 0 {
		t.Errorf("%s a thing within two readings, want 0", got)
	}
}

func TestSmallUsage(t *testing.T) {
	for _, args := range [][]string{{"--part", "0"}, {"--count", "0"}, {"--only", "trees"}, {"more"}} {
		benchtest.Program{New}.CheckRefusal(t, exit.Usage, "", append([]string{"small"}, args...)...)
	}
}

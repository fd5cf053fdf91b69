package gen

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The images agree with the answer about each pixel: the class means of an informative pixel differ by a tenth
// of the full brightness, and the class means of a background pixel do not differ.
func TestGenGrid(t *testing.T) {
	const n, classes = 4000, 4
	path := gen(t, "g.parquet", "grid", "--rows", fmt.Sprint(n), "--shape", "14x10", "--classes", fmt.Sprint(classes), "--seed", "2")
	var a gridAnswer
	readAnswer(t, path, &a)
	names, columns := benchtest.ReadTable(t, path, chunkio.Options{})
	if len(names) != 141 || names[0] != "px_0_0" || names[139] != "px_13_9" || names[140] != LabelName {
		t.Fatalf("columns %v", names)
	}
	if len(a.Informative) < 10 || len(a.Background) < 10 || len(a.Informative)+len(a.Weak)+len(a.Background) != 140 || a.Shape != "14x10" {
		t.Fatalf("%d informative, %d weak, %d background", len(a.Informative), len(a.Weak), len(a.Background))
	}
	labels := columns[140]
	for j, x := range columns[:140] {
		var sum, squares, count [classes]float64
		for i, v := range x {
			if v != math.Trunc(v) || v < 0 || v > 255 {
				t.Fatalf("%s is %v", names[j], v)
			}
			y := int(labels[i])
			sum[y], squares[y], count[y] = sum[y]+v, squares[y]+v*v, count[y]+1
		}
		low, high, err := math.Inf(1), 0.0, 0.0
		for y := range classes {
			mean := sum[y] / count[y]
			low, high = min(low, mean), max(high, mean)
			err = max(err, math.Sqrt((squares[y]/count[y]-mean*mean)/count[y]))
		}
		// Clipping at 0 makes the dark side brighter: the mean of its noise is
		// 12·0.4 = 4.8 instead of 0.
		difference := high - low
		switch {
		case slices.Contains(a.Informative, names[j]) && difference < 200*minInformativeGap-4.8-5*err,
			slices.Contains(a.Background, names[j]) && difference > 10*err:
			t.Errorf("%s: the class means differ by %.1f, standard error %.1f", names[j], difference, err)
		}
	}
}

// The file holds the rows that were made. Frequencies follow Zipf's law, and the words of a
// topic belong to its class.
func TestGenSparse(t *testing.T) {
	const n, d, topics = 5000, 400, 4
	path := gen(t, "s.parquet", "sparse", "--rows", fmt.Sprint(n), "--columns", fmt.Sprint(d), "--classes", fmt.Sprint(topics), "--words", "50")
	var a sparseAnswer
	readAnswer(t, path, &a)
	src, err := chunkio.Open(t.Context(), []string{path}, chunkio.Options{Sparse: a.Read, Label: LabelName, Classes: true})
	if err != nil {
		t.Fatalf("opening the table: %v", err)
	}
	defer src.Close()
	made := newWordCountRows(n, d, topics, 50, 1, 1)
	columnOf := make(map[string]int)
	for j, c := range src.Columns() {
		if columnOf[c.Name] = j; c.Name != made.Columns()[j].Name {
			t.Fatalf("column %d is %s, not %s", j, c.Name, made.Columns()[j].Name)
		}
	}
	total := make([]float64, d)
	byClass := make([][topics]float64, d)
	row := int64(0)
	for c, err := range src.Chunks(t.Context(), stream.Range{}) {
		if err != nil {
			t.Fatalf("reading a block: %v", err)
		}
		for i := range c.Rows {
			want := made.countWords(row, row+1)
			lo, hi := c.Sparse.RowPtr[i], c.Sparse.RowPtr[i+1]
			class := made.classOfRow(row)
			if !slices.Equal(c.Sparse.Index[lo:hi], want.Index) || !slices.Equal(c.Sparse.Value[lo:hi], want.Value) || src.Classes()[c.Class[i]] != fmt.Sprint(class) {
				t.Fatalf("row %d differs", row)
			}
			for e := lo; e < hi; e++ {
				total[c.Sparse.Index[e]] += c.Sparse.Value[e]
				byClass[c.Sparse.Index[e]][class] += c.Sparse.Value[e]
			}
			row++
		}
	}
	if row != n {
		t.Fatalf("%d rows", row)
	}
	// Ranks 0 to 3 belong to no topic, so they come 1, 1/2, 1/3 and 1/4 as often as the
	// commonest word, within six standard errors of their counts.
	first := total[made.columnOfRank[0]]
	for r := 1; r < topics; r++ {
		got, want := total[made.columnOfRank[r]], first/float64(r+1)
		if math.Abs(got-want) > 6*math.Sqrt(2*want) {
			t.Errorf("the word of rank %d comes %v times, want about %.0f", r, got, want)
		}
	}
	for topic, words := range a.Topics {
		for _, w := range words[:5] {
			counts := byClass[columnOf[w]]
			for class, x := range counts {
				if class != topic && 2*x > counts[topic] {
					t.Errorf("%s of topic %d comes %v", w, topic, counts)
				}
			}
		}
	}
}

// pixels is a small set of images with labels, in memory.
type pixels struct {
	height, width int
	rows          [][]float64 // row-major images
	labels        []float64
}

func (p pixels) write(t *testing.T, path, label string) {
	t.Helper()
	// The columns are not in the order of the pixels and the label is among them, because
	// gen emnist must go by the names.
	var names []string
	var columns [][]float64
	for c := range p.width {
		for r := range p.height {
			var x []float64
			for _, img := range p.rows {
				x = append(x, img[r*p.width+c])
			}
			names, columns = append(names, fmt.Sprintf("px_%d_%d", r, c)), append(columns, x)
		}
		if c == 0 {
			names, columns = append(names, label), append(columns, p.labels)
		}
	}
	var list []stream.Column
	for _, name := range names {
		list = append(list, stream.Column{Name: name, Type: "uint8"})
	}
	if err := chunkio.WriteParquet(t.Context(), path, filledTable{memoryColumns{list, columns}, int64(len(p.rows)), 0, 1, 1}, chunkio.WriteOptions{RowGroupRows: 3}); err != nil {
		t.Fatalf("writing the images: %v", err)
	}
}

// memoryColumns is a Filler of columns in memory.
type memoryColumns struct {
	columns []stream.Column
	data    [][]float64
}

func (h memoryColumns) Columns() []stream.Column                    { return h.columns }
func (h memoryColumns) FillColumn(j int, from int64, out []float64) { copy(out, h.data[j][from:]) }

// Every file has every image, shifted as in its name, and with --float64 as fractions.
func TestGenEmnist(t *testing.T) {
	p := pixels{height: 3, width: 4}
	for i := range 8 {
		var img []float64
		for k := range 12 {
			img = append(img, float64((i*31+k*17+1)%256))
		}
		p.rows, p.labels = append(p.rows, img), append(p.labels, float64(i*i%10))
	}
	source := filepath.Join(t.TempDir(), "small.parquet")
	p.write(t, source, "digit")
	for _, c := range []struct {
		flags []string
		value func(pixel float64) float64
		typ   string
	}{
		{[]string{"--threads", "1"}, func(p float64) float64 { return p }, "uint8"},
		{[]string{"--threads", "8"}, func(p float64) float64 { return p }, "uint8"},
		{[]string{"--threads", "2", "--float64"}, func(p float64) float64 { return (p + 0.5) / 255 }, "double"},
	} {
		dir := gen(t, "e", append([]string{"emnist", "--from", source, "--label", "digit"}, c.flags...)...)
		if left, _ := os.ReadDir(dir); len(left) != 9 {
			t.Fatalf("files %v", left)
		}
		ds, err := chunkio.Open(t.Context(), []string{dir}, chunkio.Options{Label: "digit"})
		if err != nil {
			t.Fatalf("opening the copies: %v", err)
		}
		for _, col := range ds.Columns() {
			if col.Type != c.typ {
				t.Errorf("%v: %s is %s, want %s", c.flags, col.Name, col.Type, c.typ)
			}
		}
		ds.Close()
		n := 0
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				n++
				names, columns := benchtest.ReadTable(t, filepath.Join(dir, fmt.Sprintf("%d_dy%+d_dx%+d.parquet", n, dy, dx)), chunkio.Options{})
				if len(names) != 5*6+1 || names[6] != "px_1_0" || names[30] != "digit" || !slices.Equal(columns[30], p.labels) {
					t.Fatalf("columns %v, labels %v", names, columns[30])
				}
				for i, img := range p.rows {
					want := make([]float64, 30)
					for r := range 3 {
						for c := range 4 {
							want[(r+1+dy)*6+c+1+dx] = img[r*4+c]
						}
					}
					for j := range want {
						if want := c.value(want[j]); columns[j][i] != want {
							t.Fatalf("%v, shift %d, %d: row %d, %s is %v, want %v", c.flags, dy, dx, i, names[j], columns[j][i], want)
						}
					}
				}
			}
		}
	}
	for _, args := range [][]string{{"--label", "none"}, {"--label", "px_0_0"}} {
		bench.CheckRefusal(t, exit.Usage, "--from", append([]string{"gen", "emnist", "--from", source, "-o", source + "2"}, args...)...)
	}
}

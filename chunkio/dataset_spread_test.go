package chunkio

import (
	"fmt"
	"os"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copying"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestSpreads: inspect learns from the footers which columns have one value in all files, or none, in the words of a
// scan; it learns nothing if a value differs in one file, or if there are no statistics, as in Arrow.
func TestSpreads(t *testing.T) {
	t.Chdir(t.TempDir())
	const first, second = "a,b,c,d,e,f,g,t\n1,5,,0.5,true,7,inf,x\n2,5,,,true,7,2,x\n", "a,b,c,d,e,f,g,t\n3,5,,0.5,true,8,3,x\n"
	formattest.Must(t, os.Mkdir("in", 0o700))
	for name, text := range map[string]string{"1": first, "2": second, "0": "z\n", "3": "a,b\n"} {
		formattest.Must(t, os.WriteFile(name+".csv", []byte(text), 0o600))
		must.Get(Convert(t.Context(), []string{name + ".csv"}, "in/"+name+".parquet", ApplyOptions{}))(t)
	}
	want := map[string]string{
		"a": "", "b": "constant (5 in every row)", "c": "no value observed (3 null)", "d": "constant (0.5 wherever observed) (1 null)",
		"e": "constant (1 in every row)", "f": "", "g": "", "t": "text",
	}
	whys := func(inputs []string, opt Options) string {
		ds := must.Get(Open(t.Context(), inputs, opt))(t)
		defer ds.Close()
		whys := map[string]string{}
		for f := range ds.Fields() {
			if whys[f.Name] = f.Why; f.Used != (f.Why == "") {
				t.Errorf("%s is used %v, because %q", f.Name, f.Used, f.Why)
			}
		}
		return fmt.Sprint(whys)
	}
	if got := whys([]string{"in"}, Options{Spreads: true}); got != fmt.Sprint(want) {
		t.Errorf("got %s, want %s", got, fmt.Sprint(want))
	}
	for _, name := range []string{"b", "c", "d", "e"} {
		want[name] = ""
	}
	if got := whys([]string{"in"}, Options{}); got != fmt.Sprint(want) {
		t.Errorf("not asked for, got %s, want %s", got, fmt.Sprint(want))
	}
	must.Get(Apply(t.Context(), []string{"in/2.parquet"}, "a.arrow", ApplyOptions{Columns: []string{"a", "b"}, Form: copying.FormArrow}))(t)
	if got := whys([]string{"a.arrow"}, Options{Spreads: true}); got != "map[a: b:]" {
		t.Errorf("of Arrow got %s, want nothing", got)
	}
}

package resume

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func ofRun() Identity {
	return Identity{
		What:    "statistics",
		Inputs:  []stream.Input{{Path: "a.parquet", Rows: 3, Bytes: 10, Fingerprint: "1"}, {Path: "b.parquet", Rows: 2, Bytes: 9, Fingerprint: "2"}},
		Columns: []stream.Column{{Name: "x", Type: "double"}, {Name: "y", Type: "double"}},
		Options: map[string]string{"k": "3"}, Facts: map[string]string{"instruction set": "go"},
	}
}

// reopened is the states in a folder after the run that saved them has ended.
func reopened(t *testing.T, dir string, opt Options, id Identity) (*Folder, *Run, error) {
	t.Helper()
	f := must.Get(Open(dir, opt))(t)
	t.Cleanup(func() { must.Do(t, f.Close()) })
	r, err := f.OpenRun(t.Context(), "part", id)
	return f, r, err
}

// saved makes a folder with two states of ofRun.
func saved(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", "state")
	f, r, err := reopened(t, dir, Options{}, ofRun())
	must.Do(t, err)
	n := Numbers{r}
	must.Do(t, n.Save(t.Context(), "one", map[string]string{"next": "7"}, []float64{1, 2, 3}, nil))
	must.Do(t, n.Save(t.Context(), "two", nil, make([]float64, 3*valuesBuffer+1)))
	must.Do(t, f.Close())
	return dir
}

// TestGoesOn: saved numbers are loaded bit by bit by the very same run; Forget leaves nothing.
func TestGoesOn(t *testing.T) {
	dir := saved(t)
	f, r, err := reopened(t, dir, Options{}, ofRun())
	must.Do(t, err)
	if !r.HasStates() {
		t.Error("the states are not seen")
	}
	got := make([]float64, 3)
	marks, ok, err := Numbers{r}.Load(t.Context(), "one", got, nil)
	must.Do(t, err)
	if !ok || marks["next"] != "7" || !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("got %v, %v, %v", marks, ok, got)
	}
	must.Do(t, r.Drop("one"))
	if _, ok, err := (Numbers{r}).Load(t.Context(), "one", got, nil); ok || err != nil {
		t.Errorf("dropped, it is there: %v, %v", ok, err)
	}
	for _, n := range []int{0, 1, valuesBuffer, 3 * valuesBuffer, 3*valuesBuffer + 2} {
		var data *stream.DataError
		if _, _, err := (Numbers{r}).Load(t.Context(), "two", make([]float64, n)); !errors.As(err, &data) {
			t.Errorf("%d numbers for %d: %v", 3*valuesBuffer+1, n, err)
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, ".part.one"+Suffix+".1-00000001.ufs-tmp"), nil, 0o600))
	must.Do(t, f.Forget())
	if left := must.Get(os.ReadDir(dir))(t); len(left) > 0 {
		t.Errorf("Forget has left %v", left)
	}
}

// TestNothingSaved: a run that saved nothing leaves no folder that it made, and no file in others.
func TestNothingSaved(t *testing.T) {
	own, made := t.TempDir(), filepath.Join(t.TempDir(), "new")
	must.Do(t, os.WriteFile(filepath.Join(own, "mine.ufs"), nil, 0o600))
	for _, dir := range []string{own, made} {
		f, r, err := reopened(t, dir, Options{}, ofRun())
		must.Do(t, err)
		if r.HasStates() {
			t.Error("there are states")
		}
		must.Do(t, f.Close())
		must.Do(t, Forget(dir, Options{}))
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the folder is left")
	}
	if left := must.Get(os.ReadDir(own))(t); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
}

// TestRefusesOthers: the states of another run are refused with the name of a difference, and stay.
func TestRefusesOthers(t *testing.T) {
	dir := saved(t)
	for _, c := range []struct {
		change func(*Identity)
		want   string
	}{
		{func(i *Identity) { i.What = "rows" }, "it holds statistics, not rows"},
		{func(i *Identity) { i.Inputs[1].Fingerprint = "3" }, "input b.parquet has changed"},
		{func(i *Identity) { i.Inputs = i.Inputs[:1] }, "input b.parquet is missing"},
		{func(i *Identity) { i.Inputs = append(i.Inputs, stream.Input{Path: "c.parquet"}) }, "input c.parquet was not there"},
		{func(i *Identity) { i.Inputs[0].Path = "d.parquet" }, "input 1 is d.parquet, and was a.parquet"},
		{func(i *Identity) { i.Columns[1].Name = "z" }, "feature 2 is z, and was y"},
		{func(i *Identity) { i.Columns[1].Type = "float" }, "feature y is of another type"},
		{func(i *Identity) { i.Columns = i.Columns[:1] }, "there are 1 features, and there were 2"},
		{func(i *Identity) { i.Options["k"] = "4" }, "--k is 4, and was 3"},
		{func(i *Identity) { i.Options = nil }, "--k is not given, and was 3"},
		{func(i *Identity) { i.Options["where"] = strings.Repeat("x", 99) }, "--where is " + strings.Repeat("x", 60) + "…, and was not given"},
		{func(i *Identity) { i.Facts["instruction set"] = "avx2" }, "the instruction set is avx2, and was go"},
	} {
		id := ofRun()
		c.change(&id)
		f, _, err := reopened(t, dir, Options{}, id)
		var usage *stream.UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%s: got %v, want a UsageError", c.want, err)
			continue
		}
		if text := usage.Spell(func(o string) string { return "--" + o }); !strings.Contains(text, c.want) || !strings.Contains(text, dir) || !strings.Contains(text, "remove") {
			t.Errorf("%q does not say %q", text, c.want)
		}
		must.Do(t, f.Close())
	}
	if _, r, err := reopened(t, dir, Options{}, ofRun()); err != nil || !r.HasStates() {
		t.Errorf("refused, the states are gone: %v", err)
	}
}

// TestUnasked: in a folder that nobody named, states of another run are removed with a remark, and failures to
// write there end no run.
func TestUnasked(t *testing.T) {
	dir := saved(t)
	id := ofRun()
	id.Options["k"] = "4"
	var said []string
	opt := Options{Implicit: true, Note: func(t stream.Text) { said = append(said, t.String()) }}
	f, r, err := reopened(t, dir, opt, id)
	must.Do(t, err)
	if r.HasStates() || len(said) != 1 || !strings.Contains(said[0], "k is 4, and was 3") {
		t.Errorf("stands: %v, said %q", r.HasStates(), said)
	}
	must.Do(t, r.Save(t.Context(), "two", nil))
	must.Do(t, os.MkdirAll(filepath.Join(dir, "part.one"+Suffix, "x"), 0o777)) // in the way
	must.Do(t, r.Save(t.Context(), "one", nil))
	if r.Due() || f.HoldsStates() || r.HasState("two") || len(f.listStateNames("")) != 1 {
		t.Errorf("given up, the folder has %q; said %q", f.listStateNames(""), said)
	}
	must.Do(t, os.RemoveAll(filepath.Join(dir, "part.one"+Suffix)))
	must.Do(t, f.Forget())
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is left")
	}
}

// TestOneRunAtATime: a second run in a folder is refused, with a remedy, until the first ends.
func TestOneRunAtATime(t *testing.T) {
	dir := t.TempDir()
	f := must.Get(Open(dir, Options{}))(t)
	_, err := Open(dir, Options{})
	var usage *stream.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "another run") {
		t.Errorf("opening a locked folder: got %v, want a UsageError that names %s and another run", err, dir)
	}
	must.Do(t, Forget(dir, Options{})) // the other's
	must.Do(t, f.Close())
	must.Do(t, f.Close())
	must.Do(t, must.Get(Open(dir, Options{}))(t).Close())
}

// TestNoPlace: a folder that cannot be made is named, without words of the system's.
func TestNoPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	var out *stream.OutputError
	if _, err := Open(filepath.Join(file, "x"), Options{}); !errors.As(err, &out) || strings.Contains(err.Error(), "mkdir") {
		t.Errorf("opening a folder below a file: got %v, want an OutputError without the system call", err)
	}
}

// TestDamage: every file, with any seventh byte changed or cut off there, is a *stream.DataError that names the
// file and advises to remove it, and never gives other numbers.
func TestDamage(t *testing.T) {
	dir := saved(t)
	for _, name := range []string{"part.identity" + Suffix, "part.one" + Suffix} {
		path := filepath.Join(dir, name)
		whole := must.Get(os.ReadFile(path))(t)
		load := func() error {
			f := must.Get(Open(dir, Options{}))(t)
			defer f.Close()
			r, err := f.OpenRun(t.Context(), "part", ofRun())
			if err != nil {
				return err
			}
			got := make([]float64, 3)
			if _, _, err = (Numbers{r}).Load(t.Context(), "one", got, nil); err == nil && !slices.Equal(got, []float64{1, 2, 3}) {
				t.Fatalf("%s: got %v", name, got)
			}
			return err
		}
		must.Do(t, load())
		for at := 0; at < len(whole); at += 7 {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 0x10
			for _, content := range [][]byte{flipped, whole[:at]} {
				must.Do(t, os.WriteFile(path, content, 0o600))
				err := load()
				var data *stream.DataError
				if strings.Contains(name, "identity") && err == nil {
					continue // after the header nothing is used
				}
				if !errors.As(err, &data) || data.Path != path || !strings.Contains(err.Error(), "remove it") {
					t.Fatalf("%s, byte %d: %v", name, at, err)
				}
			}
		}
		must.Do(t, os.WriteFile(path, whole, 0o600))
	}
}

// TestPace: saves come no more often than asked, and take no more than a fiftieth of the time.
func TestPace(t *testing.T) {
	now := time.Unix(0, 0)
	f := must.Get(Open(t.TempDir(), Options{Every: 10 * time.Second}))(t)
	defer f.Close()
	f.now = func() time.Time { return now }
	f.lastSave = now
	r := must.Get(f.OpenRun(t.Context(), "part", ofRun()))(t)
	for _, c := range []struct {
		cost, wait time.Duration
	}{{0, 10 * time.Second}, {time.Second, 50 * time.Second}, {100 * time.Millisecond, 10 * time.Second}} {
		f.recordSave(now.Add(-c.cost))
		now = now.Add(c.wait - 1)
		if r.Due() {
			t.Errorf("due before %v after a save of %v", c.wait, c.cost)
		}
		if now = now.Add(1); !r.Due() {
			t.Errorf("not due %v after a save of %v", c.wait, c.cost)
		}
	}
}

// TestNone: without a folder everything can be asked and nothing is kept.
func TestNone(t *testing.T) {
	var f *Folder
	r := must.Get(f.OpenRun(t.Context(), "part", ofRun()))(t)
	must.Do(t, r.Save(t.Context(), "one", nil))
	must.Do(t, r.Drop("one"))
	s, err := r.Load(t.Context(), "one")
	if s != nil || err != nil || r.Due() || r.HasStates() || f.Path() != "" {
		t.Error("there is something")
	}
	must.Do(t, errors.Join(f.Close(), f.Forget(), Forget("", Options{}), Forget(filepath.Join(t.TempDir(), "none"), Options{})))
}

// TestSavesAfterTheEnd: an interruption has ended the context when it matters most to save.
func TestSavesAfterTheEnd(t *testing.T) {
	_, r, err := reopened(t, t.TempDir(), Options{}, ofRun())
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Do(t, Numbers{r}.Save(ctx, "one", nil, []float64{1}))
	if _, ok, err := (Numbers{r}).Load(t.Context(), "one", make([]float64, 1)); !ok || err != nil {
		t.Errorf("loading the saved numbers: got %v, %v, want true, nil", ok, err)
	}
}

package resume

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/disk/journal"
	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
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
	r, err := f.OpenRun("part", id)
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
	must.Do(t, os.WriteFile(filepath.Join(dir, ".part.one.0"+Suffix+".1-00000001.ufs-tmp"), nil, 0o600))
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
	must.Do(t, os.MkdirAll(filepath.Join(dir, "part.one.0"+Suffix, "x"), 0o777)) // in the way
	must.Do(t, Numbers{r}.Save(t.Context(), "one", nil, []float64{1}))
	if r.Due() || f.HoldsStates() || r.HasState("two") || len(f.listStateNames("")) != 1 {
		t.Errorf("given up, the folder has %q; said %q", f.listStateNames(""), said)
	}
	must.Do(t, os.RemoveAll(filepath.Join(dir, "part.one.0"+Suffix)))
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

// TestDamage: the file of a state, with any seventh byte changed or cut off there, is a *stream.DataError that names the
// file and advises to remove it, and never gives other numbers. Without the file the state is computed again.
func TestDamage(t *testing.T) {
	dir := saved(t)
	path := filepath.Join(dir, "part.one.0"+Suffix)
	whole := must.Get(os.ReadFile(path))(t)
	load := func() (ok bool, err error) {
		f := must.Get(Open(dir, Options{}))(t)
		defer f.Close()
		r := must.Get(f.OpenRun("part", ofRun()))(t)
		got := make([]float64, 3)
		if _, ok, err = (Numbers{r}).Load(t.Context(), "one", got, nil); ok && !slices.Equal(got, []float64{1, 2, 3}) {
			t.Fatalf("got %v", got)
		}
		return ok, err
	}
	for at := 0; at < len(whole); at += 7 {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 0x10
		for _, content := range [][]byte{flipped, whole[:at], append(bytes.Clone(whole), 0)} {
			must.Do(t, os.WriteFile(path, content, 0o600))
			_, err := load()
			if data, ok := errors.AsType[*stream.DataError](err); !ok || data.Path != path || !strings.Contains(err.Error(), "remove it") {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
	}
	must.Do(t, os.Remove(path))
	if ok, err := load(); ok || err != nil {
		t.Errorf("without its file, the state is there: %t, %v", ok, err)
	}
}

// TestKilled: wherever a run is killed amid a save, an append, a drop or the removal of all states, the next run finds
// either what was there before or what is there after, and continues from it.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	values := func(r *Run) (list [3]float64) {
		for i, name := range []string{"one", "two", "log"} {
			got := []float64{0}
			_, ok, err := (Numbers{r}).Load(t.Context(), name, got)
			if must.Do(t, err); ok {
				list[i] = got[0]
			}
		}
		return list
	}
	steps := []func(Numbers) error{
		func(n Numbers) error { return n.Save(t.Context(), "one", nil, []float64{1}) },
		func(n Numbers) error { return n.Save(t.Context(), "two", nil, []float64{2}) },
		func(n Numbers) error { return n.Save(t.Context(), "one", nil, []float64{3}) },
		func(n Numbers) error { return n.Append(t.Context(), "log", map[string]string{"a": "b"}, []float64{4}) },
		func(n Numbers) error { return n.Save(t.Context(), "one", nil, []float64{5}) },
		func(n Numbers) error { return n.Drop("two") },
		func(n Numbers) error { return n.run.RemoveStates() },
		func(n Numbers) error { return n.Save(t.Context(), "two", nil, []float64{6}) },
	}
	for i, step := range steps {
		_, r, err := reopened(t, dir, Options{}, ofRun())
		must.Do(t, err)
		before, was := must.Files(t, dir), values(r)
		must.Do(t, step(Numbers{r}))
		now := values(r)
		must.Do(t, r.folder.Close())
		after := must.Files(t, dir)
		old, log := before[logName], after[logName]
		if !strings.HasPrefix(log, old) {
			t.Fatalf("step %d changes the log", i)
		}
		for end := len(old); end <= len(log); end = max(end+1, min(end+17, len(log))) {
			killed := t.TempDir()
			must.Do(t, os.Chmod(killed, 0o700))
			for _, files := range []map[string]string{after, before} { // the files before are removed last
				for name, text := range files {
					must.Do(t, os.WriteFile(filepath.Join(killed, name), []byte(text), 0o600))
				}
			}
			must.Do(t, os.WriteFile(filepath.Join(killed, logName), []byte(log[:end]), 0o600))
			f, r, err := reopened(t, killed, Options{}, ofRun())
			must.Do(t, err)
			if got := values(r); got != was && got != now || end == len(log) && got != now {
				t.Fatalf("step %d, killed after %d of %d bytes: got %v, want %v or %v", i, end, len(log), got, was, now)
			}
			must.Do(t, Numbers{r}.Append(t.Context(), "one", nil, []float64{7}))
			if got := values(r); got[0] != 7 {
				t.Fatalf("step %d, killed after %d bytes: continued it has %v", i, end, got)
			}
			must.Do(t, f.Close())
		}
	}
}

// TestOtherVersion: the checkpoint of another version is removed with a remark, and the run begins anew.
func TestOtherVersion(t *testing.T) {
	for name, text := range map[string]string{
		"part.identity" + Suffix: "a release without a log", logName: string(must.Get(journal.AppendLine(nil, record{Format: logFormat + 1}))(t)),
	} {
		dir := t.TempDir()
		must.Do(t, errors.Join(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "part.one"+Suffix), nil, 0o600)))
		var said []string
		f, r, err := reopened(t, dir, Options{Note: func(t stream.Text) { said = append(said, t.String()) }}, ofRun())
		must.Do(t, err)
		if len(said) != 1 || !strings.Contains(said[0], "another version") || r.HasStates() || len(f.listStateNames("")) > 0 {
			t.Errorf("%s: said %q, and %v is left", name, said, f.listStateNames(""))
		}
		must.Do(t, Numbers{r}.Save(t.Context(), "one", nil, []float64{1}))
		must.Do(t, f.Close())
	}
}

// TestFullDisk: a save to a full disk is an error, the state before stays, and a folder that nobody named is given up.
func TestFullDisk(t *testing.T) {
	for _, unasked := range []bool{false, true} {
		for _, change := range []string{"write", "sync", "rename"} {
			dir := saved(t)
			_, r, err := reopened(t, dir, Options{Implicit: unasked}, ofRun())
			must.Do(t, err)
			ctx := faults.WithDisk(t.Context(), &faults.Disk{Change: func(_, what string) error {
				if what == change {
					return syscall.ENOSPC
				}
				return nil
			}})
			err = Numbers{r}.Save(ctx, "one", nil, []float64{4})
			if _, isOutput := errors.AsType[*stream.OutputError](err); isOutput == unasked || r.HasStates() == unasked {
				t.Errorf("%s fails, unasked %t: %v, has states %t", change, unasked, err, r.HasStates())
			}
			must.Do(t, r.folder.Close())
			if unasked {
				continue
			}
			_, r, err = reopened(t, dir, Options{}, ofRun())
			must.Do(t, err)
			got := make([]float64, 3)
			if _, ok, err := (Numbers{r}).Load(t.Context(), "one", got, nil); !ok || err != nil || got[2] != 3 {
				t.Errorf("%s failed: got %v, %t, %v", change, got, ok, err)
			}
		}
	}
}

// FuzzRecord: a record of a log is refused, or names possible files of its own folder.
func FuzzRecord(f *testing.F) {
	for _, text := range []string{"{}", `{"part":"p","digest":"1","run":{}}`, `{"part":"p","state":{"name":"a","file":"../a` + Suffix + `"}}`, `{"part":"p","state":{"name":"a","file":"` + logName + `"}}`,
		`{"part":"p","state":{"name":"a","sections":[{"bytes":-1}]}}`, `{"part":"p","state":{"name":"a","scratch":[{"name":"a","file":"p.x.0` + dataSuffix + `","bytes":8,"record":8}]}}`, `{"part":"p","state":{"name":"a","sections":[{"bytes":9223372036854775807},{"bytes":9223372036854775807}]}}`} {
		f.Add(text, int64(8))
	}
	f.Fuzz(func(t *testing.T, text string, size int64) {
		var r record
		if json.Unmarshal([]byte(text), &r) != nil || size < 0 {
			return
		}
		folder := &Folder{parts: map[string]*savedPart{"p": {states: map[string]*savedState{}}}}
		folder.applyRecord(&r, journal.Body{Bytes: size})
		for _, part := range folder.parts {
			for _, s := range part.states {
				for _, name := range s.fileNames() {
					if dir, file := filepath.Split(filepath.Join("folder", name)); filepath.Clean(dir) != "folder" || !strings.HasSuffix(file, Suffix) || file == logName {
						t.Errorf("%q names %q", text, name)
					}
				}
				if n := s.countBytes(); n < 0 || s.File == "" && n != size {
					t.Errorf("%q has %d bytes, want %d", text, n, size)
				}
			}
		}
	})
}

// TestPace: saves come no more often than asked, and take no more than a fiftieth of the time.
func TestPace(t *testing.T) {
	now := time.Unix(0, 0)
	f := must.Get(Open(t.TempDir(), Options{Every: 10 * time.Second}))(t)
	defer f.Close()
	f.now = func() time.Time { return now }
	f.lastSave = now
	r := must.Get(f.OpenRun("part", ofRun()))(t)
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
	r := must.Get(f.OpenRun("part", ofRun()))(t)
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

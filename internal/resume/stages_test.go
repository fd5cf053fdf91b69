package resume

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// staged opens the stages of a run in a folder, which is closed when close is called.
func staged(t *testing.T, dir string, opt Options) (*Stages, *Folder) {
	t.Helper()
	f, r, err := reopened(t, dir, opt, ofRun())
	must.Do(t, err)
	return r.OpenStages(nil), f
}

const fileBytes, fileRecord = 40, 16

// raise adds 1 to every byte of a file.
func raise(t *testing.T, f stream.ScratchFile, mode stream.ScratchMode) {
	t.Helper()
	p := f.Pass(mode)
	for left := fileBytes; left > 0; left -= fileRecord {
		record := must.Get(p.Next())(t)
		for i := range record {
			if record[i]++; mode == stream.ScratchWrite {
				record[i] = 1
			}
		}
	}
	must.Do(t, p.Close())
}

// first is the first byte of a file.
func first(t *testing.T, f stream.ScratchFile) (byte, error) {
	t.Helper()
	p := f.Pass(stream.ScratchRead)
	record, err := p.Next()
	must.Do(t, p.Close())
	if err != nil {
		return 0, err
	}
	return record[0], nil
}

// keptStage makes a stage with a file that was raised three times, saved at 2.
func keptStage(t *testing.T, dir string) {
	t.Helper()
	s, folder := staged(t, dir, Options{Every: -1})
	disk := scratch.New(scratch.Options{Dir: dir})
	st := s.Stage("x", disk)
	x := 1.5
	if progress := must.Get(st.Load(t.Context(), &x))(t); progress != stream.StageNew {
		t.Fatalf("a new stage is %d", progress)
	}
	f := must.Get(st.Make("a file", fileBytes, fileRecord))(t)
	other := must.Get(st.Make("another", fileBytes, fileRecord))(t)
	raise(t, f, stream.ScratchWrite)
	must.Do(t, other.Close())
	raise(t, f, stream.ScratchModify)
	must.Do(t, st.Save(t.Context(), 3, &x))
	raise(t, f, stream.ScratchModify)
	must.Do(t, errors.Join(disk.Close(), folder.Close()))
}

// A stage continues with its values, its steps and the bytes of its files as they were saved; other leftovers
// of a killed run are removed, and the files of others stay.
func TestStageGoesOn(t *testing.T) {
	dir := t.TempDir()
	keptStage(t, dir)
	left := filepath.Join(dir, "part.x.7"+dataSuffix)
	own := filepath.Join(dir, "thesis.tex")
	must.Do(t, errors.Join(os.WriteFile(left, nil, 0o600), os.WriteFile(own, nil, 0o600)))
	if n := ScratchBytes(dir); n != 2*fileBytes {
		t.Errorf("the files take %d bytes", n)
	}
	_, r, err := reopened(t, dir, Options{}, ofRun())
	must.Do(t, err)
	steps := 0
	s := r.OpenStages(func(step int) { steps = step })
	for path, there := range map[string]bool{left: false, own: true} {
		if _, err := os.Stat(path); (err == nil) != there {
			t.Errorf("%s: got %v, want it to exist: %t", path, err, there)
		}
	}
	for _, space := range []stream.Scratch{scratch.New(scratch.Options{Dir: dir}), stream.InMemory{}} {
		st, x := s.Stage("x", space), 0.0
		if progress := must.Get(st.Load(t.Context(), &x))(t); progress != stream.StageBegun || x != 1.5 || steps != 3 || !r.HasStates() {
			t.Errorf("progress %d, value %v, %d steps", progress, x, steps)
		}
		f := must.Get(st.Make("a file", fileBytes, fileRecord))(t)
		if b := must.Get(first(t, f))(t); b != 2 {
			t.Errorf("it holds %d", b)
		}
		must.Do(t, f.Close())
		if _, err := st.Make("a file", fileBytes, fileRecord); err == nil {
			t.Error("a file that the state has not is made")
		}
	}
}

// A stage that has ended leaves its values and no files.
func TestStageEnds(t *testing.T) {
	dir := t.TempDir()
	keptStage(t, dir)
	s, folder := staged(t, dir, Options{})
	st, x := s.Stage("x", stream.InMemory{}), 0.0
	must.Get(st.Load(t.Context(), &x))(t)
	f := must.Get(st.Make("a file", fileBytes, fileRecord))(t)
	x = math.Inf(-1)
	must.Do(t, st.End(t.Context(), &x))
	must.Do(t, errors.Join(f.Close(), folder.Close()))
	if n := ScratchBytes(dir); n != 0 {
		t.Errorf("%d bytes of files are left", n)
	}
	s, _ = staged(t, dir, Options{})
	x = 0
	if progress := must.Get(s.Stage("x", stream.InMemory{}).Load(t.Context(), &x))(t); progress != stream.StageEnded || x != math.Inf(-1) {
		t.Errorf("progress %d, value %v", progress, x)
	}
	// One that is over sooner than a save is due leaves nothing.
	if err := s.Stage("y", stream.InMemory{}).End(t.Context(), &x); err != nil || len(s.run.folder.listStateNames("part.y")) > 0 {
		t.Errorf("a short stage: got error %v and states %v, want none", err, s.run.folder.listStateNames("part.y"))
	}
}

// A damaged file of a stage names itself and the remedy, and following it makes the stage anew.
func TestStageDamaged(t *testing.T) {
	dir := t.TempDir()
	keptStage(t, dir)
	data, state := filepath.Join(dir, "part.x.0"+dataSuffix), filepath.Join(dir, "part.x.0"+Suffix)
	goOn := func() error {
		f := must.Get(Open(dir, Options{}))(t)
		defer f.Close()
		s := must.Get(f.OpenRun("part", ofRun()))(t).OpenStages(nil)
		disk := scratch.New(scratch.Options{Dir: dir})
		defer disk.Close()
		st, x := s.Stage("x", disk), 0.0
		if progress, err := st.Load(t.Context(), &x); err != nil || progress == stream.StageNew {
			return errors.Join(err, errMadeAnew)
		}
		file, err := st.Make("a file", fileBytes, fileRecord)
		if err != nil {
			return err
		}
		_, err = first(t, file)
		return err
	}
	must.Do(t, goOn())
	for _, path := range []string{data, state} {
		whole := must.Get(os.ReadFile(path))(t)
		rotten := slices.Clone(whole)
		for i := range rotten {
			rotten[i] ^= 1
		}
		for _, broken := range [][]byte{rotten, whole[:len(whole)/3]} {
			must.Do(t, os.WriteFile(path, broken, 0o600))
			var at *stream.DataError
			if err := goOn(); !errors.As(err, &at) || at.Path != path || !strings.Contains(err.Error(), "remove") {
				t.Errorf("%s is damaged: got %v, want a DataError that advises to remove it", path, err)
			}
		}
		must.Do(t, os.Remove(path))
		if err := goOn(); !errors.Is(err, errMadeAnew) {
			t.Errorf("%s is removed: %v", path, err)
		}
		must.Do(t, os.RemoveAll(dir))
		keptStage(t, dir)
	}
}

var errMadeAnew = errors.New("the stage is made anew")

// Values come back bit by bit, and none of another length.
func TestValues(t *testing.T) {
	type all struct {
		yes   bool
		n     int
		x     float64
		fixed []float64
		vary  []float64
		small []int32
		wide  []int
	}
	list := func(a *all) stageValues { return stageValues{&a.yes, &a.n, &a.x, a.fixed, &a.vary, &a.small, &a.wide} }
	want := all{true, -7, math.Copysign(0, -1), []float64{math.Inf(1), 5e-324}, make([]float64, 2*valuesBuffer+1), []int32{-1, 1 << 30}, []int{1 << 40}}
	want.vary[valuesBuffer] = 3
	var b strings.Builder
	must.Get(list(&want).WriteTo(&b))(t)
	got := all{fixed: make([]float64, 2)}
	must.Get(list(&got).ReadFrom(strings.NewReader(b.String())))(t)
	if got.yes != want.yes || got.n != want.n || math.Signbit(got.x) != true || !slices.Equal(got.fixed, want.fixed) ||
		!slices.Equal(got.vary, want.vary) || !slices.Equal(got.small, want.small) || !slices.Equal(got.wide, want.wide) {
		t.Errorf("got %v", got)
	}
	got.fixed = make([]float64, 3)
	if _, err := list(&got).ReadFrom(strings.NewReader(b.String())); err == nil {
		t.Error("two numbers fill three")
	}
	for at := 0; at < b.Len(); at += max(b.Len()/100, 1) {
		got.fixed = make([]float64, 2)
		if _, err := list(&got).ReadFrom(strings.NewReader(b.String()[:at])); err == nil {
			t.Errorf("cut off behind %d bytes of %d", at, b.Len())
		}
	}
}

// An interrupted run saves the current step and ends then if steps are short; before any step, and if they are
// long, it ends at once.
func TestDelay(t *testing.T) {
	for _, c := range []struct {
		step  time.Duration
		waits bool
	}{{0, false}, {time.Second, true}, {time.Minute, false}} {
		dir := t.TempDir()
		s, folder := staged(t, dir, Options{})
		now := time.Unix(0, 0)
		folder.now = func() time.Time { return now }
		ctx, cancel := context.WithCancel(t.Context())
		inner, stop := s.DelayCancel(ctx)
		st := s.Stage("x", stream.InMemory{})
		if c.step > 0 {
			now = now.Add(c.step)
			must.Do(t, st.Save(inner, 1))
		}
		saved := len(folder.listStateNames("part.x"))
		cancel()
		if c.waits {
			if err := st.Save(inner, 2); !errors.Is(err, context.Canceled) || inner.Err() != nil || len(folder.listStateNames("part.x")) != saved+1 {
				t.Errorf("steps of %v: %v, %v, %v", c.step, err, inner.Err(), folder.listStateNames("part.x"))
			}
		} else {
			<-inner.Done()
		}
		stop()
		<-inner.Done()
	}
}

// If a folder that nobody named is full, the run continues without it.
func TestStageWithoutRoom(t *testing.T) {
	for _, unasked := range []bool{false, true} {
		s, folder := staged(t, t.TempDir(), Options{Every: -1, Implicit: unasked})
		st := s.Stage("x", stream.InMemory{})
		f := must.Get(st.Make("a file", fileBytes, fileRecord))(t)
		raise(t, f, stream.ScratchWrite)
		must.Do(t, os.MkdirAll(filepath.Join(folder.path, "part.x.0"+dataSuffix, "x"), 0o700)) // in the way
		err := st.Save(t.Context(), 1)
		if unasked != (err == nil) || unasked != folder.savingDisabled || !unasked && !errors.Is(err, ownfile.ErrForeign) {
			t.Errorf("unasked %t: %v, given up %t", unasked, err, folder.savingDisabled)
		}
		must.Do(t, os.RemoveAll(filepath.Join(folder.path, "part.x.0"+dataSuffix)))
		must.Do(t, f.Close())
	}
}

// Before the first save, its cost is estimated from the files.
func TestFirstSaveWaits(t *testing.T) {
	s, folder := staged(t, t.TempDir(), Options{Every: time.Second})
	now := time.Unix(0, 0)
	folder.now = func() time.Time { return now }
	st := s.Stage("x", stream.InMemory{}).(*stage)
	st.files = []*stageFile{{mark: fileMark{Bytes: assumedDiskSpeed / 10}}} // a tenth of a second, of which a fiftieth
	for after, want := range map[time.Duration]bool{time.Second: false, 4900 * time.Millisecond: false, 5 * time.Second: true} {
		if got := st.isSaveDue(now.Add(after)); got != want {
			t.Errorf("due after %v: %t", after, got)
		}
	}
}

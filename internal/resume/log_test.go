package resume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// passes are states as a log holds them, of some lengths.
func passes() map[string][][]float64 {
	long := make([]float64, valuesBuffer+3)
	for i := range long {
		long[i] = 1 / float64(i+1)
	}
	return map[string][][]float64{"pass1": {{1, 2, 3}, nil, {-0.5}}, "pass2": {long}, "pass3": {{}}, "pass4": {{4}, {5, 6}}}
}

func appended(t *testing.T, dir string) *Run {
	t.Helper()
	_, r, err := reopened(t, dir, Options{}, ofRun())
	must.Do(t, err)
	all := passes()
	for k := range len(all) {
		name := fmt.Sprint("pass", k+1)
		must.Do(t, Numbers{r}.Append(t.Context(), name, map[string]string{"what": name}, all[name]...))
	}
	return r
}

// recalled is how many states from the first on are there, each as it was appended.
func recalled(t *testing.T, r *Run) int {
	t.Helper()
	all := passes()
	for k := range len(all) {
		name := fmt.Sprint("pass", k+1)
		var got [][]float64
		for _, x := range all[name] {
			got = append(got, make([]float64, len(x)))
		}
		marks, ok, err := Numbers{r}.Load(t.Context(), name, got...)
		if must.Do(t, err); !ok {
			return k
		}
		if marks["what"] != name || !slices.EqualFunc(got, all[name], slices.Equal[[]float64]) {
			t.Fatalf("%s: %v of %v", name, got, marks)
		}
	}
	return len(all)
}

// TestLog: appended states are present in the next run, although nothing waited for the disk.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	r := appended(t, dir)
	if r.log.synced != 0 || !r.folder.HoldsStates() {
		t.Errorf("synced up to %d before its time, holds %v", r.log.synced, r.folder.HoldsStates())
	}
	if n := recalled(t, r); n != 4 {
		t.Errorf("%d states of 4", n)
	}
	must.Do(t, r.folder.Sync())
	if r.log.synced != r.log.end {
		t.Errorf("synced up to %d of %d", r.log.synced, r.log.end)
	}
	r.folder.now = func() time.Time { return time.Now().Add(time.Hour) }
	must.Do(t, Numbers{r}.Append(t.Context(), "late", nil, []float64{7}))
	if r.log.synced != r.log.end {
		t.Error("not synced when its time has come")
	}
	must.Do(t, r.folder.Close())
	f, r, err := reopened(t, dir, Options{}, ofRun())
	if must.Do(t, err); !r.HasStates() || recalled(t, r) != 4 {
		t.Error("they are not there again")
	}
	if _, _, err := (Numbers{r}).Load(t.Context(), "pass1", []float64{0}); !errors.As(err, new(*stream.DataError)) {
		t.Errorf("other lengths: %v", err)
	}
	if must.Do(t, f.Forget()); len(must.Get(filepath.Glob(filepath.Join(dir, "*")))(t)) > 0 {
		t.Error("the log is still there")
	}
}

// TestLogEnds: a log that is cut anywhere, or has a byte changed, holds the states before that place and no
// others, and continues from there.
func TestLogEnds(t *testing.T) {
	dir := t.TempDir()
	r := appended(t, dir)
	path := r.filePath(logStateName)
	must.Do(t, r.folder.Close())
	whole := must.Get(os.ReadFile(path))(t)
	seen := make(map[int]bool)
	try := func(what string, b []byte, most int) {
		t.Helper()
		must.Do(t, os.WriteFile(path, b, 0o600))
		f, r, err := reopened(t, dir, Options{}, ofRun())
		must.Do(t, err)
		defer f.Close()
		if _, err := r.openLog(); err != nil { // only a damaged beginning is an error
			if !errors.As(err, new(*stream.DataError)) || most > 0 {
				t.Errorf("%s: opening the log: got %v, want a DataError only if its beginning is damaged", what, err)
			}
			return
		}
		n := recalled(t, r)
		if seen[n] = true; n > most {
			t.Errorf("%s: %d states, want at most %d", what, n, most)
		}
		must.Do(t, Numbers{r}.Append(t.Context(), "more", nil, []float64{9}))
		must.Do(t, f.Close())
		_, r, err = reopened(t, dir, Options{}, ofRun())
		must.Do(t, err)
		got := []float64{0}
		if _, ok, err := (Numbers{r}).Load(t.Context(), "more", got); !ok || err != nil || got[0] != 9 || recalled(t, r) != n {
			t.Errorf("%s: gone on with it has %v, %v, %v", what, ok, err, got)
		}
		must.Do(t, r.folder.Close())
	}
	begin := len(logMagic) + len(r.digest)
	for at := 0; at < len(whole); {
		try(fmt.Sprintf("cut at %d", at), whole[:at], 3)
		changed := slices.Clone(whole)
		changed[at] ^= 4
		most := 3
		if at < begin {
			most = 0
		}
		try(fmt.Sprintf("byte %d changed", at), changed, most)
		if at += 13; at > 300 && at < len(whole)-400 { // amid the long state
			at = min(at+4000, len(whole)-400)
		}
	}
	if !seen[0] || !seen[1] || !seen[3] {
		t.Errorf("only %v states were left", seen)
	}
}

// TestLogUnwritable: an unasked log that cannot be written is given up; one that was asked for is an error.
func TestLogUnwritable(t *testing.T) {
	for _, unasked := range []bool{false, true} {
		var said []stream.Text
		_, r, err := reopened(t, t.TempDir(), Options{Implicit: unasked, Note: func(t stream.Text) { said = append(said, t) }}, ofRun())
		must.Do(t, err)
		must.Do(t, Numbers{r}.Append(t.Context(), "one", nil, []float64{1}))
		must.Do(t, r.log.file.Close())
		err = Numbers{r}.Append(context.Background(), "two", nil, []float64{2})
		if isOutput := errors.As(err, new(*stream.OutputError)); isOutput == unasked || unasked != (len(said) > 0) {
			t.Errorf("unasked %v: %v, said %v", unasked, err, said)
		}
	}
}

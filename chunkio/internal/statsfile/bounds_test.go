package statsfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/forged"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// forgedHeader is a statistics file whose header has something else in place of its last brace.
func forgedHeader(t *testing.T, end string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "forged.ufs")
	must.Do(t, WriteStats(t.Context(), path, StatsHeader{Kind: "gram", Version: "0", Columns: []stream.Column{{Name: "a"}}}, Section{"z", bytes.NewReader(make([]byte, 10))}))
	f := must.Get(forged.Open(path))(t)
	f.Header = append(bytes.TrimSuffix(f.Header, []byte("}")), end+"}"...)
	must.Do(t, os.WriteFile(path, f.Bytes(), 0o600))
	return path
}

// TestHeadersAreCounted: a header that takes more than the memory once decoded is refused before decoding, with its
// need, and a header with more warnings than any run has is damaged however much memory there is.
func TestHeadersAreCounted(t *testing.T) {
	const n = 1 << 20
	for what, end := range map[string]string{
		"inputs":   `,"inputs":[` + strings.Repeat(`{},`, n) + `{}]`,
		"ranges":   `,"ranges":[` + strings.Repeat(`{},`, n) + `{}]`,
		"columns":  `,"columns":[` + strings.Repeat(`{},`, n) + `{}]`,
		"left out": `,"left_out":[` + strings.Repeat(`{},`, n) + `{}]`,
		"options":  `,"options":{` + strings.TrimSuffix(strings.Repeat(`"":"",`, n), ",") + `}`,
	} {
		path := forgedHeader(t, end)
		const limit = 12 << 20
		var before, after runtime.MemStats
		for form, read := range map[string]func(opt storage.FetchOptions) error{
			"alone": func(opt storage.FetchOptions) error {
				_, err := ReadStatsHeader(t.Context(), path, opt)
				return err
			},
			"with the rest": func(opt storage.FetchOptions) error {
				s, err := OpenStats(t.Context(), path, opt)
				if err == nil {
					err = s.Close()
				}
				return err
			},
		} {
			runtime.ReadMemStats(&before)
			err := read(storage.FetchOptions{Memory: limit})
			runtime.ReadMemStats(&after)
			short, ok := errors.AsType[*stream.MemoryError](err)
			if took := int64(after.TotalAlloc - before.TotalAlloc); !ok || short.Limit != limit || took > limit {
				t.Errorf("%s, %s: %d of %d bytes were allocated: %v", what, form, took, limit, err)
				continue
			}
			for range 3 { // each list is counted when it comes to it
				if err = read(storage.FetchOptions{Memory: short.Need}); !errors.As(err, &short) {
					break
				}
			}
			if errors.As(err, new(*stream.MemoryError)) {
				t.Errorf("%s, %s: not in the %d bytes that are said to do: %v", what, form, short.Need, err)
			}
		}
	}
	for _, n := range []int{mostWarnings, mostWarnings + 1} {
		path := forgedHeader(t, `,"warnings":[`+strings.Repeat(`"abcdefg",`, n-1)+`""]`)
		h, err := ReadStatsHeader(t.Context(), path, storage.FetchOptions{})
		if n == mostWarnings && (err != nil || len(h.Warnings) != n) {
			t.Errorf("%d warnings, want %d: %v", len(h.Warnings), n, err)
		}
		if n > mostWarnings && (!errors.As(err, new(*stream.DataError)) || !strings.Contains(err.Error(), fmt.Sprint(n, " warnings"))) {
			t.Errorf("%d warnings: %v", n, err)
		}
	}
}

// TestWarningsAreFew: a header is written with as many warnings as can be read; the last one counts the others.
func TestWarningsAreFew(t *testing.T) {
	all := make([]string, 2*mostWarnings)
	for i := range all {
		all[i] = fmt.Sprint("w", i)
	}
	for n, want := range map[int]string{0: "", mostWarnings: fmt.Sprint("w", mostWarnings-1), mostWarnings + 1: "and 2 more warnings", len(all): fmt.Sprintf("and %d more warnings", mostWarnings+1)} {
		s, _, err := readAllStats(statsBytes(t, StatsHeader{Warnings: all[:n:n]}))
		must.Do(t, err)
		got := s.Header.Warnings
		if len(got) != min(n, mostWarnings) || n > 0 && got[len(got)-1] != want || !slices.Equal(got[:max(len(got)-1, 0)], all[:max(len(got)-1, 0)]) {
			t.Errorf("of %d warnings %d are read back, the last %q, want %q", n, len(got), got[max(len(got)-1, 0):], want)
		}
	}
}

// TestHeaderHearsTheEnd: counting a header ends with the context.
func TestHeaderHearsTheEnd(t *testing.T) {
	path := forgedHeader(t, `,"ranges":[`+strings.Repeat(`{},`, 1<<16)+`{}]`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadStatsHeader(ctx, path, storage.FetchOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
}

// TestCopiesCountAsScratch: the copy of an object is in the folder for scratch files and counts against their limit,
// together with them, until it is closed.
func TestCopiesCountAsScratch(t *testing.T) {
	const size = 1 << 20
	s, dir := storetest.S3(t), t.TempDir()
	s.PutObject("lake/list.txt", make([]byte, size))
	used := new(scratch.Ledger)
	opt := storage.FetchOptions{Temp: scratch.Options{Dir: dir, Limit: size + 100, Ledger: used}}
	beside := scratch.New(opt.Temp)
	short := (*stream.MemoryError)(nil)
	if _, err := storage.FetchFile(t.Context(), s.URL("lake/list.txt"), storage.FetchOptions{Temp: scratch.Options{Dir: dir, Limit: size - 1}}); !errors.As(err, &short) || short.Option != stream.ScratchSize || short.Need != size {
		t.Fatalf("too large for the limit: %v", err)
	}
	for range 2 { // closing gives the space back
		f := must.Get(storage.FetchFile(t.Context(), s.URL("lake/list.txt"), opt))(t)
		if err := beside.Reserve(101); !errors.As(err, &short) || short.Need != size+101 {
			t.Errorf("beside the copy: %v", err)
		}
		must.Do(t, beside.Reserve(100))
		if _, err := storage.FetchFile(t.Context(), s.URL("lake/list.txt"), opt); !errors.As(err, &short) || short.Need != 2*size {
			t.Errorf("a second copy: %v", err)
		}
		must.Do(t, f.Close())
	}
	must.Do(t, beside.Reserve(size+100))
	if _, err := storage.FetchFile(t.Context(), s.URL("lake/list.txt"), storage.FetchOptions{Temp: scratch.Options{Dir: filepath.Join(dir, "none")}}); !errors.As(err, new(*stream.OutputError)) || !strings.Contains(err.Error(), "temp-dir") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestRowsAndScratchShareTheLimit: converted rows of text and the spools of passes share one limit.
func TestRowsAndScratchShareTheLimit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	must.Do(t, os.WriteFile(path, []byte("a,b\n"+strings.Repeat("1,2\n", 1000)), 0o600))
	used := new(scratch.Ledger)
	opt := settings.Options{Spool: scratch.Options{Dir: dir, Limit: 1 << 20, Ledger: used}}
	ds := must.Get(dataset.OpenInputs(t.Context(), []string{path}, opt))(t)
	short := (*stream.MemoryError)(nil)
	if err := scratch.New(opt.Spool).Reserve(1 << 20); !errors.As(err, &short) || short.Need <= 1<<20 {
		t.Errorf("beside the rows: %v", err)
	}
	must.Do(t, ds.Close())
	must.Do(t, scratch.New(opt.Spool).Reserve(1<<20))
}

package delta

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// asOf is the version of a time, or -1 with the text of a usage error.
func asOf(t *testing.T, m *memoryFolder, at time.Time) (int64, string) {
	t.Helper()
	s, err := Read(t.Context(), m, "shop/orders", Options{AsOf: at})
	if e, ok := errors.AsType[*stream.UsageError](err); ok {
		return -1, e.Error()
	}
	if err != nil {
		t.Fatalf("reading as of %v: %v", at, err)
	}
	return s.Version, ""
}

// The version of a time is the newest whose commit is not later, and Time agrees.
func TestAsOf(t *testing.T) {
	h := newHistory(20, 6)
	m := newFolder()
	h.write(m, 0, h.rng)
	// Clocks that go back, and files copied in one moment: Spark has each commit at least
	// a millisecond later than the one before.
	offsets := []time.Duration{0, 0, 50 * time.Millisecond, 10 * time.Millisecond, 52 * time.Millisecond, time.Second}
	mended := []time.Duration{0, time.Millisecond, 50 * time.Millisecond, 51 * time.Millisecond, 52 * time.Millisecond, time.Second}
	for v, d := range offsets {
		m.times[commitFileName(int64(v))] = epoch.Add(d + 300*time.Microsecond) // below a millisecond nothing counts
	}
	for v, d := range mended {
		version := int64(v)
		s, err := Read(t.Context(), m, "shop/orders", Options{Version: &version})
		if err != nil || !s.Time.Equal(epoch.Add(d)) {
			t.Errorf("version %d: %v, %v; want %v", v, s.Time, err, epoch.Add(d))
		}
		if got, text := asOf(t, m, epoch.Add(d)); got != version {
			t.Errorf("at the time of version %d: %d %s", v, got, text)
		}
		if got, _ := asOf(t, m, epoch.Add(d-time.Nanosecond)); got != version-1 {
			t.Errorf("just before version %d: %d", v, got)
		}
	}
	if got, _ := asOf(t, m, epoch.Add(time.Hour)); got != 5 {
		t.Errorf("an hour later: %d", got)
	}
	if _, text := asOf(t, m, epoch.Add(-time.Second)); !strings.Contains(text, "version 0, is of 2023-11-14T22:13:20.000Z") {
		t.Errorf("before the first: %q", text)
	}

	// What was cleaned up has no time.
	h.checkpoint(t, m, 3, shapeClassic)
	for v := range int64(3) {
		delete(m.files, commitFileName(v))
	}
	if _, text := asOf(t, m, epoch); !strings.Contains(text, "version 3, is of 2023-11-14T22:13:20.010Z") {
		t.Errorf("cleaned up: %q", text)
	}
	_, err := Read(t.Context(), m, "shop/orders", Options{AsOf: epoch, Version: new(int64)})
	if e, ok := errors.AsType[*stream.UsageError](err); !ok || !strings.Contains(e.Error(), "both") {
		t.Errorf("both: %v", err)
	}
	for v := range int64(6) {
		delete(m.files, commitFileName(v))
	}
	m.times[logFolder+fmt.Sprintf("%020d.checkpoint.parquet", 3)] = epoch
	if _, text := asOf(t, m, epoch); !strings.Contains(text, "{version} (3 to 3)") && !strings.Contains(text, "set version (3 to 3)") {
		t.Errorf("no commits: %q", text)
	}
	if s, err := read(t, m, -1); err != nil || !s.Time.Equal(epoch) {
		t.Errorf("the time of the checkpoint stands in: %v, %v", s, err)
	}
}

// If the table's commits contain their time, files' times count only for earlier versions.
func TestInCommitTimes(t *testing.T) {
	for _, since := range []int64{0, 4} {
		m := newFolder()
		const n = 9
		at := func(v int64) time.Time { return epoch.Add(time.Duration(v*v) * time.Second) } // of commits
		for v := range int64(n) {
			lines := []string{addLine(fmt.Sprint(v))}
			if v == 0 {
				lines = append(lines, protocolLine, metaLine)
			}
			if v == since {
				config := `"delta.enableInCommitTimestamps":"true"`
				if since > 0 {
					config += fmt.Sprintf(`,"delta.inCommitTimestampEnablementVersion":"%d","delta.inCommitTimestampEnablementTimestamp":"%d"`, since, at(since).UnixMilli())
				}
				lines = append(lines, strings.Replace(metaLine, `"configuration":{`, `"configuration":{`+config, 1))
				if since == 0 {
					lines = []string{lines[0], protocolLine, lines[3]}
				}
			}
			m.times[commitFileName(v)] = epoch // files whose times say nothing
			if v < since {
				m.times[commitFileName(v)] = at(v)
			} else {
				lines = append([]string{fmt.Sprintf(`{"commitInfo":{"inCommitTimestamp":%d,"operation":"WRITE"}}`, at(v).UnixMilli())}, lines...)
			}
			m.commit(v, lines...)
		}
		for v := range int64(n) {
			if s, err := read(t, m, v); err != nil || !s.Time.Equal(at(v)) {
				t.Errorf("since %d, version %d: %v, %v", since, v, s, err)
			}
			for _, off := range []time.Duration{-time.Millisecond, 0, time.Millisecond} {
				want := v
				if off < 0 {
					want--
				}
				if got, text := asOf(t, m, at(v).Add(off)); got != want {
					t.Errorf("since %d, version %d%+v: %d %s", since, v, off, got, text)
				}
			}
		}
		m.commit(n-1, `{"add":{"path":"x","size":1}}`)
		_, err := read(t, m, -1)
		wantData(t, "no time", err, commitFileName(n-1), "line 1 has no commitInfo with an inCommitTimestamp")
	}
}

package delta

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// read reads a version; -1 is the newest.
func read(t testing.TB, m *memoryFolder, version int64) (*Snapshot, error) {
	t.Helper()
	opt := Options{}
	if version >= 0 {
		opt.Version = &version
	}
	return Read(t.Context(), m, "shop/orders/", opt)
}

// same compares a snapshot with the twin's; times are the affair of other tests.
func same(t *testing.T, what string, got *Snapshot, err error, want *Snapshot) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: reading the log: %v", what, err)
	}
	g := *got
	g.Time = time.Time{}
	if len(g.Partitions) == 0 {
		g.Partitions = want.Partitions
	}
	if len(g.Files) == 0 {
		g.Files = want.Files[:0]
	}
	if !reflect.DeepEqual(&g, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, g, want)
	}
}

// Every version of a table equals the twin's map, with its commits' actions in any order.
func TestEveryVersionIsItsTwin(t *testing.T) {
	for seed := range uint64(30) {
		h := newHistory(seed, 12)
		for order := range uint64(2) {
			m := newFolder()
			h.write(m, 0, rand.New(rand.NewPCG(seed, order)))
			for v := range h.commits {
				got, err := read(t, m, int64(v))
				same(t, fmt.Sprintf("seed %d, order %d, version %d", seed, order, v), got, err, h.want(v))
			}
			got, err := read(t, m, -1)
			same(t, "the newest", got, err, h.want(len(h.commits)-1))
		}
	}
}

// Replaying from any checkpoint, of any shape, equals replaying from the start; with the log before it or without,
// and with any _last_checkpoint.
func TestCheckpointAndRestIsTheWhole(t *testing.T) {
	hints := []string{"", "{", `{"version":3,"size":2}`, `{"version":999,"size":2,"parts":7}`, "\x00\xff"}
	for seed := range uint64(long.CountCases(1, 3)) {
		const versions = 6
		h := newHistory(100+seed, versions)
		for shape := range shapes {
			for c := range versions {
				for _, cleaned := range []bool{false, true} {
					m, from := newFolder(), 0
					if cleaned {
						from = c + h.rng.IntN(2) // with or without the commit of the checkpoint itself
					}
					h.write(m, from, h.rng)
					h.checkpoint(t, m, c, shape)
					m.files[logFolder+"_last_checkpoint"] = []byte(hints[h.rng.IntN(len(hints))])
					first := 0
					if from > 0 {
						first = c
					}
					for v := first; v < versions; v++ {
						got, err := read(t, m, int64(v))
						same(t, fmt.Sprintf("seed %d, shape %d, checkpoint %d, version %d", seed, shape, c, v), got, err, h.want(v))
					}
				}
			}
		}
	}
}

// A checkpoint of which a part is missing, or which its writer left without a byte, is
// passed over for an older one.
func TestIncompleteCheckpoints(t *testing.T) {
	h := newHistory(7, 10)
	names := []string{"%020d.checkpoint.0000000002.0000000003.parquet", "%020d.checkpoint.parquet"}
	for i, spoil := range []func(m *memoryFolder, name string){
		func(m *memoryFolder, name string) { delete(m.files, name) },
		func(m *memoryFolder, name string) { m.files[name] = nil },
	} {
		for shape, name := range map[int]string{shapeParts: names[0], shapeClassic: names[1]} {
			m := newFolder()
			h.write(m, 3, h.rng) // the older one is needed
			h.checkpoint(t, m, 3, shapeClassic)
			h.checkpoint(t, m, 6, shape)
			spoil(m, fmt.Sprintf(logFolder+name, 6))
			for v := 3; v < 10; v++ {
				got, err := read(t, m, int64(v))
				same(t, fmt.Sprintf("spoilt %d, shape %d, version %d", i, shape, v), got, err, h.want(v))
			}
		}
	}
}

// Only the newest usable checkpoint and the commits after it are read.
func TestReadsNoMoreThanNeeded(t *testing.T) {
	h := newHistory(8, 10)
	m := newFolder()
	h.write(m, 0, h.rng)
	h.checkpoint(t, m, 2, shapeClassic)
	h.checkpoint(t, m, 5, shapeClassic)
	if _, err := read(t, m, 7); err != nil {
		t.Fatalf("reading version 7: %v", err)
	}
	want := map[string]int{commitFileName(6): 1, commitFileName(7): 1, logFolder + fmt.Sprintf("%020d.checkpoint.parquet", 5): 1}
	if !reflect.DeepEqual(m.reads, want) {
		t.Fatalf("read %v, want %v", m.reads, want)
	}
}

// slow takes its time for a file, and notes how many it reads at once.
type slow struct {
	*memoryFolder
	now, most atomic.Int64
}

func (s *slow) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	time.Sleep(time.Millisecond)
	return s.memoryFolder.ReadFile(ctx, name, limit)
}

// Commits are read ahead, a few at a time and each once, with the same answer; after an
// error none is being read any more.
func TestReadsAhead(t *testing.T) {
	const n = 60
	h := newHistory(50, n)
	m := newFolder()
	h.write(m, 0, h.rng)
	s := &slow{memoryFolder: m}
	got, err := Read(t.Context(), s, "shop/orders", Options{})
	same(t, "ahead", got, err, h.want(n-1))
	if most := s.most.Load(); most < 2 || most > commitsAhead+1 {
		t.Errorf("%d commits at once", most)
	}
	for v := range int64(n) {
		if m.reads[commitFileName(v)] != 1 {
			t.Errorf("version %d was read %d times", v, m.reads[commitFileName(v)])
		}
	}
	m.commit(20, "{")
	_, err = Read(t.Context(), s, "shop/orders", Options{})
	wantData(t, "damage", err, commitFileName(20), "line 1")
	if s.now.Load() != 0 || m.reads[commitFileName(21+commitsAhead)] != 1 {
		t.Errorf("%d reads under way, version %d read again", s.now.Load(), 21+commitsAhead)
	}
}

// All spellings of an absolute path are one file.
func TestAbsolutePaths(t *testing.T) {
	spellings := []string{"/a/b%20c", "file:/a/b%20c", "file:///a/b%20c", "file:/a/b c"}
	for _, added := range spellings {
		for _, removed := range append(spellings, "") {
			m := newFolder()
			m.commit(0, protocolLine, metaLine, addLine(added), addLine("s3://bucket/x%20y"))
			m.commit(1, removeLine(removed+"zzz"), removeLine(removed))
			want := []File{{Path: "s3://bucket/x%20y", Size: 1, Rows: -1}}
			if removed == "" {
				delete(m.files, commitFileName(1))
				want = append([]File{{Path: added, Size: 1, Rows: -1}}, want...)
			}
			got, err := read(t, m, -1)
			if err != nil {
				t.Fatalf("reading the log: %v", err)
			}
			if !reflect.DeepEqual(got.Files, want) {
				t.Errorf("%s without %s: %+v", added, removed, got.Files)
			}
		}
	}
}

const (
	protocolLine = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`
	metaLine     = `{"metaData":{"id":"i","format":{"provider":"parquet"},"partitionColumns":[],"configuration":{}}}`
)

func addLine(path string) string {
	return fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":1,"dataChange":true}}`, path)
}

func removeLine(path string) string { return fmt.Sprintf(`{"remove":{"path":%q}}`, path) }

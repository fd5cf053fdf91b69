package delta

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// memoryFolder is a table in memory. Files were modified in the order of their versions, a minute apart, unless times
// has another time.
type memoryFolder struct {
	files map[string][]byte
	times map[string]time.Time
	mu    sync.Mutex
	reads map[string]int
}

func newFolder() *memoryFolder {
	return &memoryFolder{files: map[string][]byte{}, times: map[string]time.Time{}, reads: map[string]int{}}
}

var epoch = time.UnixMilli(1_700_000_000_000)

func (m *memoryFolder) List(_ context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(m.files)) {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			at, ok := m.times[name]
			if n := parseName(strings.TrimPrefix(name, logFolder)); !ok {
				at = epoch.Add(time.Duration(n.version) * time.Minute)
			}
			if !yield(Entry{name, int64(len(m.files[name])), at}, nil) {
				return
			}
		}
	}
}

func (m *memoryFolder) ReadFile(_ context.Context, name string, limit int64) ([]byte, error) {
	b, ok := m.files[name]
	m.count(name)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case int64(len(b)) > limit:
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return b, nil
}

func (m *memoryFolder) Open(_ context.Context, name string) (format.Input, error) {
	b, ok := m.files[name]
	m.count(name)
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return formattest.NewMemory(b), nil
}

func (m *memoryFolder) count(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads[name]++
}

// commit writes a version.
func (m *memoryFolder) commit(version int64, lines ...string) {
	m.files[commitFileName(version)] = []byte(strings.Join(lines, "\n") + "\n")
}

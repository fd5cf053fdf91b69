package chunkio

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// webServer serves ranges of files, with entity tags or without.
type webServer struct {
	*httptest.Server

	mu       sync.Mutex
	files    map[string][]byte
	tags     bool
	requests int
}

func newWebServer(t *testing.T, tags bool) *webServer {
	t.Helper()
	w := &webServer{files: map[string][]byte{}, tags: tags}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

func (s *webServer) put(key string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[key] = content
}

func (s *webServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	content, ok := s.files[strings.TrimPrefix(r.URL.Path, "/")]
	s.requests++
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	if s.tags {
		w.Header().Set("ETag", `"`+storage.FormatFingerprint(xxhash.Sum64(content))+`"`)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// smallFile is a Parquet file of 40 rows of one column, all x.
func smallFile(t *testing.T, x float64) []byte {
	t.Helper()
	planted := chunkiotest.NewTable(40)
	values := make([]float64, planted.Rows)
	for i := range values {
		values[i] = x
	}
	disk, paths := PlantTable(planted.AddScalar("x", values), 1, 40, 1)
	return chunkiotest.WriteToBytes(t, disk.OpenDataset(t, paths, Options{}), WriteOptions{})
}

// A server that reports no version of a file can still be read, but a file that was replaced by one with another
// footer is refused, and a missing file or one of another size belongs to no table.
func TestObjectsWithoutVersions(t *testing.T) {
	s := newWebServer(t, false)
	one, other := smallFile(t, 1.1), smallFile(t, 1.3)
	if len(one) != len(other) || bytes.Equal(one, other) {
		t.Fatalf("files of %d and %d bytes; want two of one size", len(one), len(other))
	}
	open := func() *Dataset {
		s.put("a.parquet", one)
		ds, err := Open(t.Context(), []string{s.URL + "/a.parquet"}, Options{})
		formattest.Must(t, err)
		return ds
	}
	ds := open()
	s.put("a.parquet", other)
	if _, err := chunkiotest.CollectRows(ds, stream.Range{}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("replaced: %v", err)
	}
	ds = open()
	s.put("a.parquet", append(bytes.Clone(one), 0))
	if _, err := chunkiotest.CollectRows(ds, stream.Range{}); !chunkiotest.IsData(err) || strings.Contains(err.Error(), "Delta") {
		t.Errorf("longer: %v", err)
	}
	ds = open()
	s.put("a.parquet", nil)
	delete(s.files, "a.parquet")
	if _, err := chunkiotest.CollectRows(ds, stream.Range{}); !errors.Is(err, store.ErrNotExist) || strings.Contains(err.Error(), "Delta") {
		t.Errorf("gone: %v", err)
	}
}

package statsfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestOpenStatsAs: a container whose header was read before has the sections that OpenStats
// finds. Whatever is flipped or cut off is noticed when it is opened, or at the end of the
// section that it is in; another file in its place is.
func TestOpenStatsAs(t *testing.T) {
	long := bytes.Repeat([]byte("some numbers"), 1000)
	file := statsBytes(t, testStatsHeader(), Section{"g", pieces{long, 5}}, Section{"h", noise(statsBlock + 9)}, Section{"empty", pieces{}})
	path := filepath.Join(t.TempDir(), "a.ufs")
	must.Do(t, os.WriteFile(path, file, 0o600))
	head := must.Get(ReadStatsHead(t.Context(), path, nil, storage.FetchOptions{}))(t)
	whole := must.Get(OpenStats(t.Context(), path, storage.FetchOptions{}))(t)
	defer whole.Close()
	// Sections to their ends, and the first error.
	readAll := func() (got map[string][]byte, err error) {
		s, err := OpenStatsAs(t.Context(), path, head, storage.FetchOptions{})
		if err != nil {
			return nil, err
		}
		defer s.Close()
		got = map[string][]byte{}
		for _, e := range whole.sections {
			r, err := s.SectionReader(e.name)
			if err != nil {
				return nil, err
			}
			if got[e.name], err = io.ReadAll(r); err != nil {
				return nil, err
			}
		}
		return got, nil
	}
	got := must.Get(readAll())(t)
	for _, e := range whole.sections {
		want := must.Get(io.ReadAll(must.Get(whole.SectionReader(e.name))(t)))(t)
		if !bytes.Equal(got[e.name], want) {
			t.Errorf("section %s differs", e.name)
		}
	}
	// In blocks of noise each byte matters as much as any other, so some of them will do.
	places := []int{0, 9, 12, 16, 17, len(file) - 9}
	for i := range file {
		if i < 64 || i%16411 == 0 || i > len(file)-120 && i < len(file)-8 { // the last 8 are of the whole
			places = append(places, i)
		}
	}
	for _, i := range places {
		bad := bytes.Clone(file)
		bad[i] ^= 0x81
		must.Do(t, os.WriteFile(path, bad, 0o600))
		if _, err := readAll(); !isDataError(err) {
			t.Errorf("byte %d of %d flipped: %v", i, len(file), err)
		}
		must.Do(t, os.WriteFile(path, file[:i], 0o600))
		if _, err := readAll(); !isDataError(err) {
			t.Errorf("cut at %d of %d: %v", i, len(file), err)
		}
	}
	must.Do(t, os.WriteFile(path, append(bytes.Clone(file), 0), 0o600))
	if _, err := readAll(); !isDataError(err) {
		t.Errorf("a byte more: %v", err)
	}
	h := testStatsHeader()
	h.Kind = "other"
	must.Do(t, os.WriteFile(path, statsBytes(t, h, Section{"g", pieces{long, 5}}), 0o600))
	_, err := readAll()
	wantDataError(t, err, "replaced")
}

// TestStatsHeadLike: a header that is read with another one as like equals the same header read alone, whether or not
// their columns and the columns left out are alike, and shares them if they are.
func TestStatsHeadLike(t *testing.T) {
	dir := t.TempDir()
	var heads []StatsHead
	for i, edit := range []func(*StatsHeader){
		func(*StatsHeader) {}, func(h *StatsHeader) { h.Kind = "profile" }, func(h *StatsHeader) { h.Columns[1].Type = "other" },
		func(h *StatsHeader) { h.Columns = h.Columns[:1] }, func(h *StatsHeader) { h.Columns = nil },
		func(h *StatsHeader) { h.LeftOut, h.Decided = append(h.LeftOut, h.LeftOut...), h.LeftOut },
	} {
		h := testStatsHeader()
		edit(&h)
		path := filepath.Join(dir, strconv.Itoa(i))
		must.Do(t, WriteStats(t.Context(), path, h))
		heads = append(heads, must.Get(ReadStatsHead(t.Context(), path, nil, storage.FetchOptions{}))(t))
		for j := range heads {
			got := must.Get(ReadStatsHead(t.Context(), path, &heads[j], storage.FetchOptions{}))(t)
			if !reflect.DeepEqual(got, heads[i]) || !reflect.DeepEqual(got.Header, h) {
				t.Errorf("header %d beside %d: %+v", i, j, got.Header)
			}
			whole := func(i int) bool { return i < 2 || i == 5 } // its columns equal the first's
			if alike := i != 4 && (i == j || whole(i) && whole(j)); alike != sameList(got.Header.Columns, heads[j].Header.Columns) {
				t.Errorf("headers %d and %d: shared columns: %v", i, j, !alike)
			}
			if alike := i == j || i < 5 && j < 5; alike != sameList(got.Header.LeftOut, heads[j].Header.LeftOut) {
				t.Errorf("headers %d and %d: shared, what is left out: %v", i, j, !alike)
			}
		}
	}
}

// sameList reports whether two lists are one.
func sameList[T any](a, b []T) bool { return len(a) > 0 && len(b) > 0 && &a[0] == &b[0] }

func isDataError(err error) bool {
	var d *stream.DataError
	return errors.As(err, &d)
}

// TestShardsThatCannotBe: merge finds missing shards by the shards in a header, so that shards that no plan has are
// refused when it is read.
func TestShardsThatCannotBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.ufs")
	for _, c := range []struct {
		shards []stream.ShardRange
		good   bool
	}{{[]stream.ShardRange{{From: 1, To: 3}, {From: 8, To: 8}}, true}, {[]stream.ShardRange{{From: 1, To: 9}}, false}, {nil, false}} {
		h := testStatsHeader()
		h.Part = &stream.Part{Plan: "x", Of: 8, Shards: c.shards}
		must.Do(t, WriteStats(t.Context(), path, h))
		_, alone := ReadStatsHeader(t.Context(), path, storage.FetchOptions{})
		s, whole := OpenStats(t.Context(), path, storage.FetchOptions{})
		if whole == nil {
			must.Do(t, s.Close())
		}
		if isDataError(alone) == c.good || isDataError(whole) == c.good {
			t.Errorf("shards %v: %v; %v", c.shards, alone, whole)
		}
	}
}

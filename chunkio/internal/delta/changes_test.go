package delta

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func readSince(t testing.TB, m *memoryFolder, since, version, memory int64) (*Changes, error) {
	t.Helper()
	s, err := Read(t.Context(), m, "shop/orders/", Options{Since: &since, Version: &version, Memory: memory})
	if err != nil {
		return nil, err
	}
	return s.Changes, nil
}

// describe lists files as "path", or "path[rows]" if they stand for some of their rows.
func describe(t testing.TB, files []File) string {
	t.Helper()
	var list []string
	for _, f := range files {
		text := f.Path
		if deleted := f.DeletedRows(); deleted != nil {
			rows, only := strings.CutPrefix(string(deleted), strings.Repeat("\xff", 8))
			b, others, data := roaring64.New(), roaring64.New(), strings.NewReader(rows)
			for _, set := range []*roaring64.Bitmap{b, others} {
				if data.Len() > 0 {
					_, err := set.ReadPortableFrom(data)
					formattest.Must(t, err)
				}
			}
			b.AndNot(others)
			if text += fmt.Sprint(b.ToArray()); !only {
				text += "deleted"
			}
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// The files of a version with the changes since then are the files of a later version, from any checkpoint.
func TestChangesAddUp(t *testing.T) {
	for seed := range uint64(25) {
		const versions = 9
		h := newHistory(500+seed, versions)
		m := newFolder()
		h.write(m, 0, h.rng)
		h.checkpoint(t, m, 3, int(seed)%shapes)
		for since := range versions {
			for version := since; version < versions; version++ {
				c, err := readSince(t, m, int64(since), int64(version), 0)
				if err != nil && strings.Contains(err.Error(), "with other partition values") {
					continue // files move between partitions
				}
				if err != nil {
					t.Fatalf("seed %d, %d to %d: %v", seed, since, version, err)
				}
				files := map[string]int{}
				count := func(list []File, n int) {
					for _, f := range list {
						files[f.Path] += n
					}
				}
				count(h.want(since).Files, 1)
				count(c.Added, 1)
				count(c.Removed, -1)
				count(h.want(version).Files, -1)
				for path, n := range files {
					if n != 0 {
						t.Fatalf("seed %d, %d to %d: %s is %+d times too often", seed, since, version, path, n)
					}
				}
			}
		}
	}
}

func TestChanges(t *testing.T) {
	add := func(path string, size int, changes bool, vector ...uint64) string {
		line := fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":%d,"dataChange":%v,"stats":"{\"numRecords\":%[2]d}"}}`, path, size, changes)
		if vector != nil {
			line = withVector(line, inlineVector(vectorData(t, vector...), len(vector)))
		}
		return line
	}
	remove := func(path string, changes bool, vector ...uint64) string {
		line := fmt.Sprintf(`{"remove":{"path":%q,"dataChange":%v}}`, path, changes)
		if vector != nil {
			line = withVector(line, inlineVector(vectorData(t, vector...), len(vector)))
		}
		return line
	}
	for name, c := range map[string]struct {
		commits        [][]string // after a first one that adds a and b, of 10 bytes each
		added, removed string
	}{
		"nothing":      {[][]string{{`{"commitInfo":{}}`}}, "", ""},
		"there again":  {[][]string{{add("a", 10, true)}}, "", ""},
		"gone before":  {[][]string{{remove("x", true)}}, "", ""},
		"cancelled":    {[][]string{{add("c", 10, true)}, {remove("c", true)}}, "", ""},
		"back":         {[][]string{{remove("a", true)}, {add("a", 10, true)}}, "", ""},
		"compacted":    {[][]string{{add("c", 4, true)}, {remove("a", false), remove("b", false), remove("c", false), add("d", 24, false)}}, "c", ""},
		"confused":     {[][]string{{add("c", 4, true)}, {remove("a", true), remove("b", false), add("d", 20, false)}}, "c d", "a b"},
		"rows unknown": {[][]string{{remove("a", false), remove("b", false), `{"add":{"path":"d","partitionValues":{},"size":20,"dataChange":false}}`}}, "d", "a b"},
		"deleted from": {[][]string{{remove("a", false), add("d", 10, false)}, {remove("d", true), add("d", 10, true, 3, 5)}}, "", "d[3 5]"},
		"restored":     {[][]string{{add("c", 4, true)}, {remove("c", false), add("d", 4, false)}, {remove("d", true), add("c", 4, true)}}, "c", ""},
		"vectors":      {[][]string{{remove("a", true), add("a", 10, true, 1, 2)}, {remove("a", true, 1, 2), add("a", 10, true, 1, 2, 7)}}, "", "a[1 2 7]"},
		"undeleted":    {[][]string{{remove("a", true), add("a", 10, true, 1, 2)}, {remove("a", true, 1, 2), add("a", 10, true)}}, "", ""},
		"new deleted":  {[][]string{{add("c", 4, true, 6)}}, "c[6]deleted", ""},
		"default":      {[][]string{{`{"add":{"path":"c","partitionValues":{},"size":1}}`, `{"remove":{"path":"a"}}`}}, "c", "a"},
	} {
		m := newFolder()
		m.commit(0, vectorsProtocol, metaLine, add("a", 10, true), add("b", 10, true))
		for i, lines := range c.commits {
			m.commit(int64(i+1), lines...)
		}
		got, err := readSince(t, m, 0, int64(len(c.commits)), 0)
		if err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
			continue
		}
		if a, r := describe(t, got.Added), describe(t, got.Removed); a != c.added || r != c.removed {
			t.Errorf("%s: added %q and removed %q, want %q and %q", name, a, r, c.added, c.removed)
		}
		if got.Some == nil || describe(t, []File{*got.Some}) != got.Some.Path+"[]" {
			t.Errorf("%s: a file for the columns is %+v, want one without rows", name, got.Some)
		}
	}
	// Rows that moved from one vector to another.
	m := newFolder()
	m.commit(0, vectorsProtocol, metaLine, add("a", 10, true, 1, 2))
	m.commit(1, remove("a", true, 1, 2), add("a", 10, true, 2, 4))
	got, err := readSince(t, m, 0, 1, 0)
	formattest.Must(t, err)
	if a, r := describe(t, got.Added), describe(t, got.Removed); a != "a[1]" || r != "a[4]" {
		t.Errorf("two vectors: added %q and removed %q, want a[1] and a[4]", a, r)
	}
	m.commit(2, add("a", 10, true, 2, 4, 9)) // no version has one file twice
	if _, err := readSince(t, m, 0, 2, 0); !errors.As(err, new(*stream.DataError)) {
		t.Errorf("a file with two vectors: %v, want a data error", err)
	}
}

// Without the commits since a version, the error names the oldest version that is possible.
func TestChangesOfCleanedLogs(t *testing.T) {
	h := newHistory(77, 9)
	for seed := uint64(78); ; seed++ { // files must not move between partitions
		m := newFolder()
		h.write(m, 0, h.rng)
		if _, err := readSince(t, m, 0, 8, 0); err == nil {
			break
		}
		h = newHistory(seed, 9)
	}
	for _, c := range []struct {
		checkpoints []int
		missing     []int
		since       int64
		says        string // empty if there is no error
	}{
		{nil, nil, 0, ""},
		{[]int{4}, nil, 2, ""},
		{[]int{4}, []int{0, 1, 2, 3}, 4, ""},
		{[]int{4}, []int{0, 1, 2, 3}, 5, ""},
		{[]int{4}, []int{0, 1, 2, 3}, 3, "version 4 is the oldest that is possible"},
		{[]int{4}, []int{0, 1, 2, 3, 4}, 3, "version 4 is the oldest that is possible"},
		{[]int{2, 5}, []int{0, 3}, 2, "version 5 is the oldest that is possible"},
		{[]int{2}, []int{5}, 2, "no changes that lead to version 8"},
		{nil, nil, 9, "want a version"},
		{nil, nil, -1, "want a version"},
	} {
		m := newFolder()
		h.write(m, 0, h.rng)
		for _, v := range c.checkpoints {
			h.checkpoint(t, m, v, shapeClassic)
		}
		for _, v := range c.missing {
			delete(m.files, commitFileName(int64(v)))
		}
		if c.missing != nil && !slices.Contains(c.missing, 0) { // the newest version has a checkpoint of its own
			h.checkpoint(t, m, 8, shapeClassic)
		}
		_, err := readSince(t, m, c.since, 8, 0)
		if c.says == "" && err != nil || c.says != "" && (!errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("checkpoints %v, without %v, since %d: got %v, want %q", c.checkpoints, c.missing, c.since, err, c.says)
		}
	}
}

// A log of many changes is refused if it does not fit into the memory, whose bytes are counted.
func TestChangesCountMemory(t *testing.T) {
	m := manyFiles(20_000, 20_000)
	var need int64
	for limit := int64(1 << 20); ; limit *= 2 {
		if limit > 1<<30 {
			t.Fatal("1 GiB is not enough")
		}
		_, err := readSince(t, m, 0, 1, limit)
		if err == nil {
			break
		}
		e, ok := errors.AsType[*stream.MemoryError](err)
		if !ok {
			t.Fatalf("limit %d: %v", limit, err)
		}
		need = max(need, e.Need)
	}
	whole := int64(-1)
	for limit := int64(1 << 20); whole < 0; limit *= 2 {
		version := int64(1)
		if _, err := Read(t.Context(), m, "shop/orders", Options{Version: &version, Memory: limit}); err == nil {
			whole = limit
		}
	}
	if need < whole/2 {
		t.Errorf("the changes of half of the files need %d bytes, and all files need more than %d", need, whole/2)
	}
}

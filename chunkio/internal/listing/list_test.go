package listing

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
)

// randomEntries makes entries of odd names, queries and versions, in order, no two alike.
func randomEntries(rng *rand.Rand, n int) []storage.Entry {
	seen := map[string]bool{}
	var all []storage.Entry
	for len(all) < n {
		name := strings.Repeat("day=2026-01-01/", rng.IntN(3)) + fmt.Sprintf("p%d", rng.IntN(4*n)) + []string{"", "é", "?x", ".parquet"}[rng.IntN(4)]
		if seen[name] {
			continue
		}
		seen[name] = true
		versions := []string{
			"", `"9a0364b9e99bb480dd25e1f0284c8555"`, `"9a0364b9e99bb480dd25e1f0284c8555-12"`, `"9a0364b9e99bb480dd25e1f0284c8555-012"`,
			`"9A0364b9e99bb480dd25e1f0284c8555"`, `W/"x"`, "17", "9a0364b9e99bb480dd25e1f0284c8555", `"9a0364b9e99bb480dd25e1f0284c8555-"`, `"`,
		}
		deleted := [][]byte{nil, {0}, []byte("rows"), make([]byte, 300)}
		all = append(all, storage.Entry{Path: name, Size: int64(rng.IntN(5)) - 1, Version: versions[rng.IntN(len(versions))], Deleted: deleted[rng.IntN(len(deleted))], Constants: deleted[rng.IntN(len(deleted))]})
	}
	slices.SortFunc(all, func(a, b storage.Entry) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// A list returns the added entries, by place and in order, whatever lists it was merged from.
func TestFileList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 15, 16, 17, 300} {
		entries := randomEntries(rng, n)
		parts := make([]*List, 1+rng.IntN(5))
		for i := range parts {
			parts[i] = new(List)
		}
		want := slices.Clone(entries)
		for i, e := range entries {
			query := []string{"", "?endpoint=http://a", "?region=b"}[rng.IntN(3)]
			want[i].Path += query
			parts[rng.IntN(len(parts))].AppendEntry(e.Path, query, e.Size, e.Version, e.Deleted, e.Constants)
		}
		list, twice := mergeLists(parts)
		if twice != "" || list.Count != n {
			t.Fatalf("%d entries, %q twice; want %d", list.Count, twice, n)
		}
		for i, e := range list.Entries() {
			if !reflect.DeepEqual(e, want[i]) || !reflect.DeepEqual(list.EntryAt(i), e) {
				t.Fatalf("entry %d: %+v and %+v, want %+v", i, e, list.EntryAt(i), want[i])
			}
		}
		if n > 1 {
			parts = append(parts, new(List))
			parts[len(parts)-1].AppendEntry(entries[n/2].Path, "", 1, "", nil, nil)
			if _, twice := mergeLists(parts); twice != entries[n/2].Path {
				t.Errorf("%q is named twice, want %q", twice, entries[n/2].Path)
			}
		}
	}
}

func TestFileListIsSmall(t *testing.T) {
	const n = 100_000
	l := new(List)
	for i := range n {
		l.AppendEntry(fmt.Sprintf("s3://lake/events/day=2026-%02d-%02d/part-%05d-6a1f8f0c.snappy.parquet", i/30000, i/1000%30, i), "?region=eu-west-1",
			1<<27+int64(i), fmt.Sprintf(`"%032x"`, uint64(i)*0x9E3779B97F4A7C15), nil, nil)
	}
	if per := float64(l.MemoryBytes()) / n; per > 56 {
		t.Errorf("%.0f bytes an object", per)
	}
}

package store

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/store/storetest"
)

// A listing of a hundred thousand keys holds one page of a thousand.
func TestListHeapStays(t *testing.T) {
	const all, page = 100_000, 1000
	storetest.Alone(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("continuation-token"))
		out := bufio.NewWriter(w)
		defer out.Flush()
		fmt.Fprintf(out, "<ListBucketResult><EncodingType>url</EncodingType>")
		for i := from; i < from+page; i++ {
			fmt.Fprintf(out, "<Contents><Key>table/day%%3D2026-01-01/part-%07d-and-the-usual-long-name.parquet</Key><ETag>&quot;0123456789abcdef0123456789abcdef&quot;</ETag><Size>%d</Size></Contents>", i, i)
		}
		if from+page < all {
			fmt.Fprintf(out, "<IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>", from+page)
		}
		fmt.Fprintf(out, "</ListBucketResult>")
	}))
	defer server.Close()
	c := client(nil)
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var begin, most uint64
	n := 0
	for o, err := range c.List(t.Context(), at(t, "s3://lake/table/?anonymous=true&endpoint="+server.URL)) {
		must.Do(t, err)
		if want := fmt.Sprintf("table/day=2026-01-01/part-%07d-and-the-usual-long-name.parquet", n); o.Key != want || o.Size != int64(n) {
			t.Fatalf("key %d is %s", n, o.Key)
		}
		if n++; n == 1 {
			begin = live()
		} else if n%10_000 == 500 {
			most = max(most, live())
		}
	}
	// It grows by some 10 KB; a byte kept of each key would be 100 KB.
	if n != all || most > begin+96<<10 {
		t.Errorf("%d keys; the heap grew from %d to %d bytes", n, begin, most)
	}
}

// A page that breaks off is asked for again, and no key comes twice.
func TestListWithFaults(t *testing.T) {
	storetest.Everywhere(t, func(t *testing.T, s *storetest.Server) {
		p := storetest.NewProxy(t, s.Endpoint)
		c := client(nil)
		for i := range 50 {
			put(t, c, s.URL(fmt.Sprintf("many/%02d", i)), nil)
		}
		p.CutEach.Store(2)
		p.BusyEach.Store(3)
		for range 10 {
			if got := keys(t, c, s.URLAt(p.URL, "many/")); len(got) != 50 {
				t.Fatalf("%d keys", len(got))
			}
		}
	})
}

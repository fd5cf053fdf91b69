package chunkio

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
)

// Leaving out bad files does not allow going on without a store: if it is down or refuses access, the files left
// would not be the requested input. An object that is damaged or gone is left out.
func TestSkipBadIsForFilesNotStores(t *testing.T) {
	s := storetest.S3(t)
	plantLake(t, s.Dir)
	PutFile(t, s.Dir, "events/day=2/part.parquet", []byte("this is no data"))
	for _, c := range []struct {
		status int
		body   string
		skips  bool
	}{
		{0, "", true},
		{http.StatusNotFound, `<Error><Code>NoSuchKey</Code></Error>`, true},
		{http.StatusForbidden, `<Error><Code>AccessDenied</Code></Error>`, false},
		{http.StatusForbidden, `<Error><Code>ExpiredToken</Code></Error>`, false},
	} {
		proxy := storetest.NewProxy(t, s.Endpoint)
		proxy.OnRequest(func(r *http.Request) *http.Response {
			if c.status != 0 && r.URL.Path == "/lake/events/day=3/part.parquet" {
				return storetest.NewAnswer(c.status, c.body)
			}
			return nil
		})
		ds, err := Open(t.Context(), []string{s.URLAt(proxy.URL, "events/")}, Options{SkipBad: true})
		switch {
		case c.skips && (err != nil || len(ds.Warnings()) == 0 || !strings.Contains(fmt.Sprint(ds.Warnings()), "day=2")):
			t.Errorf("HTTP %d: %v", c.status, err)
		case !c.skips && (err == nil || !strings.Contains(err.Error(), "day=3")):
			t.Errorf("HTTP %d %s: %v", c.status, c.body, err)
		}
	}
}

// A file that is left out leaves nothing in the condition, which is bound only to the columns of the first file that
// is read.
func TestSkipBadWithCondition(t *testing.T) {
	dir := t.TempDir()
	all := chunkiotest.NewTable(30)
	x, y := make([]float64, all.Rows), make([]float64, all.Rows)
	for i := range x {
		x[i], y[i] = float64(i), float64(100+i)
	}
	disk, paths := PlantTable(chunkiotest.NewTable(30).AddScalar("x", x), 1, 30, 1) // lacks y
	PutFile(t, dir, "a.parquet", chunkiotest.WriteToBytes(t, disk.OpenDataset(t, paths, Options{}), WriteOptions{}))
	disk, paths = PlantTable(all.AddScalar("y", y).AddScalar("x", x), 1, 30, 1)
	PutFile(t, dir, "b.parquet", chunkiotest.WriteToBytes(t, disk.OpenDataset(t, paths, Options{}), WriteOptions{}))
	opt := Options{Where: `x < 20 and y > 109`}
	_, want := CollectFrom(t, opt, filepath.Join(dir, "b.parquet"))
	opt.SkipBad = true
	ds, got := CollectFrom(t, opt, dir)
	if d := chunkiotest.DescribeDiff(got, want); d != "" || len(want.Rows) != 10 || !strings.Contains(fmt.Sprint(ds.Warnings()), "a.parquet") {
		t.Errorf("%s; %d rows, warnings %v", d, len(want.Rows), ds.Warnings())
	}
}

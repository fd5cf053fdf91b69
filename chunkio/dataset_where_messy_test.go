package chunkio

import (
	"context"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The answers of DuckDB 1.5 to the same questions about messy.parquet: the number of matching rows, and the sum of
// their ids less 10^12 each. Two questions are put differently to it: its lists begin with 1, and its NaN is above
// all numbers.
func TestWhereAgreesWithDuckDB(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	for _, c := range []struct {
		where string
		rows  int
		ids   float64
	}{
		{`category = 'gamma'`, 643, 4832283},
		{`category <> 'gamma'`, 4198, 31494870},
		{`not (category = "gamma")`, 4198, 31494870},
		{`category IN ('東京', "žlutý")`, 1355, 10059663},
		{`category >= 'h' and category is not null`, 2016, 14809653},
		{`category = ""`, 104, 746805},
		{`category is null`, 159, 1165347},
		{`flag`, 2154, 16258515},
		{`not flag`, 2595, 19427739},
		{`flag = false`, 2595, 19427739},
		{`flag is null or flag`, 2405, 18064761},
		{`price > 0`, 3450, 25632411},
		{`price = 13159.20`, 1, 3},
		{`price >= 100 and price <= 200.005`, 29, 199524},
		{`price < -1000.5 or price == null`, 1274, 9688149},
		{`ts >= '2023-07-01'`, 2964, 30970698},
		{`ts < '2023-03-01 12:00:00' and ts > '2023-02-01'`, 307, 454467},
		{`ts is null`, 95, 781458},
		{`day = "2023-01-21"`, 3, 7077},
		{`day >= '2025-01-01' and day < '2025-02-01'`, 74, 538197},
		{`not (day > '2020-04-01')`, 83, 629529},
		{`i16 = -32768`, 4, 44394},
		{`i16 > 100 and flag`, 1070, 7968993},
		{`u32 >= 4000000000`, 2, 21288},
		{`const_col = 7`, 5000, 37492500},
		{`null_col is null`, 5000, 37492500},
		{`col("weird name.col") = 1`, 2500, 18742500},
		{`geo.lat > 50 and geo.lon < 14`, 1232, 9049173},
		{`label in (0, 2) and category = 'gamma' and flag`, 178, 1369857},
		{`id < 1000000000100`, 34, 1683},
		{`d_clean > 1.5`, 1322, 9855999},
		{`emb[3] > 1`, 2404, 18182271},
		{`late_f is null`, 4096, 25159680},
		{`temp_f > 18`, 3618, -1},
		{`not temp_f <= 18`, 3618 + 94, -1}, // NaN is not below, either
		{`temp_f = 17.734638`, 1, -1},       // as a 32-bit float is written
		{`temp_f = "inf"`, 38, -1},
		{`d_messy = "-inf"`, 13, -1},
	} {
		for _, threads := range []int{1, 3} {
			ds := must.Get(Open(context.Background(), []string{path}, Options{Where: c.where, Columns: []string{"id"}, Threads: threads}))(t)
			got, err := chunkiotest.CollectRows(ds, stream.Range{})
			formattest.Must(t, err)
			ids := 0.0
			for _, row := range got.Rows {
				ids += row[0] - 1e12
			}
			if len(got.Rows) != c.rows || c.ids >= 0 && ids != c.ids {
				t.Errorf("%s: %d rows, ids %v; want %d, %v", c.where, len(got.Rows), ids, c.rows, c.ids)
			}
			must.Do(t, ds.Close())
		}
	}
	for _, none := range []string{`const_col <> 7`, `null_col > 0`, `price = 0.1`, `category = "nobody"`} {
		ds := must.Get(Open(context.Background(), []string{path}, Options{Where: none, Columns: []string{"id"}}))(t)
		if _, err := chunkiotest.CollectRows(ds, stream.Range{}); !chunkiotest.IsData(err) {
			t.Errorf("a pass with %s: %v, want a DataError that no row matches", none, err)
		}
	}
}

// The statistics of DuckDB's files are used: row groups that they exclude are not read.
func TestWhereReadsLessOfMessy(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	bytes := func(where string) int64 {
		meter := new(stream.Meter)
		ds := must.Get(Open(context.Background(), []string{path}, Options{Where: where, Columns: []string{"d_clean"}, Meter: meter}))(t)
		must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
		return meter.Bytes.Load()
	}
	all, one, hit := bytes(""), bytes("id < 1000000000100"), bytes("const_col = 7 and ts is null or const_col = 7")
	if one > all*2/3 {
		t.Errorf("a condition on rising ids read %d bytes; without it %d", one, all)
	}
	if hit != all {
		t.Errorf("a condition that statistics grant read %d bytes; without it %d", hit, all)
	}
}

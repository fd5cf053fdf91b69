package statistics

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
)

// TestShardStatsForm: the binary form comes back bit for bit, is refused for another number of shards, and never makes
// reading panic if it is cut short.
func TestShardStatsForm(t *testing.T) {
	const rows, columns = 300, 6
	rng := rand.New(rand.NewPCG(1, 2))
	table := tabletest.Table{Cols: make([][]float64, columns)}
	for j := range table.Cols {
		for range rows {
			table.Cols[j] = append(table.Cols[j], rng.NormFloat64())
		}
	}
	profile := gram.NewProfile(columns)
	table.AddRows(t, profile, 0, rows, 64)
	std := must.Get(gram.NewStandardizer(profile, table.Columns(), gram.ScalePareto, gram.FillMean))(t)
	anchors := must.Get(anchor.FromSource(t.Context(), table, rows, std))(t)
	newShards := func(shards int, graph *anchor.Statistics) *ShardStats {
		return must.Get(NewShardStats(shards, columns, gram.Options{Limit: 1 << 30}, graph))(t)
	}
	for name, graphOf := range map[string]func(*anchor.Anchors) *anchor.Statistics{
		"moments": func(*anchor.Anchors) *anchor.Statistics { return nil },
		"moments and graphs": func(a *anchor.Anchors) *anchor.Statistics {
			return must.Get(anchor.NewStatistics(a, anchor.Options{}))(t)
		},
	} {
		empty := func(shards int) *ShardStats { return newShards(shards, graphOf(nil)) }
		full := newShards(4, graphOf(anchors))
		full.OpenSplitter(columns, 1, 1)
		table.AddRows(t, full.splitter, 0, rows, 64)
		must.Do(t, full.splitter.Flush())
		b := wordstest.EncodeState(t, full)
		wordstest.CheckReread(t, b, empty(4))
		if _, err := empty(6).ReadFrom(bytes.NewReader(b)); err == nil {
			t.Errorf("%s: 6 hash shards read 4", name)
		}
		for cut := 0; cut < len(b); cut += len(b)/50 + 1 {
			if _, err := empty(4).ReadFrom(bytes.NewReader(b[:cut])); err == nil {
				t.Errorf("%s: cut at %d of %d bytes it was read", name, cut, len(b))
			}
		}
	}
}

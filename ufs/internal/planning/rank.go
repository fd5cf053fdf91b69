package planning

import (
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// RankBytes returns the memory for ranks: their histograms, the table of scores, and a chunk of scored rows.
func RankBytes(r *settled.Run, ds stream.Source, d int) int64 {
	if r.ParsedScale != gram.ScaleRank {
		return 0
	}
	rows := ds.Rows()
	if r.WholeProfile != nil { // ds may then be only a shard
		rows = r.WholeProfile.Profile.Seen
	}
	return gram.RankHistogramsBytes(d, rows, r.Limits.Threads) + gram.ScoresBytes(d, rows)
}

func rankPasses(r *settled.Run, ds *chunkio.Dataset) method.Passes {
	then := "one for the ranks, then the statistics"
	if r.Bound.From == method.FromGraph {
		then = "one for the ranks, which draws the anchors, then the statistics"
	}
	switch {
	case request.MissingPolicy(&r.Request) == stream.MissingKeep || r.Columns.Sparse != "":
		return method.Passes{Least: 2, Most: 2, Why: stream.PlainText(then)}
	case settled.PromisesMissing(ds):
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile of the columns, because values are missing, %s", then)}
	}
	return method.Passes{Least: 2, Most: 4, Why: stream.Textf("%s, if nothing is missing; else two more", then)}
}

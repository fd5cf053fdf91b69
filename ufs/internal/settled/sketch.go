package settled

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/halves"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func SettleRank(r *Run, e *statistics.Bundle) error {
	switch isRanked := e.IsRanked(); {
	case !isRanked && r.ParsedScale == gram.ScaleRank && e.Kind == statistics.KindProfile:
		return stream.Usagef("{scale} rank: %s holds a profile of the values; select from the data, or scan it with {scale} rank", r.Stats)
	case !isRanked && r.ParsedScale == gram.ScaleRank:
		return stream.Usagef("{scale} rank: %s was scanned without ranks; scan again with {scale} rank", r.Stats)
	case isRanked && r.Original.Choice.Scale != "" && r.ParsedScale != gram.ScaleRank:
		return stream.Usagef("{scale} %s: %s was scanned with {scale} rank, and knows no values; scan again without it", r.Original.Choice.Scale, r.Stats)
	case isRanked:
		r.Choice.Scale = request.ScaleRank
		return r.settleScale()
	}
	return nil
}

const (
	// AutoSketchRows is the number of rows of a sketch for {sketch} auto. It estimates correlations to about 1/√2048 =
	// 2.2 %. It does not depend on the memory limit, because the limit never changes a result.
	AutoSketchRows = 2048
	// defaultReads is the default of Request.Reads: one pass for the sketch, one for exact scores.
	defaultReads = 2
)

func settleSketch(r *Run) error {
	switch {
	case r.Choice.Reads < 0:
		return stream.Usagef("{passes} %d: want 1 or more", r.Choice.Reads)
	case r.Choice.Sketch == "" && r.Choice.Reads == 0:
		return nil
	case !r.Bound.Takes.Sketch:
		return stream.Usagef("{sketch} and {passes} are not for method %s; leave them out, or choose {method} greedy", r.Bound.Name)
	case r.Bound.From == method.FromGraph && r.Choice.Reads > 0:
		return stream.Usagef("{passes} is not for method %s, which has its sketch from the pass that makes the graph; leave it out, or choose {method} greedy", r.Bound.Name)
	case r.Choice.Stability > 0:
		return stream.Usagef("{sketch} has no halves of the rows to compare; leave {stability} or {sketch} out")
	case r.Columns.Missing == request.MissingPairwise:
		return stream.Usagef("{missing} pairwise: a sketch knows no pairs of columns; use {missing} mean")
	case r.Choice.AutoK:
		return stream.Usagef("{k} auto rests on the exact Gram matrix; give a number, or leave {sketch} out")
	case r.Choice.MinGain > 0:
		return stream.Usagef("{min-gain} needs exact shares, but {sketch} estimates them during the choice; use {k}")
	case r.Choice.Variance > 0:
		return stream.Usagef("{variance} needs an exact share, but {sketch} estimates it during the choice; use {k}")
	}
	switch {
	case r.Bound.From == method.FromGraph:
	case r.Stats == "" && request.IsSinglePassStream(&r.Request):
		r.Choice.Reads = cmp.Or(r.Choice.Reads, 1)
	case r.Stats == "":
		r.Choice.Reads = cmp.Or(r.Choice.Reads, defaultReads)
	case r.Choice.Reads > 1:
		return stream.Usagef("{passes} %d: %s has no rows to read again; select from the data with {sketch}, or take the estimates of {passes} 1", r.Choice.Reads, r.Stats)
	default:
		r.Choice.Reads = 1
	}
	if r.Choice.Sketch == "" && r.Stats != "" { // the file records the number of rows
		return nil
	}
	var err error
	if r.SketchRows, err = ParseSketchRows(cmp.Or(r.Choice.Sketch, request.SketchAuto)); err == nil {
		r.Choice.Sketch = strconv.Itoa(r.SketchRows)
	}
	return err
}

func ParseSketchRows(text string) (int, error) {
	share, isShare := strings.CutSuffix(text, "%")
	if text == request.SketchAuto {
		return AutoSketchRows, nil
	}
	if isShare {
		if off, err := strconv.ParseFloat(share, 64); err == nil && off >= 0.1 && off < 100 {
			return gram.SketchRows(int(math.Ceil(1e4 / (off * off)))), nil
		}
		return 0, stream.Usagef("{sketch} %s: want a share from 0.1%% up to below 100%%", text)
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && gram.SketchRows(n) >= n {
		return gram.SketchRows(n), nil
	}
	return 0, stream.Usagef("{sketch} %s: want a number of rows up to %d, how far an entry may be off, as 2%%, or %s", text, gram.SketchRows(math.MaxInt32), request.SketchAuto)
}

func SettleFileSketch(r *Run, seen *statistics.Bundle) (int, error) {
	rows := seen.SketchRowCount()
	if rows == 0 {
		return 0, chunkio.DamagedStats(r.Stats, "no number of rows of a sketch: %q", seen.Options[request.OptionSketch])
	}
	if r.SketchRows > 0 && r.SketchRows != rows {
		return 0, stream.Usagef("{sketch} %s: %s has a sketch of %d rows; leave it out, or scan again with the one you want", r.Choice.Sketch, r.Stats, rows)
	}
	r.Choice.Sketch, r.SketchRows = strconv.Itoa(rows), rows
	return rows, settleSketch(r)
}

func settleStability(r *Run) error {
	switch {
	case r.Choice.Stability == 0:
		return nil
	case r.Bound.From != method.FromGram && r.Bound.From != method.FromGraph:
		return stream.Usagef("{stability} is not for method %s, whose statistics are no sums that halves of the rows can be made of; leave it out, or let eval select again from other rows ({resamples})", r.Bound.Name)
	case r.Choice.Stability == request.AnyShards && r.Stats == "":
		r.Choice.Stability = halves.DefaultShards
	}
	if r.Choice.Stability == request.AnyShards {
		return nil
	}
	return halves.CheckShards(r.Choice.Stability)
}

// HashSeed returns the seed of the hash shards, or 0 if there are none.
func HashSeed(r *Run) uint64 {
	if r.Choice.Stability == 0 {
		return 0
	}
	return r.Choice.Seed
}

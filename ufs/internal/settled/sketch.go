package settled

import (
	"math"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// SettleRank sets the scale of r to ranks if e was made from ranks, and refuses a request for another scale.
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
		return settleScale(r)
	}
	return nil
}

const (
	// AutoSketchRows is the number of rows of a sketch for option {sketch} auto. It estimates correlations to about
	// 1/√2048 = 2.2 %. It does not depend on the memory limit, because the limit never changes a result.
	AutoSketchRows = 2048
	// defaultReads is the default of Request.Reads: one pass for the sketch, one for exact scores.
	defaultReads = 2
)

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

// SettleFileSketch sets the rows of the sketch of r to the number that seen, the header of a statistics file, records.
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

// HashSeed returns the seed of the hash shards, or 0 if there are none.
func HashSeed(r *Run) uint64 {
	if r.Choice.Stability == 0 {
		return 0
	}
	return r.Choice.Seed
}

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// decodeDerived decodes the reads that are derived from texts, which decodeLeaves has skipped.
func decodeDerived(ctx context.Context, s *span, reads []schema.ColumnRead, leaves []format.Decoding) {
	if s.heldGroup != nil {
		return
	}
	for i := range reads {
		switch r := &reads[i]; {
		case r.Derivation == nil || s.leafInFile(r.Leaf) < 0:
		case r.Derivation.Categories != nil:
			leaves[i].Err = decodeCategoryFeatures(ctx, s, r, leaves[i].Dst)
		default:
			leaves[i].Err = decodeTimes(ctx, s, r, leaves[i].Dst)
		}
	}
}

// decodeTimes writes the features of each row's time to dst: its number, and its positions in day, week or year as
// sines and cosines (see timeCircles). All features of a null are null. Times are decoded as texts, which are the same
// in every format and unit; each text of a dictionary is parsed once.
func decodeTimes(ctx context.Context, s *span, r *schema.ColumnRead, dst [][]float64) error {
	l := &s.table.Catalog.Leaves[r.Leaf]
	var nulls timeFeatures
	for k := range nulls {
		nulls[k] = format.Null
	}
	memo := textMemo[timeFeatures]{limit: maxMemo, compute: func(value []byte) (timeFeatures, error) {
		at, ok := parseTime(l, value)
		if !ok {
			return nulls, fmt.Errorf("%w: %q", errNoTime, value)
		}
		return featuresOfTime(r.Derivation.Circles, l.Type, at), nil
	}}
	return s.decodeTexts(ctx, r.Leaf, func(row int, id int32, values *text.List) (err error) {
		features := nulls
		if id >= 0 && !isBitSet(s.skip, row) {
			if features, err = memo.resultForEntry(values, id); err != nil {
				return s.errAtRow(row, l.Name, "", err)
			}
		}
		for k, x := range dst {
			if x != nil {
				x[row] = features[k]
			}
		}
		return nil
	})
}

// timeFeatures are the number of a time, and a sine and a cosine for each of its circles.
type timeFeatures [7]float64

// timesBytes is the memory for the remembered features of times, in bytes.
const timesBytes = maxMemo * (1 + 8*7)

var errNoTime = errors.New("a value is no time that can be a number")

// parseTime parses a time in the form of DecodeTexts. DecodeTexts writes a time outside the years 0 to 9999 as a number
// in the unit of the file. parseTime accepts such a number only if all files have the same unit.
func parseTime(l *format.Leaf, value []byte) (text.Instant, bool) {
	at, ok := text.ParseInstant(value, l.PerSecond)
	if ok && l.PerSecond == 0 && l.Type != "date" && len(value) > 0 && value[len(value)-1] != 's' && !isDateOrTime(value) {
		return at, false
	}
	return at, ok
}

// isDateOrTime reports whether a value is written as a date or time of day, not as a number.
func isDateOrTime(value []byte) bool {
	return len(value) >= 8 && (value[2] == ':' || len(value) >= 10 && value[4] == '-')
}

const daySeconds = 86400

func featuresOfTime(circles []string, timeType string, instant text.Instant) (to timeFeatures) {
	seconds := float64(instant.Second) + float64(instant.Nano)/1e9
	if to[0] = seconds; timeType == "date" {
		to[0] = seconds / daySeconds
	}
	clock := time.Unix(instant.Second, 0).UTC()
	for k, circle := range circles {
		var position float64 // in its day, week or year, in [0, 1)
		switch circle {
		case schema.InDay:
			second := clock.Hour()*3600 + clock.Minute()*60 + clock.Second()
			position = (float64(second) + float64(instant.Nano)/1e9) / daySeconds
		case schema.InWeek:
			position = float64((int(clock.Weekday())+6)%7) / 7
		case schema.InYear:
			days := time.Date(clock.Year(), time.December, 31, 0, 0, 0, 0, time.UTC).YearDay()
			position = float64(clock.YearDay()-1) / float64(days)
		}
		to[1+2*k], to[2+2*k] = math.Sincos(2 * math.Pi * position)
	}
	return to
}

// writeIndicators writes the indicators of a read's elements: 1 if the value is missing, else 0. If only the indicator
// is a feature, its column contains the decoded values, which are replaced.
func writeIndicators(s *span, r *schema.ColumnRead, dst [][]float64) {
	for e, col := range r.Missing {
		if col < 0 {
			continue
		}
		to := s.valuesOfColumn(col)
		for i, x := range dst[e] {
			if to[i] = 0; x-x != 0 {
				to[i] = 1
			}
		}
	}
}

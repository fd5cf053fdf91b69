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
func (s *span) decodeDerived(ctx context.Context, reads []schema.ColumnRead, leaves []format.Decoding) {
	if s.heldGroup != nil {
		return
	}
	for i := range reads {
		switch r := &reads[i]; {
		case r.Derivation == nil || s.leafInFile(r.Leaf) < 0:
		case r.Derivation.Categories != nil:
			leaves[i].Err = s.decodeCategories(ctx, r, leaves[i].Dst)
		default:
			leaves[i].Err = s.decodeTimes(ctx, r, leaves[i].Dst)
		}
	}
}

// decodeTimes writes the features of each row's time to dst: its number, and its positions in day, week or year as
// sines and cosines (see timeCircles). All features of a null are null. Times are decoded as texts, which are the same
// in every format and unit; each text of a dictionary is parsed once.
func (s *span) decodeTimes(ctx context.Context, r *schema.ColumnRead, dst [][]float64) error {
	l := &s.table.Catalog.Leaves[r.Leaf]
	memo := newTimeMemo(r)
	at := 0
	return s.group.DecodeTexts(ctx, s.leafInFile(r.Leaf), s.from, s.from+int64(s.rows), func(ids []int32, values *text.List) error {
		for _, id := range ids {
			row := memo.nulls
			if id >= 0 && !isBitSet(s.skip, at) {
				var err error
				if row, err = memo.lookUpFeatures(l, values, int(id)); err != nil {
					return s.errAtRow(at, l.Name, "", err)
				}
			}
			for k, x := range dst {
				if x != nil {
					x[at] = row[k]
				}
			}
			at++
		}
		return nil
	})
}

// memoTimes is the largest number of dictionary entries whose times are remembered, timesBytes their memory in bytes.
const (
	memoTimes = 1 << 14

	timesBytes = memoTimes * (1 + 8*7)
)

// timeMemo remembers the features of the times of a dictionary.
type timeMemo struct {
	circles []string
	width   int
	known   []bool    // by entry of the dictionary
	values  []float64 // width numbers for each entry
	nulls   []float64 // features of a null
	one     []float64 // features of a time that is not in a dictionary
}

func newTimeMemo(r *schema.ColumnRead) *timeMemo {
	m := &timeMemo{circles: r.Derivation.Circles, width: len(r.Cols), one: make([]float64, len(r.Cols))}
	for range m.width {
		m.nulls = append(m.nulls, format.Null)
	}
	return m
}

// lookUpFeatures returns the features of the time values.Value(id). The result is valid until the next call.
func (m *timeMemo) lookUpFeatures(l *format.Leaf, values *text.List, id int) ([]float64, error) {
	to := m.one
	if id < min(values.Fixed, memoTimes) {
		for len(m.known) <= id {
			m.known, m.values = append(m.known, false), append(m.values, m.nulls...)
		}
		if to = m.values[id*m.width:][:m.width]; m.known[id] {
			return to, nil
		}
		m.known[id] = true
	}
	at, ok := parseTime(l, values.Value(id))
	if !ok {
		return nil, fmt.Errorf("%w: %q", errNoTime, values.Value(id))
	}
	writeTimes(to, m.circles, l.Type, at)
	return to, nil
}

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

func writeTimes(to []float64, circles []string, typ string, at text.Instant) {
	seconds := float64(at.Second) + float64(at.Nano)/1e9
	if to[0] = seconds; typ == "date" {
		to[0] = seconds / daySeconds
	}
	clock := time.Unix(at.Second, 0).UTC()
	for k, circle := range circles {
		var position float64 // in its day, week or year, in [0, 1)
		switch circle {
		case schema.InDay:
			second := clock.Hour()*3600 + clock.Minute()*60 + clock.Second()
			position = (float64(second) + float64(at.Nano)/1e9) / daySeconds
		case schema.InWeek:
			position = float64((int(clock.Weekday())+6)%7) / 7
		case schema.InYear:
			days := time.Date(clock.Year(), time.December, 31, 0, 0, 0, 0, time.UTC).YearDay()
			position = float64(clock.YearDay()-1) / float64(days)
		}
		to[1+2*k], to[2+2*k] = math.Sincos(2 * math.Pi * position)
	}
}

// writeIndicators writes the indicators of a read's elements: 1 if the value is missing, else 0. If only the indicator
// is a feature, its column contains the decoded values, which are replaced.
func (s *span) writeIndicators(r *schema.ColumnRead, dst [][]float64) {
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

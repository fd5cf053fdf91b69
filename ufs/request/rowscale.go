package request

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Frequencies are the weights from which tf-idf computes the factors of features.
type Frequencies struct {
	Rows     float64            `json:"rows"`     // weight of all rows
	Features map[string]float64 `json:"features"` // weight of the rows in which a feature is not 0, if there are any
}

func parseFrequencies(text string) (f Frequencies, err error) {
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return f, stream.Errorf("the document frequencies cannot be read: %w", stream.PlainJSON(err))
	}
	for name, weight := range f.Features {
		if !(weight >= 0 && weight <= f.Rows) {
			return f, stream.Errorf("the document frequencies give %q %v of %v rows", name, weight, f.Rows)
		}
	}
	return f, nil
}

// inverse returns the factor of a feature (smooth idf): ln((1 + n)/(1 + f)) + 1.
func (f Frequencies) inverse(feature string) float64 {
	return math.Log((1+f.Rows)/(1+f.Features[feature])) + 1
}

// CheckRowScale checks Columns.RowScale, and replaces none by "".
func CheckRowScale(q *Request) error {
	c := &q.Columns
	switch {
	case c.RowScale == "" || c.RowScale == RowScaleNone:
		c.RowScale = ""
	case !slices.Contains(RowScales(), c.RowScale):
		return stream.Usagef("{rows-scale} %s: want %s%s", c.RowScale, strings.Join(RowScales(), ", "), suggest.DidYouMean(c.RowScale, RowScales()))
	case c.Categorical != "":
		return stream.Usagef("{rows-scale} %s and {categorical}: the values of categories would no longer be 0 and 1; leave one of them out", c.RowScale)
	case c.RowScale == RowScaleTFIDF && q.SkipBad:
		return stream.Usagef("{on-error} skip-file: {rows-scale} tfidf counts the rows of all files beforehand; leave the bad files out of INPUT")
	}
	if c.RowScale != RowScaleTFIDF {
		c.Frequencies = ""
	}
	if c.Frequencies == "" {
		return nil
	}
	_, err := parseFrequencies(c.Frequencies)
	return err
}

// NeedsFrequencies reports whether the frequencies of q must be counted before its features are read.
func NeedsFrequencies(q *Request) bool {
	return q.Columns.RowScale == RowScaleTFIDF && q.Columns.Frequencies == ""
}

// frequencyBytes is the memory of parsed frequencies for each byte of their text. A feature takes 80 bytes in a map, and
// its text is at least 16 bytes long.
const frequencyBytes = 6

// NewRowScale returns the scaling of rows that q means, without factors if q needs frequencies and they are not known.
func NewRowScale(q *Request) chunkio.RowScale {
	var s chunkio.RowScale
	switch q.Columns.RowScale {
	case RowScaleTotal, RowScaleLog:
		s.Total, s.Log = 1e4, q.Columns.RowScale == RowScaleLog
	default:
		s.UnitRows = q.Columns.RowScale != ""
	}
	if f, err := parseFrequencies(q.Columns.Frequencies); err == nil {
		s.Factor, s.Bytes = f.inverse, frequencyBytes*int64(len(q.Columns.Frequencies))
	}
	return s
}

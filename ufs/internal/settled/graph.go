package settled

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func SurveyRows(r *Run, d int) int { return cmp.Or(r.Bound.GraphRows, method.SurveyRows(d)) }

// kmeansSampleBytes bounds the memory of the sampled rows that k-means clusters. It does not depend on the memory
// limit, because the limit must not change the result.
const kmeansSampleBytes = 256 << 20

func (r *Run) AnchorSampleRows(m, d int) int {
	if r.Bound.Anchors.KMeans() {
		return anchor.SampleRows(m, d, kmeansSampleBytes)
	}
	return m
}

// ExpectedAnchors returns the largest number of anchors for a table of the given number of rows, before rows are
// dropped.
func (r *Run) ExpectedAnchors(rows int64) int {
	if r.Bound.Anchors.File != "" {
		return r.AnchorRows
	}
	m, err := anchor.Count(r.Bound.Anchors.Count, rows, r.Bound.Anchors.Neighbors)
	if err != nil { // the pass for the profile will report the error; until then plan for the maximum
		return r.MaxAnchors()
	}
	return m
}

func (r *Run) MaxAnchors() int {
	if m := r.Bound.Anchors.Count; m > 0 {
		return m
	}
	return anchor.MostAnchors
}

func (r *Run) AddGraphShape(s map[string]string) {
	f := &r.Bound.Anchors
	s["scale"] = r.Choice.Scale
	s["neighbors"] = fmt.Sprint(f.Neighbors)
	if f.File != "" {
		s["anchors-file"] = place.DisplayName(f.File)
		return
	}
	if f.Count > 0 {
		s["anchors"] = fmt.Sprint(f.Count)
	}
	s["anchor-method"] = f.Placing
	s["seed"] = fmt.Sprint(r.Choice.Seed)
}

// SurveyedRows returns the number of rows that the survey uses. If statistics keep more rows than the request surveys,
// the survey uses the first of them, because a smaller sample is the beginning of a larger one.
func SurveyedRows(r *Run, drawn anchor.Drawn) int {
	if r.Bound.GraphRows > 0 {
		return min(r.Bound.GraphRows, drawn.Len())
	}
	return drawn.Len()
}

func (r *Run) SampleRowsText() string {
	if r.KeepRows == 0 {
		return ""
	}
	return strconv.Itoa(r.KeepRows)
}

func (r *Run) AddSampleShape(s map[string]string) {
	s[request.OptionSampleRows] = r.SampleRowsText()
	s["seed"] = strconv.FormatUint(r.Choice.Seed, 10)
	s[request.OptionSampleMissing] = r.KeptRowsMissing
}

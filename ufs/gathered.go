package ufs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/hygiene"
	"github.com/ufs-stream/ufs-stream/internal/positions"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/internal/survey"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// bundle holds the statistics that passes over the input gathered, or that a statistics file holds.
type bundle struct {
	kind          string          // of a statistics file
	path          string          // of the statistics file, for messages
	digest        string          // of the statistics file; it identifies a round of scans
	columns       []stream.Column // features, including constant ones
	positionCount int             // number of positions in the input; 0 if the columns' positions are unknown
	profile       *gram.Profile
	moments       *gram.Moments       // nil if only a profile was requested
	factor        *gram.Rows          // instead of moments, if the Gram matrix will be a factor
	sketch        *gram.Sketch        // with a profile, to estimate the Gram matrix
	graph         *anchor.Statistics  // with moments or a sketch, for the graph methods
	weights       *gram.Sketch        // with sketch and graph: sketch of the rows' weights on the anchors
	shardStats    *shardStats         // of hash shards; in addition to moments, or in their place while rows arrive; or nil
	sample        *anchor.Sampler     // with a profile, to choose anchors from, or with moments, to survey
	survey        *survey.Survey      // of the sample, once the survey is made
	thinColumns   *survey.ThinColumns // of the sample, instead of moments
	rowSample     *rowsample.Sample   // with a profile, for methods that iterate over rows
	histograms    *gram.Histograms    // with moments, of a scan; nil if a file has none
	rawProfile    *gram.Profile       // under scale rank: of the values of all ranked rows, while profile is of scores
	ranks         *gram.Histograms    // with a profile, to compute ranks from
	facts         *hygiene.Facts      // with any statistics of the same rows; nil in files of earlier versions
	hasAllFacts   bool                // facts already covers all rows, from an earlier pass
	leftOut       []stream.LeftOut    // columns that are not features
	useless       []stream.LeftOut    // the columns among leftOut that a profile pass found useless
	table         *stream.Table       // of the inputs; nil for bare files
	part          *stream.Part        // the shards of a plan that are covered; nil without a plan
	inputs        []stream.Input      // all files, including those outside the covered rows; a shard lists its own
	covered       []stream.Range      // rows of the inputs that the statistics cover
	options       map[string]string   // the options that shaped the statistics
	warnings      []stream.Text
	takesPart     []bool // columns that take part; nil for all
	passes        int
	source        rowInput  // prepared for further passes; nil if there are only statistics without rows
	input         io.Closer // the input that source reads, possibly in scratch files; nil if there are only statistics
	plan          Budget
}

// close ends the passes over the rows, removes the scratch files that they were read from, and releases the
// input, whose footers take memory.
func (e *bundle) close() error {
	var errs [2]error
	if e.source != nil {
		errs[0] = e.source.Close()
	}
	if e.input != nil {
		errs[1] = e.input.Close()
	}
	e.source, e.input = nil, nil
	return errors.Join(errs[:]...)
}

func (e *bundle) adders() []stream.Adder {
	var adders []stream.Adder
	switch {
	case e.shardStats != nil:
		adders = append(adders, e.profile, e.shardStats.splitter)
	case e.factor != nil:
		adders = append(adders, e.factor)
	case e.moments != nil:
		adders = append(adders, e.moments)
	default:
		adders = append(adders, e.profile)
	}
	if e.graph != nil && e.factor == nil { // a factor gets its rows later
		adders = append(adders, e.graph)
	}
	if e.histograms != nil {
		adders = append(adders, e.histograms)
	}
	if e.sketch != nil {
		adders = append(adders, e.sketch)
	}
	if e.sample != nil {
		adders = append(adders, e.sample)
	}
	if e.rowSample != nil {
		adders = append(adders, e.rowSample)
	}
	if e.ranks != nil {
		adders = append(adders, e.ranks)
	}
	if e.facts != nil && !e.hasAllFacts {
		adders = append(adders, e.facts)
	}
	return adders
}

func (e *bundle) positionRecord() *positions.Record {
	r := positions.New(len(e.columns), len(e.leftOut))
	r.Total = e.positionCount
	for j, c := range e.columns {
		r.Columns[j] = c.Position
	}
	for i, l := range e.leftOut {
		r.LeftOut[i] = l.Column
	}
	return r
}

// readPositions reads the positions of the columns in the input. Files of earlier versions lack them.
func (e *bundle) readPositions(r *chunkio.StatsReader) error {
	if !r.Has(positionsSection) {
		return nil
	}
	p := positions.New(len(e.columns), len(e.leftOut))
	if err := readSection(r, positionsSection, p); err != nil {
		return err
	}
	e.positionCount, e.columns, e.leftOut = p.Total, slices.Clone(e.columns), slices.Clone(e.leftOut)
	for j := range e.columns {
		e.columns[j].Position = p.Columns[j]
	}
	for i := range e.leftOut {
		e.leftOut[i].Column = p.LeftOut[i]
	}
	return nil
}

// withoutPositions returns the list for a header. The positions are in a section, which programs of earlier
// versions skip.
func withoutPositions(list []stream.LeftOut) []stream.LeftOut {
	bare := slices.Clone(list)
	for i := range bare {
		bare[i].Column = stream.Position{}
	}
	return bare
}

func (e *bundle) coveredRows() int64 { return countRows(e.covered) }

func countRows(ranges []stream.Range) (rows int64) {
	for _, r := range ranges {
		rows += r.To - r.From
	}
	return rows
}

const droppedRowsSuffix = " rows were dropped because a value is missing (or the weight is 0)"

func (e *bundle) droppedWarning() stream.Text {
	return stream.Textf("%s of %s%s", comma(e.profile.Seen-e.profile.Rows), comma(e.profile.Seen), droppedRowsSuffix)
}

func noteFilled(r *run, list []stream.ColumnReport) {
	if remark := filledRemark(r, list); remark != "" {
		r.say("%s", remark)
	}
}

// filledRemark returns a remark on filled missing values. It is empty if no value is filled, or if the policy was
// chosen by the user or by a plan.
func filledRemark(r *run, list []stream.ColumnReport) string {
	planned := r.planHeader != nil && r.planHeader.Options["missing"] != ""
	text := describeFilled(r, list)
	switch {
	case r.original.Missing != "" || planned:
		return ""
	case text != "" && (r.Stats == "" || r.From == method.FromRows): // otherwise the rows are not available
		text += stream.Textf("; {missing} error refuses them").Spell(r.Spelling)
	}
	return text
}

func describeFilled(r *run, list []stream.ColumnReport) string {
	if r.Missing != missingMean || len(list) == 0 {
		return ""
	}
	missing := func(c stream.ColumnReport) int64 { return c.Nulls + c.NaNs + c.Infs }
	slices.SortStableFunc(list, func(a, b stream.ColumnReport) int { return cmp.Compare(missing(b), missing(a)) })
	var places []string
	var infinite, others int64
	shown := len(list)
	if shown > namedSuspects+1 {
		shown = namedSuspects
	}
	for i, c := range list {
		if infinite += c.Infs; i < shown {
			places = append(places, comma(missing(c))+" in "+c.Name)
		} else {
			others += missing(c)
		}
	}
	if more := len(list) - shown; more > 0 {
		places = append(places, fmt.Sprintf("and %s in %s more columns", comma(others), comma(int64(more))))
	}
	subject := "missing values"
	if infinite > 0 {
		subject += fmt.Sprintf(" (%s of them infinite)", comma(infinite))
	}
	return subject + " are filled by their column's mean: " + strings.Join(places, ", ")
}

// listFilled lists the features of e with missing values. Columns that cannot be features are left out before any
// policy acts.
func listFilled(r *run, e *bundle) (list []stream.ColumnReport) {
	profile := cmp.Or(e.rawProfile, e.profile)
	useless := make(map[string]bool)
	for _, l := range r.uselessWithMissing(profile, e.columns) {
		useless[l.Name] = true
	}
	for j, c := range e.columns {
		if m := profile.Columns[j].Missing; m.Total() > 0 && !useless[c.Name] && (e.takesPart == nil || e.takesPart[j]) {
			list = append(list, stream.ColumnReport{Name: c.Name, Nulls: m.Nulls, NaNs: m.NaNs, Infs: m.Infs})
		}
	}
	return list
}

// listPromisedMissing is like listFilled, but uses only the metadata of dense input.
func listPromisedMissing(r *run, ds *chunkio.Dataset) (list []stream.ColumnReport) {
	for f := range ds.Fields() {
		if r.Sparse == "" && f.Used && f.Nulls > 0 && f.Nulls < ds.Rows() {
			list = append(list, stream.ColumnReport{Name: f.Name, Nulls: f.Nulls})
		}
	}
	return list
}

func isDroppedWarning(warning string) bool { return strings.HasSuffix(warning, droppedRowsSuffix) }

// finishGram makes the Gram matrix from e, whose statistics it overwrites. The result lacks the matrix if e does.
func (e *bundle) finishGram(opt gram.FinishOptions) (*gram.Gram, error) {
	switch {
	case e.factor != nil:
		return e.factor.Finish(e.columns, opt)
	case e.moments == nil: // the matrix does not fit into memory
		return e.profile.Gram(e.columns, opt)
	}
	return e.moments.Finish(e.columns, opt)
}

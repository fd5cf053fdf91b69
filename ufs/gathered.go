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

// bundle holds statistics, gathered by passes over the input or read from a statistics file, and describes their data.
type bundle struct {
	kind          string          // kind of the statistics file
	path          string          // path of the statistics file, for messages
	digest        string          // of the statistics file; it identifies a round of scans
	columns       []stream.Column // features, including constant ones
	positionCount int             // number of positions in the input; 0 if the columns' positions are unknown
	profile       *gram.Profile
	moments       *gram.Moments       // nil if only a profile was requested
	factor        *gram.Rows          // used instead of moments if the Gram matrix will be a factor
	sketch        *gram.Sketch        // used with a profile to estimate the Gram matrix
	graph         *anchor.Statistics  // used with moments or a sketch for graph methods
	weights       *gram.Sketch        // used with sketch and graph: sketch of the rows' weights on the anchors
	shardStats    *shardStats         // statistics of hash shards, or nil; while rows are added, they replace moments
	sample        *anchor.Sampler     // sample of rows: with a profile to choose anchors, with moments to survey
	survey        *survey.Survey      // survey of the sample, if it is already made
	thinColumns   *survey.ThinColumns // columns of the sample, used instead of moments
	rowSample     *rowsample.Sample   // used with a profile for methods that iterate over rows
	histograms    *gram.Histograms    // used with moments of a scan; nil if a file lacks them
	rawProfile    *gram.Profile       // under scale rank: profile of the values, because profile is of their scores
	ranks         *gram.Histograms    // used with a profile to compute ranks
	facts         *hygiene.Facts      // facts of the same rows; nil in files of earlier versions
	hasAllFacts   bool                // facts already covers all rows, from an earlier pass
	leftOut       []stream.LeftOut    // columns that are not features
	useless       []stream.LeftOut    // the columns among leftOut that a profile pass found useless
	table         *stream.Table       // table to which the inputs belong; nil for bare files
	part          *stream.Part        // shards of a plan that the statistics cover; nil without a plan
	inputs        []stream.Input      // all files, covered or not; a shard lists only its own files
	covered       []stream.Range      // row ranges of inputs that the statistics cover
	options       map[string]string   // the options that shaped the statistics
	warnings      []stream.Text
	takesPart     []bool // which columns the selection may use; nil means all
	passes        int
	source        rowInput  // rows for further passes; nil if only the statistics are available
	input         io.Closer // the input that source reads; nil if only the statistics are available
	plan          Budget
}

// close ends the reading of rows. It removes scratch files with rows, and releases the input, whose footers use memory.
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
	if e.graph != nil && e.factor == nil { // with a factor, the graph gets the rows later
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

// withoutPositions returns a copy of list without positions, for the header of a statistics file. The positions are in
// a section of the file, which programs of earlier versions skip.
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

// filledRemark returns a remark on filled missing values for the user. It is empty if values are not filled, or if the
// user or a plan chose the policy for missing values.
func filledRemark(r *run, list []stream.ColumnReport) string {
	planned := r.planHeader != nil && r.planHeader.Options["missing"] != ""
	text := describeFilled(r, list)
	switch {
	case r.original.Missing != "" || planned:
		return ""
	case text != "" && (r.Stats == "" || r.From == method.FromRows): // otherwise it is too late to choose policy error
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
	if shown > maxSuspectsInWarning+1 {
		shown = maxSuspectsInWarning
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

// listFilled lists the features of e with missing values. Columns that cannot be features are not listed, because they
// are left out before their values are filled.
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

// listPromisedMissing lists the features of ds that have missing values according to the metadata. For sparse input the
// list is empty.
func listPromisedMissing(r *run, ds *chunkio.Dataset) (list []stream.ColumnReport) {
	for f := range ds.Fields() {
		if r.Sparse == "" && f.Used && f.Nulls > 0 && f.Nulls < ds.Rows() {
			list = append(list, stream.ColumnReport{Name: f.Name, Nulls: f.Nulls})
		}
	}
	return list
}

func isDroppedWarning(warning string) bool { return strings.HasSuffix(warning, droppedRowsSuffix) }

// finishGram makes the Gram matrix from the statistics of e, which it overwrites. If e has only a profile, the result
// has no matrix.
func (e *bundle) finishGram(opt gram.FinishOptions) (*gram.Gram, error) {
	switch {
	case e.factor != nil:
		return e.factor.Finish(e.columns, opt)
	case e.moments == nil: // the matrix does not fit into memory
		return e.profile.Gram(e.columns, opt)
	}
	return e.moments.Finish(e.columns, opt)
}

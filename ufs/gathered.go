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

// bundle is what the passes over the input left, or what a statistics file holds.
type bundle struct {
	kind     string          // of a statistics file
	path     string          // of the statistics file, as people may see it
	digest   string          // of the statistics file: what a round is told by
	columns  []stream.Column // features, those that turn out constant included
	places   int             // positions of the input; 0 if the positions of the columns are unknown
	profile  *gram.Profile
	moments  *gram.Moments       // nil where only a profile was asked for
	wide     *gram.Rows          // in place of moments, where the Gram matrix will be a factor
	sketch   *gram.Sketch        // beside a profile, to estimate the Gram matrix by
	graph    *anchor.Statistics  // beside moments or a sketch, for the graph methods
	weights  *gram.Sketch        // beside sketch and graph: of the rows' weights on the anchors
	hashed   *hashed             // beside moments, and while rows come in their place: of hash shards; or nil
	sample   *anchor.Sampler     // beside a profile, to take anchors from, or moments, to look at
	survey   *survey.Survey      // of the sample, once it was looked at
	thin     *survey.ThinColumns // of the sample, in place of moments
	rows     *rowsample.Sample   // beside a profile, for methods that iterate over rows
	spread   *gram.Histograms    // beside moments, of a scan; nil where a file has none
	raw      *gram.Profile       // under scale rank: of the values of all rows that the ranks are of, where profile is of scores
	ranks    *gram.Histograms    // beside a profile, to take ranks from
	facts    *hygiene.Facts      // beside any of these: of the values of the same rows; nil in files of earlier versions
	counted  bool                // facts has all rows already, of an earlier pass
	leftOut  []stream.LeftOut    // columns that are no features
	decided  []stream.LeftOut    // those among them that a profile pass found useless
	table    *stream.Table       // that the inputs are of; nil for bare files
	part     *stream.Part        // the shards of a plan that this is of; nil without a plan
	inputs   []stream.Input      // all files, also those outside the rows covered; of a shard its own
	covered  []stream.Range      // rows of the inputs that the statistics cover
	options  map[string]string   // what shaped them, by option
	warnings []stream.Text
	wanted   []bool // of columns: those that take part; nil for all
	passes   int
	source   rowInput  // settled, for further passes; nil from statistics without rows
	opened   io.Closer // what source reads from, in scratch files maybe; nil from statistics
	plan     Budget
}

// close ends the passes over the rows, gives the scratch files back that they were read from, and lets go
// of the input: its footers make room.
func (e *bundle) close() error {
	var errs [2]error
	if e.source != nil {
		errs[0] = e.source.Close()
	}
	if e.opened != nil {
		errs[1] = e.opened.Close()
	}
	e.source, e.opened = nil, nil
	return errors.Join(errs[:]...)
}

// adders are the states that take the rows of a pass.
func (e *bundle) adders() []stream.Adder {
	var adders []stream.Adder
	switch {
	case e.hashed != nil:
		adders = append(adders, e.profile, e.hashed.split)
	case e.wide != nil:
		adders = append(adders, e.wide)
	case e.moments != nil:
		adders = append(adders, e.moments)
	default:
		adders = append(adders, e.profile)
	}
	if e.graph != nil && e.wide == nil { // which takes its rows later
		adders = append(adders, e.graph)
	}
	if e.spread != nil {
		adders = append(adders, e.spread)
	}
	if e.sketch != nil {
		adders = append(adders, e.sketch)
	}
	if e.sample != nil {
		adders = append(adders, e.sample)
	}
	if e.rows != nil {
		adders = append(adders, e.rows)
	}
	if e.ranks != nil {
		adders = append(adders, e.ranks)
	}
	if e.facts != nil && !e.counted {
		adders = append(adders, e.facts)
	}
	return adders
}

// positionRecord is the section of a statistics file that says where columns stand in the input.
func (e *bundle) positionRecord() *positions.Record {
	r := positions.New(len(e.columns), len(e.leftOut))
	r.Total = e.places
	for j, c := range e.columns {
		r.Columns[j] = c.Position
	}
	for i, l := range e.leftOut {
		r.LeftOut[i] = l.Column
	}
	return r
}

// readPositions reads where the columns stand in the input. Files of earlier versions do not tell.
func (e *bundle) readPositions(r *chunkio.StatsReader) error {
	if !r.Has(positionsSection) {
		return nil
	}
	p := positions.New(len(e.columns), len(e.leftOut))
	if err := readSection(r, positionsSection, p); err != nil {
		return err
	}
	e.places, e.columns, e.leftOut = p.Total, slices.Clone(e.columns), slices.Clone(e.leftOut)
	for j := range e.columns {
		e.columns[j].Position = p.Columns[j]
	}
	for i := range e.leftOut {
		e.leftOut[i].Column = p.LeftOut[i]
	}
	return nil
}

// withoutPositions is a list as headers have it: the positions are in a section, which earlier versions pass over.
func withoutPositions(list []stream.LeftOut) []stream.LeftOut {
	bare := slices.Clone(list)
	for i := range bare {
		bare[i].Column = stream.Position{}
	}
	return bare
}

// coveredRows is the number of rows that the statistics cover.
func (e *bundle) coveredRows() int64 { return rowsOf(e.covered) }

// rowsOf counts the rows of ranges that do not overlap.
func rowsOf(ranges []stream.Range) (rows int64) {
	for _, r := range ranges {
		rows += r.To - r.From
	}
	return rows
}

const droppedRows = " rows were dropped because a value is missing (or the weight is 0)"

// dropped is the warning of the rows that {missing} drop-row left out.
func (e *bundle) dropped() stream.Text {
	return stream.Textf("%s of %s%s", comma(e.profile.Seen-e.profile.Rows), comma(e.profile.Seen), droppedRows)
}

// tellFilled makes the remark about what is filled, if nobody has asked for that.
func tellFilled(r *run, list []stream.ColumnReport) {
	if remark := remarkOnFilled(r, list); remark != "" {
		r.say("%s", remark)
	}
}

// remarkOnFilled is empty where nothing is filled, or only what was asked for: by a plan too, as it is the same for all
// its shards.
func remarkOnFilled(r *run, list []stream.ColumnReport) string {
	planned := r.plan != nil && r.plan.Options["missing"] != ""
	text := describeFilled(r, list)
	switch {
	case r.asked.Missing != "" || planned:
		return ""
	case text != "" && (r.Stats == "" || r.From == method.FromRows): // else the rows are gone
		text += stream.Textf("; {missing} error refuses them").Spell(r.Spelling)
	}
	return text
}

// describeFilled says how many values the mean takes the place of in which of the columns with missing values.
func describeFilled(r *run, list []stream.ColumnReport) string {
	if r.Missing != missingMean || len(list) == 0 {
		return ""
	}
	missing := func(c stream.ColumnReport) int64 { return c.Nulls + c.NaNs + c.Infs }
	slices.SortStableFunc(list, func(a, b stream.ColumnReport) int { return cmp.Compare(missing(b), missing(a)) })
	var places []string
	var infinite, others int64
	named := len(list)
	if named > namedSuspects+1 {
		named = namedSuspects
	}
	for i, c := range list {
		if infinite += c.Infs; i < named {
			places = append(places, comma(missing(c))+" in "+c.Name)
		} else {
			others += missing(c)
		}
	}
	if more := len(list) - named; more > 0 {
		places = append(places, fmt.Sprintf("and %s in %s more columns", comma(others), comma(int64(more))))
	}
	what := "missing values"
	if infinite > 0 {
		what += fmt.Sprintf(" (%s of them infinite)", comma(infinite))
	}
	return what + " are filled by their column's mean: " + strings.Join(places, ", ")
}

// listFilled lists the features of e with missing values. What can be no feature is left out before any policy acts.
func listFilled(r *run, e *bundle) (list []stream.ColumnReport) {
	profile := cmp.Or(e.raw, e.profile)
	useless := make(map[string]bool)
	for _, l := range r.uselessWithMissing(profile, e.columns) {
		useless[l.Name] = true
	}
	for j, c := range e.columns {
		if m := profile.Columns[j].Missing; m.Total() > 0 && !useless[c.Name] && (e.wanted == nil || e.wanted[j]) {
			list = append(list, stream.ColumnReport{Name: c.Name, Nulls: m.Nulls, NaNs: m.NaNs, Infs: m.Infs})
		}
	}
	return list
}

// listPromised is listFilled as far as the metadata of dense input tells.
func listPromised(r *run, ds *chunkio.Dataset) (list []stream.ColumnReport) {
	for f := range ds.Fields() {
		if r.Sparse == "" && f.Used && f.Nulls > 0 && f.Nulls < ds.Rows() {
			list = append(list, stream.ColumnReport{Name: f.Name, Nulls: f.Nulls})
		}
	}
	return list
}

// isDropped reports whether a warning that a file recorded is that of dropped.
func isDropped(warning string) bool { return strings.HasSuffix(warning, droppedRows) }

// finish is the Gram matrix that was gathered, which is used up; absent where none was.
func (e *bundle) finish(opt gram.FinishOptions) (*gram.Gram, error) {
	switch {
	case e.wide != nil:
		return e.wide.Finish(e.columns, opt)
	case e.moments == nil: // it does not fit
		return e.profile.Gram(e.columns, opt)
	}
	return e.moments.Finish(e.columns, opt)
}

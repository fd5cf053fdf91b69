package statistics

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/disk/positions"
	"github.com/ufs-stream/ufs-stream/internal/judging/hygiene"
	"github.com/ufs-stream/ufs-stream/internal/judging/survey"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowsample"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// Bundle holds statistics, gathered by passes over the input or read from a statistics file, and describes their data.
type Bundle struct {
	Kind          string          // kind of the statistics file
	Path          string          // path of the statistics file, for messages
	Digest        string          // digest of the file; that of a profile identifies the round of scans that uses it
	Columns       []stream.Column // features, including constant ones
	PositionCount int             // number of columns of the input, features or not; 0 if unknown
	Profile       *gram.Profile
	Moments       *gram.Moments       // nil if only a profile was requested
	Factor        *gram.Rows          // used instead of moments if the Gram matrix will be a factor
	Sketch        *gram.Sketch        // used with a profile to estimate the Gram matrix
	Graph         *anchor.Statistics  // used with moments or a sketch for graph methods
	Weights       *gram.Sketch        // used with sketch and graph: sketch of the rows' weights on the anchors
	ShardStats    *ShardStats         // statistics of hash shards, or nil; while rows are added, they replace moments
	Sample        *anchor.Sampler     // sample of rows: with a profile to choose anchors, with moments to survey
	Survey        *survey.Survey      // survey of the sample, if it is already made
	ThinColumns   *survey.ThinColumns // columns of the sample, used instead of moments
	RowSample     *rowsample.Sample   // used with a profile for methods that iterate over rows
	Histograms    *gram.Histograms    // used with moments of a scan; nil if a file lacks them
	RawProfile    *gram.Profile       // under scale rank: profile of the values, because profile is of their scores
	Ranks         *gram.Histograms    // used with a profile to compute ranks
	Facts         *hygiene.Facts      // counts that show suspicious columns; nil in files of earlier versions
	HasAllFacts   bool                // facts already covers all rows, from an earlier pass
	LeftOut       []stream.LeftOut    // columns that are not features
	Useless       []stream.LeftOut    // the columns among leftOut that a profile pass found useless
	Table         *stream.Table       // table to which the inputs belong; nil for bare files
	Since         *int64              // version of table since which the statistics are of its gains; nil if of all its rows
	HasLosses     bool                // whether the table has lost rows since then
	Losses        *Bundle             // statistics of these rows; nil if there are none
	Subtracted    int64               // number of rows that were subtracted
	Part          *stream.Part        // shards of a plan that the statistics cover; nil without a plan
	Inputs        []stream.Input      // all files, covered or not; a shard lists only its own files
	Covered       []stream.Range      // row ranges of inputs that the statistics cover
	Options       map[string]string   // the options that shaped the statistics
	Warnings      []stream.Text
	TakesPart     []bool // which columns the selection may use; nil means all
	Passes        int
	Source        RowInput  // rows for further passes; nil if only the statistics are available
	Input         io.Closer // the input that source reads; nil if only the statistics are available
	Plan          budget.Budget
}

func (e *Bundle) DropColumn(column int) {
	if e.TakesPart == nil {
		e.TakesPart = slices.Repeat([]bool{true}, len(e.Columns))
	}
	e.TakesPart[column] = false
}

// RowInput is the input of a method over rows: a *chunkio.Dataset, or the sampled rows in a statistics file.
type RowInput interface {
	stream.Source
	MinMemory() int64
	MemoryFor(memory int64) int64
	ScratchFor(memory int64) int64
	SpoolBytes() int64
	Close() error
}

func (e *Bundle) LeaveOutColumns(list []stream.LeftOut) {
	why := make(map[string]string, len(list))
	for _, l := range list {
		why[l.Name] = l.Why
	}
	for j, c := range e.Columns {
		if reason, out := why[c.Name]; out {
			e.DropColumn(j)
			e.LeftOut = append(e.LeftOut, c.LeftOut(reason))
		}
	}
}

func (e *Bundle) Summary(spelling stream.Spelling, transfer *stream.Transfer) *result.Gathered {
	rows := e.CoveredRows()
	if e.Subtracted > 0 { // only whole files are no longer among the inputs
		rows = e.Profile.Seen
	}
	return &result.Gathered{
		Features: len(e.Columns), Inputs: len(e.Inputs), Rows: rows, RowsUsed: e.Profile.Rows, Warnings: wording.SpellAll(e.Warnings, spelling), Transfer: transfer,
	}
}

func LacksFeatureReports(s *stream.Selection) bool { return len(s.Columns) == 0 && s.Features > 0 }

// CopyPositions copies the columns' positions from first, the file that determines the column order, because a read of
// all inputs also uses the positions in the first input. Columns that are left out only in other files get no position.
func (e *Bundle) CopyPositions(first *Bundle) {
	e.PositionCount = first.PositionCount
	for j, c := range first.Columns {
		e.Columns[j].Position = c.Position
	}
	positions := make(map[string][]stream.Position, len(first.LeftOut))
	for _, l := range first.LeftOut {
		positions[l.Name] = append(positions[l.Name], l.Column)
	}
	for i := range e.LeftOut {
		l := &e.LeftOut[i]
		if list := positions[l.Name]; len(list) > 0 {
			l.Column, positions[l.Name] = list[0], list[1:]
		}
	}
}

// ReorderColumns puts the columns of e into the order of the sum. Column j of the sum is column order[j] of e.
func (e *Bundle) ReorderColumns(order []int) {
	if order == nil {
		return
	}
	for _, k := range stateKindsIn(e) {
		if s, ok := k.state(e).(interface{ Reorder(order []int) }); ok {
			s.Reorder(order)
		}
	}
}

// GapWarnings warns if the file at path covers only some rows of its inputs, or only some shards of its plan. Missing
// shards need their own warning, because the file does not list the inputs of these shards.
func (e *Bundle) GapWarnings(path string) []stream.Text {
	if p := e.Part; p != nil && !p.Complete() {
		missing := p.Missing()
		return []stream.Text{stream.Textf("%s is of %s of the %s shards of a plan: %s %s missing", path, wording.WithCommas(int64(p.Count())), wording.WithCommas(int64(p.Of)), stream.ShardList(missing), wording.IsOrAre(missing))}
	}
	if e.Since != nil {
		return []stream.Text{stream.Textf("%s is only of the rows that %s has gained from version %d to %d", path, e.Table.Path, *e.Since, e.Table.Version)}
	}
	coveredRows, rows := e.CoveredRows(), inputRows(e.Inputs)
	if coveredRows >= rows {
		return nil
	}
	return []stream.Text{stream.Textf("%s covers %s of %s rows of its inputs: some shards are missing", path, wording.WithCommas(coveredRows), wording.WithCommas(rows))}
}

// IsComplete reports whether the statistics cover all rows of their inputs and all shards of their plan.
func (e *Bundle) IsComplete() bool {
	return (e.Part == nil || e.Part.Complete()) && e.CoveredRows() >= inputRows(e.Inputs)
}

func inputRows(inputs []stream.Input) (rows int64) {
	for _, in := range inputs {
		rows += in.Rows
	}
	return rows
}

func (e *Bundle) HasMissing() bool {
	return len(e.Useless) > 0 || slices.ContainsFunc(e.Profile.Columns, func(c gram.ColumnProfile) bool { return c.Missing.Total() > 0 })
}

// Close ends the reading of rows. It removes scratch files with rows, and releases the input, whose footers use memory.
func (e *Bundle) Close() error {
	var errs [2]error
	if e.Source != nil {
		errs[0] = e.Source.Close()
	}
	if e.Input != nil {
		errs[1] = e.Input.Close()
	}
	e.Source, e.Input = nil, nil
	return errors.Join(errs[:]...)
}

func (e *Bundle) Adders() []stream.Adder {
	var adders []stream.Adder
	switch {
	case e.ShardStats != nil:
		adders = append(adders, e.Profile, e.ShardStats.splitter)
	case e.Factor != nil:
		adders = append(adders, e.Factor)
	case e.Moments != nil:
		adders = append(adders, e.Moments)
	default:
		adders = append(adders, e.Profile)
	}
	for _, k := range stateKindsIn(e) {
		if s, ok := k.state(e).(stream.Adder); ok && k.addsRows != nil && k.addsRows(e) {
			adders = append(adders, s)
		}
	}
	return adders
}

func (e *Bundle) positionRecord() *positions.Record {
	r := positions.New(len(e.Columns), len(e.LeftOut))
	r.Total = e.PositionCount
	for j, c := range e.Columns {
		r.Columns[j] = c.Position
	}
	for i, l := range e.LeftOut {
		r.LeftOut[i] = l.Column
	}
	return r
}

// ReadPositions reads the positions of the columns in the input. Files of earlier versions lack them.
func (e *Bundle) ReadPositions(r *chunkio.StatsReader) error {
	if !r.Has(positionsSection) {
		return nil
	}
	p := positions.New(len(e.Columns), len(e.LeftOut))
	if err := readSection(r, positionsSection, p); err != nil {
		return err
	}
	e.PositionCount, e.Columns, e.LeftOut = p.Total, slices.Clone(e.Columns), slices.Clone(e.LeftOut)
	for j := range e.Columns {
		e.Columns[j].Position = p.Columns[j]
	}
	for i := range e.LeftOut {
		e.LeftOut[i].Column = p.LeftOut[i]
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

func (e *Bundle) CoveredRows() int64 { return CountRows(e.Covered) }

func CountRows(ranges []stream.Range) (rows int64) {
	for _, r := range ranges {
		rows += r.To - r.From
	}
	return rows
}

const droppedRowsSuffix = " rows were dropped because a value is missing (or the weight is 0)"

func (e *Bundle) DroppedWarning() stream.Text {
	return stream.Textf("%s of %s%s", wording.WithCommas(e.Profile.Seen-e.Profile.Rows), wording.WithCommas(e.Profile.Seen), droppedRowsSuffix)
}

func IsDroppedWarning(warning string) bool { return strings.HasSuffix(warning, droppedRowsSuffix) }

// FinishGram makes the Gram matrix from the statistics of e, which it overwrites. If e has only a profile, the result
// has no matrix.
func (e *Bundle) FinishGram(opt gram.FinishOptions) (*gram.Gram, error) {
	switch {
	case e.Factor != nil:
		return e.Factor.Finish(e.Columns, opt)
	case e.Moments == nil: // the matrix does not fit into memory
		return e.Profile.Gram(e.Columns, opt)
	}
	return e.Moments.Finish(e.Columns, opt)
}

// IsRanked reports whether the statistics were made from normal scores. A profile is made from the values themselves,
// and has the ranks in an extra section.
func (e *Bundle) IsRanked() bool {
	return e.Kind != KindProfile && e.Options["scale"] == request.ScaleRank
}

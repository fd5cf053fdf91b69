package merging

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// checkMinus refuses files from which, or whose rows, cannot be subtracted, if there are files to subtract.
func checkMinus(m *merger) error {
	if len(m.minus) == 0 {
		return nil
	}
	why := ""
	switch {
	case m.kind != statistics.KindGram:
		why = m.kind + " statistics do not"
	case m.header.Options[request.OptionStability] != "":
		why = "hash shards ({stability}) do not"
	case m.header.Options["scale"] == request.ScaleRank:
		why = "ranks ({scale} rank) do not"
	case m.header.Options["rows"] != "" || m.header.Options[request.OptionSampleRows] != "":
		why = "rows drawn at random ({rows}) do not"
	}
	if why != "" {
		return stream.Usagef("cannot subtract %s: "+why+" allow it; scan the remaining rows", m.minus[0].name)
	}
	for _, files := range [][]mergedFile{m.files, m.minus} {
		for _, f := range files {
			if f.since != nil {
				return stream.Usagef("{minus} does not go with %s, which has changes of a table: merge the changes first, and subtract from the result", f.name)
			}
		}
	}
	m.header.Table, m.header.Part = nil, nil // the rest is not the whole of these
	return nil
}

// settleMinus checks that the rows to subtract are among the others, and takes them from the inputs.
func settleMinus(m *merger) error {
	for _, s := range m.lossCoverage.Stretches {
		m.subtracted += s.To - s.From
	}
	rest := statistics.Coverage{Files: m.coverage.Files, Stretches: m.coverage.Stretches}
	if foreign, at := rest.Subtract(&m.lossCoverage); foreign != nil {
		return stream.Usagef("cannot subtract %s: the files to subtract from do not have all its rows of %s (%s rows, fingerprint %s); leave it out if it was not added or is already subtracted",
			m.minus[at-len(m.files)].name, foreign.Path, wording.WithCommas(foreign.Rows), foreign.Fingerprint)
	}
	if len(rest.Stretches) == 0 {
		return stream.Usagef("cannot subtract %s: no rows would be left", m.minus[0].name)
	}
	m.keptInputs, m.keptRanges = rest.Files, rest.CoveredRanges()
	return nil
}

func squaresIn(p *gram.Profile) []float64 {
	squares := make([]float64, len(p.Columns))
	for j, c := range p.Columns {
		squares[j] = c.Squares
	}
	return squares
}

// warnOfMinus records the rounding error of the subtraction. squares are the sums of squares before it. A product of two
// columns had an error of about √n·2⁻⁵³ of the lengths of the columns about their pilots, for n rows. The error is still
// there, while the lengths about the means are shorter without the rows that went.
func warnOfMinus(m *merger, e *statistics.Bundle, squares []float64) {
	worst, rounding := "", 0.0
	before := math.Sqrt(float64(e.Profile.Seen+m.subtracted)) * 0x1p-53
	for j, c := range e.Profile.Columns {
		if centred := c.Squares - c.Sum*c.Sum/c.Weight; centred > 0 && squares[j]/centred*before > rounding {
			worst, rounding = e.Columns[j].Name, squares[j]/centred*before
		}
	}
	text := stream.Textf("%s rows were subtracted: minima, maxima and numbers of distinct values are bounds", wording.WithCommas(m.subtracted))
	if worst != "" {
		text = stream.Textf("%v; rounding may change correlations of column %q by about %.0e, and others less", text, worst, rounding)
	}
	m.warnings.add(text)
}

// checkRowCounts refuses files, and a sum e, with fewer rows than {min-rows}.
func checkRowCounts(m *merger, e *statistics.Bundle) error {
	switch {
	case len(m.smallFiles) > 0:
		return stream.Usagef("{min-rows} %d: fewer rows are in %s; leave these out, or merge them with others where they are made", m.MinRows, wording.ListFirstNames(m.smallFiles, 10))
	case e.Profile.Rows < m.MinRows:
		return stream.Usagef("{min-rows} %d: only %s rows would be left", m.MinRows, wording.WithCommas(e.Profile.Rows))
	}
	return nil
}

package print

import (
	"io"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// WriteCurve writes p, the error for each number of features, as a table, JSON or CSV.
func WriteCurve(w io.Writer, p *stream.Curve, o Options) error {
	return output{p.Encode, func(w *screen.Page) { printCurve(w, p) }, curveColumns(p), len(p.Points)}.writeTo(w, o)
}

func hasGroups(curve *stream.Curve) bool {
	return slices.ContainsFunc(curve.Points, func(t stream.CurvePoint) bool { return len(t.Members) > 0 })
}

func hasCosts(curve *stream.Curve) bool { return len(curve.Points) > 0 && curve.Points[0].Cost != nil }

func curveColumns(curve *stream.Curve) []column {
	at := func(i int) *stream.CurvePoint { return &curve.Points[i] }
	columns := []column{
		{name: "k", title: ">k", value: func(i int) int { return at(i).K }},
		{name: "name", title: "feature", value: func(i int) string { return at(i).Name }, text: func(i int) string { return screen.QuoteName(at(i).Name) }},
		{name: "score", value: func(i int) stream.Number { return at(i).Score }},
		{name: "error", title: ">error", value: func(i int) stream.Number { return at(i).Error }},
		{name: "explained", title: ">explained", value: func(i int) stream.Number { return at(i).Explained }, text: func(i int) string { return percentText(at(i).Explained) }},
	}
	if len(curve.Points) > 0 && at(0).Least != nil {
		columns = append(columns, column{title: ">by the best directions", text: func(i int) string { return percentText(1 - *at(i).Least) }})
	}
	if hasGroups(curve) {
		columns[1].title = "group or feature"
		columns = append(columns, membersColumn(func(i int) []string { return at(i).Features() }))
	}
	if hasCosts(curve) {
		columns = append(columns,
			column{name: "cost", title: ">cost", value: func(i int) stream.Number { return *at(i).Cost }},
			column{name: "total_cost", title: ">together", value: func(i int) stream.Number { return *at(i).Total }})
	}
	return columns
}

func printCurve(w *screen.Page, p *stream.Curve) {
	w.Printf("%s: error over k (scale %s, %s features, %s rows, seed %d)\n\n", p.Method, scaleText(p.Options),
		humanize.Comma(int64(p.Features)), humanize.Comma(p.RowsUsed), p.Seed)
	printColumns(w, curveColumns(p), len(p.Points))
	printSizeRules(w, p.Size, hasGroups(p) || hasCosts(p))
	printTransfer(w, p.Transfer)
}

// printSizeRules prints how many features each rule recommends, and the number that is finally recommended.
func printSizeRules(w *screen.Page, s *stream.Size, groups bool) {
	if s == nil {
		return
	}
	w.Printf("\n")
	var rows [][]string
	for _, r := range s.Rules {
		k := strconv.Itoa(r.K)
		if r.K == 0 {
			k = "none"
		}
		rows = append(rows, []string{r.Name, k, r.Why})
	}
	head := []string{"how many", ">k", "because"}
	if groups {
		head[0] = "how many single features"
	}
	w.Table(head, rows)
	switch {
	case !groups:
		w.Printf("\nrecommended: -k %d: %s\n", s.Recommended, s.Why)
	case s.Groups > 0:
		w.Printf("\nrecommended: -k %d: as select -k auto; of single features %d would be worth keeping: %s\n", s.Groups, s.Recommended, s.Why)
	default:
		w.Printf("\nrecommended: more than these; of single features %d would be worth keeping: %s\n", s.Recommended, s.Why)
	}
	w.Printf("%s\n", gainBeyondSizeText(s, false))
}

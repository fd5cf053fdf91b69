package quality

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/report"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (r *run) writeResults(ctx context.Context, host workshop.Machine, sets []dataset) error {
	tables := r.makeTables(sets)
	for _, t := range tables {
		plot, ok := t.rankPlot()
		if !ok {
			continue
		}
		var svg bytes.Buffer
		if err := plot.WriteSVG(&svg); err != nil {
			return err
		}
		if err := results.WriteFile(ctx, r.output+t.plotName(), nil, svg.Bytes()); err != nil {
			return err
		}
	}
	for end, write := range map[string]func(io.Writer) error{
		".md":   func(w io.Writer) error { return r.writeMarkdown(w, host, sets, tables) },
		".csv":  r.writeCSV,
		".json": func(w io.Writer) error { return r.writeJSON(w, host, sets, tables) },
	} {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			return err
		}
		if err := results.WriteFile(ctx, r.output+end, nil, text.Bytes()); err != nil {
			return err
		}
	}
	r.printRemark("wrote %s.md, .csv, .json and plots; the findings are in %[1]s.jsonl", r.output)
	return nil
}

func (t table) rankPlot() (report.RankPlot, bool) {
	p := report.RankPlot{Title: fmt.Sprintf("Mean rank by NMI over %d sets, %s", len(t.sets), t.title), Critical: t.ranks.Critical, Alike: t.ranks.IndistinguishableSets()}
	for _, row := range t.rows {
		if row.ranked {
			p.Names, p.Ranks = append(p.Names, row.variant), append(p.Ranks, row.rank)
		}
	}
	return p, len(p.Ranks) > 1 && !math.IsNaN(t.ranks.Critical)
}

func (t table) plotName() string { return "-ranks-" + t.file + ".svg" }

func (r *run) plotLink(t table) string { return filepath.Base(r.output) + t.plotName() }

func (r *run) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"set", "generated", "rows", "features", "variant", "percent", "k", "chosen", "nmi", "nmi_std", "acc", "acc_std",
		"reconstruction_error", "stability", "found", "seconds", "refusal",
		"kind", "held_out", "ran", "knn", "nmi_standardized", "knn_standardized", "nmi_cosine", "knn_cosine", "covered"}}
	cell := func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	spread := func(s *stream.Spread) (mean, std string) {
		if s == nil {
			return "", ""
		}
		return cell(float64(s.Mean)), cell(float64(s.Std))
	}
	for _, x := range r.cells {
		for _, f := range x.finding.Choices {
			nmi, nmiStd := spread(f.NMI)
			acc, accStd := spread(f.ACC)
			line := []string{x.set.name, strconv.FormatBool(x.set.made), fmt.Sprint(x.set.rows), fmt.Sprint(x.set.features), x.variant.name,
				percentName(f.Percent), fmt.Sprint(f.K), fmt.Sprint(f.Chosen), nmi, nmiStd, acc, accStd, cell(float64(f.Error)),
				cell(numberOrNaN(f.Stability)), cell(f.shareFound(x.set)), cell(f.Seconds), f.Refusal,
				x.set.kind, strconv.FormatBool(x.set.heldOut), f.Ran, cell(numberOrNaN(f.KNN))}
			for _, other := range []*scores{f.Standard, f.Cosine} {
				if other == nil {
					other = new(scores)
				}
				line = append(line, cell(meanOrNaN(other.NMI)), cell(numberOrNaN(other.KNN)))
			}
			rows = append(rows, append(line, cell(numberOrNaN(f.Covered))))
		}
	}
	return c.WriteAll(rows)
}

func (r *run) writeJSON(w io.Writer, host workshop.Machine, sets []dataset, tables []table) error {
	type row struct {
		Variant       string                   `json:"variant"`
		Rank          stream.Number            `json:"mean_rank"`
		NMI           stream.Number            `json:"nmi"`
		Public        stream.Number            `json:"nmi_public"`
		Kinds         map[string]stream.Number `json:"nmi_of_kinds"`
		Standard      stream.Number            `json:"nmi_standardized"`
		KNN           stream.Number            `json:"knn"`
		ACC           stream.Number            `json:"acc"`
		Error         stream.Number            `json:"reconstruction_error"`
		Stability     stream.Number            `json:"stability"`
		Found         stream.Number            `json:"found"`
		Seconds       stream.Number            `json:"seconds"`
		Refused       int                      `json:"refused"`
		Gap, GapError stream.Number
	}
	type ranking struct {
		Shares      string        `json:"shares"`
		Sets        []string      `json:"sets"`
		Demands     []string      `json:"demands,omitempty"` // on the default
		Rows        []row         `json:"variants"`
		ChiSquare   stream.Number `json:"friedman_chi_square"`
		P           stream.Number `json:"friedman_p"`
		F           stream.Number `json:"iman_davenport_f"`
		FP          stream.Number `json:"iman_davenport_p"`
		Critical    stream.Number `json:"nemenyi_critical_difference"`
		SameAsFirst []string      `json:"not_worse_than_the_first,omitempty"`
	}
	out := struct {
		Schema  string    `json:"schema"`
		Command string    `json:"command"`
		Machine string    `json:"machine"`
		Tables  []ranking `json:"tables"`
		Results []finding `json:"findings"`
	}{Schema: "ufs-stream/quality/v2", Command: r.command, Machine: host.String()}
	n := func(v float64) stream.Number { return stream.Number(v) }
	for _, t := range tables {
		x := ranking{Shares: t.title, Demands: t.listDemands(), ChiSquare: n(t.ranks.Chi), P: n(t.ranks.P), F: n(t.ranks.F), FP: n(t.ranks.FP), Critical: n(t.ranks.Critical)}
		for _, s := range t.sets {
			x.Sets = append(x.Sets, s.name)
		}
		for i, v := range t.rows {
			mean := func(of score) stream.Number { return n(t.meanOver(v, of, anyKind)) }
			kinds := make(map[string]stream.Number)
			for _, kind := range t.kinds {
				kinds[kind] = n(t.meanOver(v, scoreNMI, onlyKind(kind)))
			}
			x.Rows = append(x.Rows, row{v.variant, n(v.rank), mean(scoreNMI), n(t.meanOver(v, scoreNMI, isPublic)), kinds, mean(scoreStandard), mean(scoreKNN), mean(scoreACC),
				1 - mean(scoreExplained), mean(scoreStability), mean(scoreFound), n(v.seconds), v.refused, n(v.gap), n(v.gapError)})
			if i > 0 && v.ranked && v.rank-t.rows[0].rank < t.ranks.Critical {
				x.SameAsFirst = append(x.SameAsFirst, v.variant)
			}
		}
		out.Tables = append(out.Tables, x)
	}
	for _, x := range r.cells {
		out.Results = append(out.Results, x.finding)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func percentName(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

package peers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/stream"
)

type run struct {
	*options
	shop     *workshop.Workshop
	script   string
	pairs    string   // path of the script for DuckDB and polars
	versions string   // versions of Python and its libraries, and of the engines
	engines  []string // names of the engines that run, of allEngines
	points   []peerResult
}

type peerResult struct {
	table            string
	rows             int64
	features, k      int
	peer             peer
	turns            []workshop.Cost
	chosen           []string
	nmi, nmiStd, acc float64 // NaN if there is no choice
	allNMI           float64 // NMI of k-means on all features
	explained        float64 // explained share of the sum of squares of the standardized features
	noChoiceReason   string  // why there is no choice; empty if there is one
}

func tableName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

func (r *run) measureTable(ctx context.Context, path string) error {
	table := tableName(path)
	ended := make(map[string]string) // by peer, the reason why it is not measured any more
	last := int64(0)
	for _, n := range r.rowCounts {
		rows, err := r.sampleRows(ctx, path, n)
		if err != nil {
			return err
		}
		if rows.rows == last {
			r.printRemark("%s has %d rows and no more", table, last)
			break
		}
		last = rows.rows
		k := r.k
		if k == 0 {
			k = max(2, int(math.Round(float64(len(rows.names))/10)))
		}
		if k > len(rows.names) {
			return stream.Usagef("peers: -k %d is more than the %d features of %s", k, len(rows.names), path)
		}
		first := len(r.points)
		for _, p := range allPeers() {
			if r.isMeasured(p) {
				r.points = append(r.points, peerResult{table: table, rows: rows.rows, features: len(rows.names), k: k, peer: p,
					nmi: math.NaN(), nmiStd: math.NaN(), acc: math.NaN(), explained: math.NaN(), noChoiceReason: ended[p.fullName()]})
			}
		}
		points := r.points[first:]
		if err := r.takeTurns(ctx, points, rows); err != nil {
			return err
		}
		for _, p := range points {
			if p.noChoiceReason != "" && ended[p.peer.fullName()] == "" {
				ended[p.peer.fullName()] = fmt.Sprintf("not tried: ended at %d rows", p.rows)
			}
		}
		if err := r.scoreChoices(ctx, points, rows); err != nil {
			return err
		}
	}
	return nil
}

// takeTurns runs every peer once in each of --count turns. So changes in the machine's speed affect all alike.
func (r *run) takeTurns(ctx context.Context, points []peerResult, rows *sampledRows) error {
	for range r.count {
		for i := range points {
			p := &points[i]
			if p.noChoiceReason != "" {
				continue
			}
			took, err := r.selectFeatures(ctx, p, rows)
			if err != nil {
				if p.noChoiceReason = r.reasonToEnd(ctx, took, err); p.noChoiceReason == "" {
					return err
				}
				p.turns, p.chosen = nil, nil
				r.printRemark("%s, %d rows, %s: %s", p.table, p.rows, p.peer.fullName(), p.noChoiceReason)
				continue
			}
			p.turns = append(p.turns, took)
			r.printRemark("%s, %d rows, %s: %s s", p.table, p.rows, p.peer.fullName(), results.FormatSeconds(took.Wall.Seconds()))
		}
	}
	return nil
}

func (r *run) selectFeatures(ctx context.Context, p *peerResult, rows *sampledRows) (workshop.Cost, error) {
	ctx, cancel := context.WithTimeout(ctx, r.giveUp)
	defer cancel()
	p.chosen = nil
	if p.peer.library != ourLibrary {
		choice, took, err := r.runScript(ctx, p.peer, rows, p.k)
		if err != nil {
			return took, err
		}
		for _, j := range choice.Chosen {
			if j < 0 || j >= len(rows.names) {
				return took, fmt.Errorf("%s chose feature %d of %d", p.peer.fullName(), j, len(rows.names))
			}
			p.chosen = append(p.chosen, rows.names[j])
		}
		return took, nil
	}
	args := []string{rows.parquet, "--method", p.peer.method, "-k", strconv.Itoa(p.k), "--label", r.label,
		"--seed", strconv.FormatUint(r.seed, 10), "--threads", strconv.Itoa(r.threads), "--memory-limit", strconv.FormatInt(int64(r.memory), 10)}
	if p.peer.method == "mcfs" {
		args = append(args, "--clusters", strconv.Itoa(rows.classes))
	}
	sel, took, err := r.shop.RunSelect(ctx, args...)
	if err != nil {
		return took, err
	}
	for _, f := range sel.Selected {
		p.chosen = append(p.chosen, f.Name)
	}
	return took, nil
}

// reasonToEnd explains the failure of a selection after which this peer is no longer measured. It returns "" if the
// whole run has to stop. The cpu time in the text distinguishes a slow method from a busy machine.
func (r *run) reasonToEnd(ctx context.Context, took workshop.Cost, err error) string {
	var failed *workshop.ChildError
	switch {
	case !errors.As(err, &failed) || ctx.Err() != nil:
		return ""
	case failed.TimedOut:
		return fmt.Sprintf("ended: more than --give-up %s (cpu %s s)", r.giveUp, results.FormatSeconds(took.CPU.Seconds()))
	case failed.Code == exit.Memory:
		return fmt.Sprintf("ended: more than --memory-limit %s", r.memory.String())
	}
	return ""
}

// scoreChoices scores the choices of all peers on the same rows by ufs-stream eval. The scores are from k-means on the
// chosen features and on all features, and from the reconstruction of the standardized features.
func (r *run) scoreChoices(ctx context.Context, points []peerResult, rows *sampledRows) error {
	args := []string{rows.parquet, "--label", r.label, "--baselines", judge.All, "--runs", strconv.Itoa(r.runs), "--restarts", "1",
		"--sample", strconv.FormatInt(r.judgeRows, 10), "--seed", strconv.FormatUint(r.seed, 10), "--threads", strconv.Itoa(r.threads)}
	count := 0
	for i, p := range points {
		if len(p.chosen) == 0 || p.peer.method == startMethod {
			continue
		}
		path := r.shop.Path(fmt.Sprintf("chosen-%d.json", i))
		if err := writeChoice(path, p, rows); err != nil {
			return err
		}
		args = append(args, "--selection", p.peer.fullName()+"="+path)
		count++
	}
	if count == 0 {
		return nil
	}
	var found stream.Evaluation
	if _, err := r.shop.RunJSON(ctx, &found, "eval", args...); err != nil {
		return err
	}
	for _, e := range found.Results {
		if e.NMISqrt == nil || e.ACC == nil {
			return fmt.Errorf("eval judged %s without scores", e.Name)
		}
		if e.Name == judge.All {
			for i := range points {
				points[i].allNMI = float64(e.NMISqrt.Mean)
			}
			continue
		}
		i := slices.IndexFunc(points, func(p peerResult) bool { return p.peer.fullName() == e.Name })
		if i < 0 {
			return fmt.Errorf("eval judged %s, which was not asked for", e.Name)
		}
		p := &points[i]
		p.nmi, p.nmiStd, p.acc = float64(e.NMISqrt.Mean), float64(e.NMISqrt.Std), float64(e.ACC.Mean)
		p.explained = 1 - float64(e.Reconstruction)
	}
	return nil
}

func writeChoice(path string, p peerResult, rows *sampledRows) error {
	s := stream.Selection{Schema: stream.SelectionSchema, Method: p.peer.fullName(), K: p.k, Rows: rows.rows, RowsUsed: rows.rows, Features: len(rows.names),
		Options: map[string]any{"scale": "standard", "missing": "error"}}
	for i, name := range p.chosen {
		s.Selected = append(s.Selected, stream.Selected{Rank: i + 1, Name: name, Column: stream.PositionAt(slices.Index(rows.names, name))})
	}
	for _, name := range rows.names {
		s.Columns = append(s.Columns, stream.ColumnReport{Name: name})
	}
	f, err := os.Create(path)
	if err != nil {
		return &stream.OutputError{Path: path, Err: err}
	}
	defer f.Close()
	return errors.Join(s.Encode(f), f.Close())
}

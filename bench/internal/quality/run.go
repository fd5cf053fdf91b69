package quality

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/stream"
)

// run computes findings for sets and variants.
type run struct {
	*options
	scratch string
	store   *findings
	cells   []cell // of this run's sets and variants
}

// cell is the finding of a variant on a set.
type cell struct {
	set     dataset
	variant variant
	finding finding
}

// scoreSettings describes everything that shapes the scores of a given choice.
func (r *run) scoreSettings() string {
	return fmt.Sprintf("percent=%v seeds=%d halves=%d rows=%d eval-rows=%d seed=%d protocol=%d",
		r.percents, r.seeds, r.halves, r.rows, r.evalRows, r.seed, protocolVersion)
}

// protocolVersion grows when equal choices get other scores: older findings are then ignored.
const protocolVersion = 3

func (r *run) limitsText() string {
	return fmt.Sprintf("timeout=%s memory=%s", r.timeout, humanize.IBytes(uint64(r.memory)))
}

func (r *run) fillFindings(ctx context.Context, sets []dataset) error {
	perCount, err := r.findPerCountVariants(ctx)
	if err != nil {
		return err
	}
	for _, s := range sets {
		p := preparedSet{dataset: s} // halves and rows are made when a variant needs them
		for i, v := range r.variants {
			f := finding{Set: s.name, Fingerprint: s.fingerprint, Variant: v.name, Settled: v.settingsText(), Judged: r.scoreSettings(), Sources: v.sourcesDigest(), Limits: r.limitsText()}
			if known, ok := r.store.findUsable(f); ok && !r.fresh {
				r.cells = append(r.cells, cell{s, v, known})
				continue
			}
			if p.halves == nil && v.baseline == "" && r.halves > 0 {
				if p.halves, err = r.writeHalves(ctx, s, r.scratch); err != nil {
					return err
				}
			}
			if p.rows == nil {
				if p.rows, err = r.readScoringRows(ctx, s); err != nil {
					return err
				}
			}
			begin := time.Now()
			if f.Choices, err = r.findChoices(ctx, p, v, perCount[i]); err != nil {
				return err
			}
			r.printRemark("%s, %s: %s in %.1f s", s.name, v.name, f.progressText(s), time.Since(begin).Seconds())
			if err := r.store.appendFinding(f); err != nil {
				return err
			}
			r.cells = append(r.cells, cell{s, v, f})
		}
		for _, path := range p.halves {
			os.Remove(path)
		}
	}
	return nil
}

// preparedSet is a set with data made once for all variants.
type preparedSet struct {
	dataset
	rows   *scoringRows
	halves []string // paths
}

// progressText describes a finding for the waiting user, without scores of a set that is held out.
func (f finding) progressText(s dataset) string {
	if s.heldOut {
		return "held out"
	}
	score := func(c choiceMade) float64 { return spreadMean(c.rankedScores(s.kind).NMI) }
	title := "NMI"
	if s.label == "" {
		title, score = "explained", func(c choiceMade) float64 { return 1 - float64(c.Error) }
	}
	for _, c := range f.Choices {
		title += " " + results.FormatPoints(score(c))
	}
	return title
}

// findChoices makes the choices of v on s and scores them. It fails only if interrupted; a method's refusal is
// part of the finding.
func (r *run) findChoices(ctx context.Context, s preparedSet, v variant, perCount bool) ([]choiceMade, error) {
	counts := s.featureCounts(r.percents)
	var choices []choiceMade
	for i, k := range counts {
		choices = append(choices, choiceMade{Percent: r.percents[i], K: k, Error: stream.Number(math.NaN())})
	}
	groups := [][]int{make([]int, len(counts))} // positions of counts that share a run
	for i := range counts {
		groups[0][i] = i
	}
	if perCount {
		groups = nil
		for i := range counts {
			if i > 0 && counts[i] == counts[i-1] {
				groups[len(groups)-1] = append(groups[len(groups)-1], i)
			} else {
				groups = append(groups, []int{i})
			}
		}
	}
	if s.lake && v.baseline == "" {
		groups, choices = append(groups, []int{len(choices)}), append(choices, choiceMade{Error: stream.Number(math.NaN())})
	}
	for number, group := range groups {
		err := r.findGroupChoices(ctx, s, v, choices[group[0]:group[len(group)-1]+1])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			continue
		}
		// A timeout or lack of memory for few features means the same for more.
		hopeless := errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*stream.MemoryError))
		for _, other := range groups[number:] {
			for _, i := range other {
				choices[i].Refusal = r.refusalText(err)
			}
			if !hopeless {
				break
			}
		}
		if hopeless {
			break
		}
	}
	return choices, nil
}

func (r *run) refusalText(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "takes more than " + r.timeout.String()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// stableShare is the largest share of the features, in per cent, to measure the stability of. Greedy methods
// take time in proportion to k, so that halves at 20 % would be most of a run.
const stableShare = 10

// findGroupChoices selects once, as many features as the last of the choices has or as a run without a number
// takes, from all rows and from the halves, and scores the beginnings of this selection for each of the
// choices.
func (r *run) findGroupChoices(ctx context.Context, s preparedSet, v variant, choices []choiceMade) error {
	last := &choices[len(choices)-1]
	var sel *stream.Selection
	var halves [][]int
	seconds := 0.0
	if v.baseline == "" {
		var err error
		begin := time.Now()
		if sel, err = r.selectFeatures(ctx, s.dataset, v, s.path, last.K); err != nil {
			return err
		}
		seconds = time.Since(begin).Seconds()
		most := 0
		for _, c := range choices {
			if c.Percent <= stableShare {
				most = c.K
			}
		}
		if halves, err = r.selectFromHalves(ctx, s.dataset, v, most, s.halves); err != nil {
			return err
		}
		if last.K == 0 {
			last.K = len(sel.Selected)
		}
	}
	if err := s.rows.judgeChoices(ctx, r.options, s.dataset, v, s.rows.columnOrders(r.options, v, sel), choices); err != nil {
		return err
	}
	for i := range choices {
		c := &choices[i]
		if c.Seconds = seconds; sel != nil {
			c.Ran = methodAndScale(sel)
		}
		if halves != nil && c.Percent <= stableShare {
			var sets [][]int
			for _, order := range halves {
				sets = append(sets, order[:min(c.K, len(order))])
			}
			index := stream.Number(judge.MeasureStability(sets, s.features).Nogueira)
			c.Stability = &index
		}
	}
	return nil
}

package quality

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// run computes findings for sets and variants.
type run struct {
	*options
	scratch string
	store   *findingsFile
	cells   []cell // one for each set and variant of this run
	tuned   []tunedVariant
}

// cell is the finding of a variant on a set.
type cell struct {
	set     dataset
	variant variant
	finding finding
}

func (r *run) scoreSettings() string {
	return fmt.Sprintf("percent=%v seeds=%d halves=%d rows=%d eval-rows=%d seed=%d protocol=%d",
		r.percents, r.seeds, r.halves, r.rows, r.evalRows, r.seed, protocolVersion)
}

// protocolVersion must be increased when a change of this program changes the scores of equal choices. Older findings
// are then ignored.
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
		p := preparedSet{dataset: s} // makes halves and rows when a variant needs them
		for i, v := range r.variants {
			f := finding{Set: s.name, Fingerprint: s.fingerprint, Variant: v.name, Settled: v.settingsText(), Judged: r.scoreSettings(), Sources: v.sourcesDigest(), Limits: r.limitsText()}
			if known, ok := r.store.findUsable(f); ok && !r.fresh {
				r.cells = append(r.cells, cell{s, v, known})
				continue
			}
			if p.halves == nil && v.baseline == "" && v.lists == nil && r.halves > 0 {
				if p.halves, err = r.writeHalves(ctx, s, r.scratch); err != nil {
					return err
				}
			}
			if p.scoring == nil {
				if p.scoring, err = r.readScoringRows(ctx, s); err != nil {
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

// preparedSet is a dataset with data derived from it, which are made once and used for all variants.
type preparedSet struct {
	dataset
	scoring *scoringRows
	halves  []string // paths
}

// progressText describes a finding for the user, who sees it during the run. It omits the scores of a held-out dataset.
func (f finding) progressText(s dataset) string {
	if s.heldOut {
		return "held out"
	}
	score := func(c choiceMade) float64 { return meanOrNaN(c.rankedScores(s.kind).NMI) }
	title := "NMI"
	if s.label == "" {
		title, score = "explained", func(c choiceMade) float64 { return 1 - float64(c.Error) }
	}
	for _, c := range f.Choices {
		title += " " + results.FormatPoints(score(c))
	}
	return title
}

// findChoices makes the choices of v on s and scores them. It returns an error only if interrupted. If the method
// refuses a choice, the refusal is recorded in it.
func (r *run) findChoices(ctx context.Context, s preparedSet, v variant, perCount bool) ([]choiceMade, error) {
	counts := s.featureCounts(r.percents)
	var choices []choiceMade
	for i, k := range counts {
		choices = append(choices, choiceMade{Percent: r.percents[i], K: k, Error: stream.Number(math.NaN())})
	}
	groups := [][]int{make([]int, len(counts))} // indices of the numbers of features for which one run is enough
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
		// A choice of more features needs more time and memory than a choice of few.
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

// stableShare is the largest share of the features, in per cent, for which stability is measured. The time of greedy
// methods is proportional to k. With 20 %, selections from halves would need most of the time of a run.
const stableShare = 10

// findGroupChoices makes one selection for several choices, from all rows and from each half, and scores all choices.
// It selects as many features as the last choice has. If this number is 0, the method decides it. The other choices are
// the beginnings of this selection.
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
		if err := s.scoring.refuseUnknownOrRepeated(sel); err != nil {
			return err
		}
		most := 0
		for _, c := range choices {
			if c.Percent <= stableShare {
				most = c.K
			}
		}
		if v.lists != nil {
			most = 0
		}
		if halves, err = r.selectFromHalves(ctx, s.dataset, v, most, s.halves); err != nil {
			return err
		}
		if last.K == 0 {
			last.K = len(sel.Selected)
		}
	}
	if err := s.scoring.judgeChoices(ctx, r.options, s.dataset, v, s.scoring.columnOrders(r.options, v, sel), choices); err != nil {
		return err
	}
	for i := range choices {
		c := &choices[i]
		if c.Seconds = seconds; sel != nil && v.lists == nil {
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

func (r *run) selectFeatures(ctx context.Context, s dataset, v variant, path string, k int) (*stream.Selection, error) {
	if v.lists != nil {
		if sel := v.lists[s.name]; sel != nil {
			return sel, nil
		}
		return nil, fmt.Errorf("there is no selection of %s for this set", v.name)
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	q := ufs.Request{
		Input:   ufs.Input{Paths: []string{path}},
		Choice:  ufs.Choice{Method: v.method, Scale: v.scale, Options: v.settings, K: k, Seed: r.seed},
		Columns: ufs.Columns{Missing: missingPolicy},
		Limits:  ufs.Limits{Threads: r.threads, Memory: int64(r.memory), TempDir: r.scratch},
	}
	if path == s.path {
		q.Columns.Label, q.Columns.Sparse = s.label, s.sparse // the files with halves of the rows are dense and have no label column
		if s.rows > r.rows {
			q.SampleRows = r.rows
		}
	}
	sel, err := ufs.Select(ctx, q)
	if unconverged := (*stream.UnconvergedError)(nil); sel != nil && errors.As(err, &unconverged) {
		err = nil // the iteration did not converge, but there is a selection
	}
	if err == nil {
		err = v.checkSelection(sel)
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = context.DeadlineExceeded
	}
	return sel, err
}

// checkSelection returns an error if a selection was made by another method or scale than the name of the variant
// promises. Only the default variant may use any method.
func (v variant) checkSelection(sel *stream.Selection) error {
	if v.method != "" && sel.Method != v.method || v.scale != "" && sel.Options["scale"] != v.scale {
		return fmt.Errorf("%s ran in the place of %s", methodAndScale(sel), v.name)
	}
	return nil
}

func methodAndScale(sel *stream.Selection) string {
	return fmt.Sprintf("%s, %v", sel.Method, sel.Options["scale"])
}

// selectFromHalves selects from each half of the rows and returns the indices of the chosen features. It returns nil if
// a half is refused.
func (r *run) selectFromHalves(ctx context.Context, s dataset, v variant, k int, halves []string) ([][]int, error) {
	if k == 0 {
		return nil, nil
	}
	var orders [][]int
	number := make(map[string]int)
	for _, path := range halves {
		sel, err := r.selectFeatures(ctx, s, v, path, k)
		if err != nil {
			return nil, ctx.Err()
		}
		var order []int
		for _, f := range sel.Selected {
			if _, ok := number[f.Name]; !ok {
				number[f.Name] = len(number)
			}
			order = append(order, number[f.Name])
		}
		orders = append(orders, order)
	}
	return orders, nil
}

// findPerCountVariants finds, on a small table, the variants that need a run for every number of features.
func (r *run) findPerCountVariants(ctx context.Context) ([]bool, error) {
	s, err := probeKind().writeSet(ctx, r.scratch)
	if err != nil {
		return nil, err
	}
	if err := r.inspectSet(ctx, &s); err != nil {
		return nil, err
	}
	out := make([]bool, len(r.variants))
	for i, v := range r.variants {
		if out[i] = v.needsRunPerCount; out[i] || v.baseline != "" || v.lists != nil {
			continue
		}
		few, fewErr := r.selectFeatures(ctx, s, v, s.path, 5)
		many, manyErr := r.selectFeatures(ctx, s, v, s.path, 15)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out[i] = fewErr != nil || manyErr != nil || !beginsWithSelection(many, few)
	}
	return out, nil
}

func beginsWithSelection(long, short *stream.Selection) bool {
	return len(short.Selected) <= len(long.Selected) && slices.EqualFunc(short.Selected, long.Selected[:len(short.Selected)],
		func(a, b stream.Selected) bool { return a.Name == b.Name })
}

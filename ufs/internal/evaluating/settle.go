package evaluating

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// evaluator holds the state of one call of ufs.Eval, which judges selections.
type evaluator struct {
	EvalRequest
	request request.Request // the limits of the run
	folder  *resume.Folder  // folder of the checkpoint; nil without a checkpoint

	// These fields are determined before the rows are read.
	counts       []int // numbers of features to judge
	policyName   string
	sparse       string
	clusterScale gram.Scale // the rows are clustered in this scale
	errorScale   gram.Scale // reconstruction errors are in this scale

	// These fields are filled in while the rows are read and afterwards.
	rows           int64 // number of rows of the input
	inputs         []stream.Input
	columns        []stream.Column // columns of the table: all features, or only the selected features
	index          map[string]int  // index of a column in the table
	hasAllFeatures bool            // the table contains all features
	table          *judge.Table
	resampleTime   time.Duration // predicted duration of the repeated selections
	minReading     int64         // least memory with which a stream can be read
	workers        int           // number of k-means runs that fit into memory at the same time
	usedRows       int           // number of rows in the table
	unlabelled     int64         // number of rows without a label
	classes        []string
	classRows      []int64 // number of rows of each class
	results        []evalResult
	warnings       []stream.Text
	timing         stream.Timing
}

func (e *evaluator) settleSelections(ctx context.Context) error {
	e.Selections = slices.Clone(e.Selections)
	for i := range e.Selections {
		s := &e.Selections[i]
		s.Path = cmp.Or(s.Path, "the selection")
		shown := cmp.Or(s.Name, place.DisplayName(s.Path))
		s.Name = cmp.Or(s.Name, "selection")
		if s.Selection == nil || len(s.Selected) == 0 {
			return stream.Usagef("%s has no features to judge", s.Path)
		}
		if s.IsDecidedByTies() {
			e.warnings = append(e.warnings, stream.Textf("%s: all %d selected features have equal scores, so that the order of the columns decided which were selected; its figures are no result of %s",
				shown, len(s.Selected), s.Method))
		}
		copied := *s.Selection // copied because it is sorted
		copied.Selected = slices.Clone(copied.Selected)
		s.Selection = &copied
		if err := s.splitGroups(); err != nil {
			return err
		}
		if err := atomicfile.CheckNotInput(ctx, e.Output, s.Path); err != nil {
			return err
		}
		if s.Note.Format != "" {
			e.warnings = append(e.warnings, s.Note)
		}
		s.Path = place.DisplayName(s.Path) // from here on, s.Path is only a name for messages
		taken := slices.ContainsFunc(e.Selections[:i], func(other NamedSelection) bool { return other.Name == s.Name })
		if taken || slices.Contains(judge.Baselines(), s.Name) {
			return stream.Usagef("{selection} %s: the name %s is taken; give it another: {selection} NAME=%[1]s", s.Path, s.Name)
		}
	}
	if err := e.settleCounts(); err != nil {
		return err
	}
	if err := useRecordedColumnOptions(e); err != nil {
		return err
	}
	return e.settleOptions()
}

func (e *evaluator) settleCounts() error {
	e.counts = uniqueValues(e.K)
	if len(e.counts) == 0 {
		e.counts = []int{len(e.Selections[0].Selected)}
		for _, s := range e.Selections {
			e.counts[0] = min(e.counts[0], len(s.Selected))
		}
	}
	if k := slices.Min(e.counts); k < 1 {
		return stream.Usagef("{k} %d: want 1 or more", k)
	}
	for _, s := range e.Selections {
		if k := slices.Max(e.counts); k > len(s.Selected) {
			return stream.Usagef("{k} %d is more than the %s that %s has; select more: {k} %[1]d", k, wording.CountNoun(len(s.Selected), "feature"), s.Path)
		}
		seen := make(map[string]bool)
		for _, f := range s.Selected {
			if seen[f.Name] {
				return stream.Dataf(s.Path, "the selection names %q twice", f.Name)
			}
			seen[f.Name] = true
		}
		if err := checkAndSortRanks(s); err != nil {
			return err
		}
		if label := e.Label; label != "" {
			for _, c := range s.Columns {
				seen[c.Name] = true
			}
			if seen[label] {
				return stream.Usagef("{label} %s: %s was made with it as a feature, so it would be judged by itself; select again with {label} %[1]s", label, s.Path)
			}
		}
	}
	return nil
}

// splitGroups replaces groups by their features, which are judged like all other features.
func (s *NamedSelection) splitGroups() error {
	if !slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return len(f.Members) > 0 }) {
		return nil
	}
	if err := checkAndSortRanks(*s); err != nil {
		return err
	}
	list := s.Selected
	s.choices, s.Selected = len(list), nil
	for _, f := range list {
		for _, name := range f.Features() {
			s.Selected = append(s.Selected, stream.Selected{Rank: len(s.Selected) + 1, Name: name, Score: f.Score, Error: f.Error})
		}
	}
	return nil
}

// checkAndSortRanks checks the lists of s, and sorts its features by rank, because the file may have been edited, and
// numbers k refer to the first k features.
func checkAndSortRanks(s NamedSelection) error {
	slices.SortStableFunc(s.Selected, func(a, b stream.Selected) int { return a.Rank - b.Rank })
	for i, f := range s.Selected {
		if f.Rank != i+1 {
			return stream.Dataf(s.Path, "its ranks are not 1 to %d: %d stands at place %d", len(s.Selected), f.Rank, i+1)
		}
	}
	columns := make(map[string]bool, len(s.Columns))
	for _, c := range s.Columns {
		if columns[c.Name] {
			return stream.Dataf(s.Path, "it lists column %q twice", c.Name)
		}
		columns[c.Name] = true
	}
	return nil
}

func (e *evaluator) recordedSelections() []*NamedSelection {
	var list []*NamedSelection
	for i := range e.Selections {
		if s := &e.Selections[i]; !s.isList() {
			list = append(list, s)
		}
	}
	return list
}

func (e *evaluator) settleOptions() error {
	option := func(name, otherwise string) (value string, same bool) {
		same = true
		for i, s := range e.recordedSelections() {
			v, ok := s.Options[name].(string)
			if !ok {
				v = otherwise
			}
			if i > 0 && v != value {
				same = false
				continue
			}
			value = v
		}
		return cmp.Or(value, otherwise), same
	}
	for _, f := range []struct {
		option, otherwise, requested string
		to                           *string
	}{{"missing", request.MissingMean, e.Missing, &e.policyName}, {"sparse", cmp.Or(e.request.Columns.Sparse, chunkio.DefaultSparse(context.Background(), e.request.Input.Paths, e.request.Input.Stdin, false)), e.Sparse, &e.sparse}} {
		value, same := option(f.option, f.otherwise)
		switch {
		case f.requested != "":
			value = f.requested
		case !same:
			return stream.Usagef("the selections were made with different %v; say which to judge them by, as %[1]v %q", stream.Option(f.option), value)
		}
		*f.to = value
	}
	if !slices.Contains(request.MissingPolicies(), e.policyName) {
		if e.Missing != "" {
			return stream.Usagef("{missing} %s: want %s%s", e.Missing, strings.Join(request.MissingPolicies(), ", "), suggest.DidYouMean(e.Missing, request.MissingPolicies()))
		}
		return stream.Dataf(e.recordedSelections()[0].Path, "option missing %q: want %s", e.policyName, strings.Join(request.MissingPolicies(), ", "))
	}
	scale, same := option("scale", "none")
	var err error
	if e.Scale != "" {
		if e.clusterScale, err = gram.ParseScale(e.Scale); err != nil {
			return stream.Errorf("%w%s", err, suggest.DidYouMean(e.Scale, request.ScaleNames()))
		}
		if e.errorScale = e.clusterScale; e.clusterScale == gram.ScaleRank {
			return stream.Usagef("{scale} rank: eval scales by the rows that it judges, which need not be those that ranks were taken of; choose {scale standard}")
		}
	} else if e.errorScale, err = gram.ParseScale(scale); err != nil {
		return stream.Dataf(e.recordedSelections()[0].Path, "%v", err) // a data error, because the file is wrong and not the request
	} else if !same {
		e.warnings = append(e.warnings, stream.Textf("the selections record different scales: reconstruction errors are all in scale %s, that of %s; {scale} sets another", scale, e.recordedSelections()[0].Path))
	}
	if e.errorScale == gram.ScaleRank {
		e.errorScale = gram.ScaleStandard
		e.warnings = append(e.warnings, stream.Textf("the selection was made with {scale} rank: reconstruction errors are in {scale} standard, of the values themselves"))
	}
	for i, s := range e.recordedSelections() {
		if first := e.recordedSelections()[0]; i > 0 && len(first.Columns) > 0 && len(s.Columns) > 0 && !slices.EqualFunc(s.Columns, first.Columns, func(a, b stream.ColumnReport) bool { return a.Name == b.Name }) {
			e.warnings = append(e.warnings, stream.Textf("%s and %s were made from different features: all features are those of either", first.Path, s.Path))
		}
		if w, ok := s.Options["weight"].(string); ok {
			e.warnings = append(e.warnings, stream.Textf("%s was made with rows weighted by %s, and is judged with equal weights", s.Path, w))
		}
	}
	return nil
}

// missingPolicy returns the policy for missing entries while reading, and the values that replace these entries later.
func (e *evaluator) missingPolicy() (stream.MissingPolicy, gram.Fill) {
	q := request.Request{Columns: request.Columns{Missing: e.policyName, Sparse: e.sparse}}
	fill := request.MissingFill(&q)
	if fill == gram.FillPairwise { // clustering cannot use pairwise statistics
		fill = gram.FillMean
	}
	return request.MissingPolicy(&q), fill
}

func uniqueValues(list []int) (once []int) {
	for _, k := range list {
		if !slices.Contains(once, k) {
			once = append(once, k)
		}
	}
	return once
}

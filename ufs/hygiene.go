package ufs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/hygiene"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Suspicious columns, such as identifiers, should not be features. They are recognised from counts (hygiene.Facts) that
// every pass gathers with its statistics. For methods on the Gram matrix or a profile, suspicious columns are removed
// from the gathered statistics. Graph methods and methods over rows need to know these columns before the statistics
// are gathered, so a profile pass over the whole input finds them first.

// missingShareToWarn is the share of missing values above which a column gets a warning.
const missingShareToWarn = 0.5

func (q *Request) excludesSuspects() bool { return q.AutoExclude || q.MaxMissing > 0 }

func (r *run) checkExclusion() error {
	switch {
	case !(r.MaxMissing >= 0 && r.MaxMissing < 1):
		return stream.Usagef("{max-missing} %v: want a share above 0 and below 1, as 0.5", r.MaxMissing)
	case !r.excludesSuspects():
	case r.From == method.FromRows && r.Takes.Cells:
		return stream.Usagef("{auto-exclude} and {max-missing}: method %s takes all cells of a grid; leave columns out by name, {exclude}", r.Name)
	case r.From == method.FromGraph && r.Sparse != "":
		return stream.Usagef("{auto-exclude} and {max-missing}: method %s measures distances between whole sparse rows; choose {method} greedy, or leave them out", r.Name)
	case r.Stats != "" && (r.From == method.FromGraph || r.From == method.FromRows):
		return stream.Usagef("{auto-exclude} and {max-missing}: what %s holds for method %s is of whole rows; leave columns out by name and scan again, {exclude}, or choose {method} greedy", r.Stats, r.Name)
	}
	return nil
}

// refuseExclusion refuses AutoExclude and MaxMissing for commands that make statistics. Statistics keep all columns,
// and the counts with which a later selection can find suspicious columns.
func (q *Request) refuseExclusion(verb string) error {
	if q.excludesSuspects() {
		return stream.Usagef("{auto-exclude} and {max-missing}: a %s keeps all columns, and what tells which to leave out; ask it of select with {stats}", verb)
	}
	return nil
}

func (r *run) newFacts(d int) *hygiene.Facts { return hygiene.New(d, r.Threads, r.readsLabel()) }

// readsLabel reports whether passes read the label to find features that leak it. The sampled rows that a scan keeps do
// not contain the label, so leaks are found from the counts over all rows.
func (r *run) readsLabel() bool { return r.Label != "" && r.Sparse == "" }

func (q *Request) maxMissingShare() float64 {
	if q.MaxMissing > 0 {
		return q.MaxMissing
	}
	return missingShareToWarn
}

func (q *Request) leavesOutSuspect(s hygiene.Suspect) bool {
	return q.AutoExclude || q.MaxMissing > 0 && s.Kind == hygiene.Sparse
}

func (r *run) suspectsToLeaveOut(p *gram.Profile, f *hygiene.Facts, cols []stream.Column) (out []stream.LeftOut) {
	if !r.excludesSuspects() {
		return nil
	}
	for _, s := range f.FindSuspects(p, nil, r.maxMissingShare()) {
		if r.leavesOutSuspect(s) && !isMadeFromTimes(s, cols) {
			out = append(out, cols[s.Column].LeftOut(suspectReason(s, cols, r.Label)))
		}
	}
	return out
}

// isMadeFromTimes reports whether a suspicious column was made on purpose, by converting times to numbers.
func isMadeFromTimes(s hygiene.Suspect, cols []stream.Column) bool {
	return (s.Kind == hygiene.Time || s.Kind == hygiene.ID) && cols[s.Column].Block != ""
}

func suspectReason(s hygiene.Suspect, cols []stream.Column, label string) string {
	switch s.Kind {
	case hygiene.Sparse:
		return fmt.Sprintf("mostly missing (%s of the rows)", formatPercent(s.Share))
	case hygiene.Time:
		return "counts time (" + s.Evidence + ")"
	case hygiene.ID:
		return "looks like an identifier: whole numbers that hardly repeat"
	case hygiene.Leak:
		return fmt.Sprintf("nearly determines the label %s (%s)", label, s.Evidence)
	}
	return fmt.Sprintf("a copy of %s", cols[s.Original].Name)
}

func (r *run) handleSuspects(e *bundle, s *stream.Selection) error {
	profile, raw := e.profile, e.rawProfile
	if raw != nil { // use the profile of the values, not of their normal scores
		profile = raw
	}
	label := r.Label
	if label == "" {
		label = e.options["label"]
	}
	var warned []hygiene.Suspect
	for _, one := range e.facts.FindSuspects(profile, e.takesPart, r.maxMissingShare()) {
		if isMadeFromTimes(one, e.columns) {
			continue
		}
		left := e.columns[one.Column].LeftOut(suspectReason(one, e.columns, label))
		if !r.leavesOutSuspect(one) || e.graph != nil || r.From == method.FromRows {
			warned = append(warned, one)
			s.Suspects = append(s.Suspects, left)
			continue
		}
		e.dropColumn(one.Column)
		s.LeftOut = append(s.LeftOut, left)
	}
	if e.takesPart != nil && !slices.Contains(e.takesPart, true) {
		return stream.Usagef("{auto-exclude} and {max-missing} leave no feature; the first of %s left out, %q: %s", plural(len(s.LeftOut), "column"), s.LeftOut[0].Name, s.LeftOut[0].Why)
	}
	s.Warnings = append(s.Warnings, spellAll(suspectWarnings(warned, e.columns, label), r.Spelling)...)
	if r.AutoExclude && e.facts == nil {
		s.Warnings = append(s.Warnings, stream.Textf("{auto-exclude}: %s was made by an earlier version, which cannot recognise copies, leaks, times and identifiers that do not rise; scan again", r.Stats).Spell(r.Spelling))
	}
	return nil
}

func (e *bundle) dropColumn(j int) {
	if e.takesPart == nil {
		e.takesPart = slices.Repeat([]bool{true}, len(e.columns))
	}
	e.takesPart[j] = false
}

func suspectWarnings(list []hygiene.Suspect, cols []stream.Column, label string) (texts []stream.Text) {
	for _, kind := range []hygiene.Kind{hygiene.Leak, hygiene.ID, hygiene.Time, hygiene.Copy, hygiene.Sparse} { // the most harmful first
		var ofKind []hygiene.Suspect
		for _, s := range list {
			if s.Kind == kind {
				ofKind = append(ofKind, s)
			}
		}
		if len(ofKind) > 0 {
			texts = append(texts, suspectWarning(kind, ofKind, cols, label))
		}
	}
	return texts
}

// maxSuspectsInWarning bounds the suspicious columns that the warning about one kind names. The selection lists all
// suspicious columns.
const maxSuspectsInWarning = 4

func suspectWarning(kind hygiene.Kind, list []hygiene.Suspect, cols []stream.Column, label string) stream.Text {
	var names []string
	for i, s := range list {
		if i == maxSuspectsInWarning && len(list) > maxSuspectsInWarning+1 {
			names = append(names, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		name := cols[s.Column].Name
		switch kind {
		case hygiene.Sparse:
			name += " (" + formatPercent(s.Share) + ")"
		case hygiene.Time, hygiene.Leak:
			name += " (" + s.Evidence + ")"
		case hygiene.Copy:
			name += " (of " + cols[s.Original].Name + ")"
		}
		names = append(names, name)
	}
	isOne := len(list) == 1
	predicates := map[hygiene.Kind][2]string{
		hygiene.Sparse: {"column is mostly missing", "columns are mostly missing"},
		hygiene.Time:   {"column counts time", "columns count time"},
		hygiene.ID:     {"column looks like an identifier", "columns look like identifiers"},
		hygiene.Leak:   {"column nearly determines the label " + label, "columns nearly determine the label " + label},
		hygiene.Copy:   {"column is a copy", "columns are copies"},
	}[kind]
	finding := fmt.Sprintf("%s %s: %s", comma(int64(len(list))), predicates[1], strings.Join(names, ", "))
	if isOne {
		finding = fmt.Sprintf("1 %s: %s", predicates[0], names[0])
	}
	remedy := stream.Textf("{auto-exclude} leaves %s out", pronoun(isOne))
	switch {
	case kind == hygiene.Sparse:
		remedy = stream.Textf("{max-missing} %v leaves %s out", missingShareToWarn, pronoun(isOne))
	case isOne:
		remedy = stream.Textf("{exclude} %s or {auto-exclude} leaves it out", cols[list[0].Column].Name)
	}
	return stream.Textf("%s; %v", finding, remedy)
}

func pronoun(isOne bool) string {
	if isOne {
		return "it"
	}
	return "them"
}

func sentinelWarnings(e *bundle, ds *chunkio.Dataset) []stream.Text {
	var names []string
	var values []float64
	for _, s := range e.facts.FindSentinels(e.takesPart) {
		if e.columns[s.Column].Block != "" { // the column was made from times or categories
			continue
		}
		names = append(names, fmt.Sprintf("%s (%v, in %s of the rows)", e.columns[s.Column].Name, s.Value, formatPercent(s.Share)))
		if !slices.Contains(values, s.Value) {
			values = append(values, s.Value)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(values)
	finding := "1 column has a repeated number that is far outside all others"
	if len(names) > 1 {
		finding = comma(int64(len(names))) + " columns have a repeated number that is far outside all others"
	}
	if len(names) > maxSuspectsInWarning+1 {
		names = append(names[:maxSuspectsInWarning:maxSuspectsInWarning], fmt.Sprintf("and %d more", len(names)-maxSuspectsInWarning))
	}
	const offered = 8
	values = values[:min(len(values), offered)]
	return []stream.Text{stream.Textf("%s: %s; if it stands for a missing value, give {null-values} %s, and {missing} applies", finding, strings.Join(names, ", "), ds.Guesses().NullsWith(values...))}
}

func (e *bundle) readFacts(r *chunkio.StatsReader) error {
	if !r.Has(factsSection) {
		return nil
	}
	e.facts = hygiene.New(len(e.columns), 0, false)
	return readSection(r, factsSection, e.facts)
}

// profileUseless makes a profile pass over the whole input, only to find columns to leave out: columns with missing
// entries that cannot be features, and suspicious columns.
func (p *pass) profileUseless(ctx context.Context, ds *chunkio.Dataset) ([]stream.LeftOut, error) {
	profile := gram.NewProfile(len(ds.Columns()))
	adders, body := []stream.Adder{profile}, []chunkio.Section{{Name: profileSection, Body: profile}}
	var facts *hygiene.Facts
	if p.gatherer.excludesSuspects() {
		facts = p.gatherer.newFacts(len(ds.Columns()))
		adders, body = append(adders, facts), append(body, chunkio.Section{Name: factsSection, Body: facts})
	}
	if err := p.makePass(ctx, ds, passSetup{name: uselessPass, title: "profile", sections: body, alwaysSave: true}, adders...); err != nil {
		return nil, err
	}
	left := p.gatherer.uselessWithMissing(profile, ds.Columns())
	for _, l := range p.gatherer.suspectsToLeaveOut(profile, facts, ds.Columns()) {
		if !slices.ContainsFunc(left, func(known stream.LeftOut) bool { return known.Name == l.Name }) {
			left = append(left, l)
		}
	}
	return left, nil
}

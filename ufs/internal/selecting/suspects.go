package selecting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/judging/hygiene"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// HandleSuspects finds suspicious columns by the facts in e. It leaves them out or warns about them, as requested.
func HandleSuspects(r *settled.Run, e *statistics.Bundle, s *stream.Selection) error {
	profile, raw := e.Profile, e.RawProfile
	if raw != nil { // use the profile of the values, not of their normal scores
		profile = raw
	}
	label := cmp.Or(r.Columns.Label, e.Options["label"])
	var warned []hygiene.Suspect
	for _, one := range e.Facts.FindSuspects(profile, e.TakesPart, request.MaxMissingShare(&r.Request)) {
		if settled.IsMadeFromTimes(one, e.Columns) {
			continue
		}
		left := e.Columns[one.Column].LeftOut(settled.SuspectReason(one, e.Columns, label))
		if !settled.LeavesOutSuspect(r.Columns, one) || e.Graph != nil || r.Bound.From.UsesRows() {
			warned = append(warned, one)
			s.Suspects = append(s.Suspects, left)
			continue
		}
		e.DropColumn(one.Column)
		s.LeftOut = append(s.LeftOut, left)
	}
	if e.TakesPart != nil && !slices.Contains(e.TakesPart, true) {
		return stream.Usagef("{auto-exclude} and {max-missing} leave no feature; the first of %s left out, %q: %s", wording.CountNoun(len(s.LeftOut), "column"), s.LeftOut[0].Name, s.LeftOut[0].Why)
	}
	s.Warnings = append(s.Warnings, wording.SpellAll(SuspectWarnings(warned, e.Columns, label), r.Hooks.Spelling)...)
	if r.Columns.AutoExclude && e.Facts == nil {
		s.Warnings = append(s.Warnings, stream.Textf("{auto-exclude}: %s was made by an earlier version, which cannot recognise copies, leaks, times and identifiers that do not rise; scan again", r.Stats).Spell(r.Hooks.Spelling))
	}
	return nil
}

func SuspectWarnings(list []hygiene.Suspect, cols []stream.Column, label string) (texts []stream.Text) {
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

func suspectWarning(kind hygiene.Kind, list []hygiene.Suspect, cols []stream.Column, label string) stream.Text {
	var names []string
	for i, s := range list {
		if i == wording.MaxSuspectsInWarning && len(list) > wording.MaxSuspectsInWarning+1 {
			names = append(names, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		name := cols[s.Column].Name
		switch kind {
		case hygiene.Sparse:
			name += " (" + wording.FormatPercent(s.Share) + ")"
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
	finding := fmt.Sprintf("%s %s: %s", wording.WithCommas(int64(len(list))), predicates[1], strings.Join(names, ", "))
	if isOne {
		finding = fmt.Sprintf("1 %s: %s", predicates[0], names[0])
	}
	remedy := stream.Textf("{auto-exclude} leaves %s out", wording.ItOrThem(isOne))
	switch {
	case kind == hygiene.Sparse:
		remedy = stream.Textf("{max-missing} %v leaves %s out", request.MissingShareToWarn, wording.ItOrThem(isOne))
	case isOne:
		remedy = stream.Textf("{exclude} %s or {auto-exclude} leaves it out", cols[list[0].Column].Name)
	}
	return stream.Textf("%s; %v", finding, remedy)
}

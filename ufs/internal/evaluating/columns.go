package evaluating

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func useRecordedColumnOptions(e *evaluator) error {
	recorded := e.recordedSelections()
	for i, s := range recorded {
		q := request.Request{Input: request.Input{Texts: e.Input.Texts}}
		if err := request.FillFeatureOptions(&q, s.Options); err != nil {
			return stream.Errorf("%s: %w", s.Path, err)
		}
		if e.RowScale != "" {
			q.Columns.RowScale = e.RowScale
		}
		known, own := request.ListOptions(&e.request, request.MakesFeatures), request.ListOptions(&q, request.MakesFeatures)
		for _, option := range request.OptionNames(request.MakesFeatures) {
			switch a, b := known[option], own[option]; {
			case i == 0, a == b, option == request.OptionCategorical: // the categories themselves are compared
			case option == request.OptionHeader && (a == "" || b == ""): // empty without CSV files
			case slices.Contains(request.OptionNames(request.ReadsText), option):
				return stream.Usagef("%s and %s were made with different readings of text ({header}, {types}, {text}, {null-values}); judge each on its own", recorded[0].Path, s.Path)
			case option == request.OptionFrequencies && e.RowScale != "":
			case option == request.OptionFrequencies:
				return stream.Usagef("%s and %s have rows scaled by the frequencies of different inputs; say by which {rows-scale} to judge both", recorded[0].Path, s.Path)
			case option == request.OptionCategories:
				return stream.Usagef("%s and %s were made with different {categorical}, so of different features; judge each on its own", recorded[0].Path, s.Path)
			default:
				return stream.Usagef("%s and %s were made with different %v, so of different features; judge each on its own", recorded[0].Path, s.Path, stream.Option(option))
			}
		}
		request.FillOptions(&e.request, &q, request.MakesFeatures)
	}
	if e.RowScale != "" { // recorded or not
		e.request.Columns.RowScale = e.RowScale
	}
	if err := request.CheckRowScale(&e.request); err != nil {
		return err
	}
	return useRecordedFeatures(e, recorded)
}

func useRecordedFeatures(e *evaluator, recorded []*NamedSelection) error {
	// A path records the options that chose its features, and does not list the features. The norms of scaled rows are over
	// the features that the options chose, even if the list lacks some.
	if len(recorded) < len(e.Selections) {
		return nil // lists may name other columns
	}
	for _, option := range []string{"columns", "exclude"} {
		text := method.Settings(recorded[0].Options).Text(option)
		differs := func(s *NamedSelection) bool {
			return len(s.Columns) > 0 && e.request.Columns.RowScale == "" || method.Settings(s.Options).Text(option) != text
		}
		if text == "" || slices.ContainsFunc(recorded, differs) {
			continue
		}
		if _, err := request.SetOption(&e.request, option, text); err != nil {
			return stream.Dataf(recorded[0].Path, "option %s: %w", option, err)
		}
	}
	return nil
}

// chooseColumns determines the columns of the table. These are all features from which the selections were made, or
// only the selected features if the other features are not needed.
func chooseColumns(e *evaluator, ds *chunkio.Dataset) error {
	e.hasAllFeatures = e.Label == "" || len(e.Baselines) > 0
	wanted, listed := make(map[string]string), false // wanted maps each needed column to a selection that contains it
	for _, s := range e.Selections {
		for _, f := range s.Selected {
			wanted[f.Name] = s.Path
		}
		listed = listed || len(s.Columns) > 0
	}
	if e.hasAllFeatures && listed {
		for _, s := range e.Selections {
			for _, c := range s.Columns {
				wanted[c.Name] = s.Path
			}
		}
	}
	e.columns, e.index = nil, make(map[string]int)
	known := wording.ColumnNames(ds.Columns())
	for _, c := range ds.Columns() {
		if _, ok := wanted[c.Name]; ok || e.hasAllFeatures && !listed {
			e.index[c.Name] = len(e.columns)
			e.columns = append(e.columns, c)
		}
	}
	return refuseAbsentColumns(e, ds, wanted, known)
}

func refuseAbsentColumns(e *evaluator, ds *chunkio.Dataset, wanted map[string]string, known []string) error {
	var missing []string
	for _, name := range request.SortedKeys(wanted) {
		if _, ok := e.index[name]; !ok {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	why := make(map[string]string)
	for _, l := range ds.LeftOut() {
		why[l.Name] = " (" + l.Why + ")"
	}
	var names []string
	for _, name := range missing[:min(len(missing), wording.MaxNamesInError)] {
		text := fmt.Sprintf("%q", name)
		if why[name] != "" {
			text += why[name]
		} else if near := suggest.NearestName(name, known); near != "" {
			text += fmt.Sprintf(" (did you mean %s?)", near)
		}
		names = append(names, text)
	}
	if n := len(missing) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return stream.Usagef("the input lacks %s of %s: %s", wording.CountNoun(len(missing), "feature"), wanted[missing[0]], strings.Join(names, ", "))
}

func excludeFromNorms(e *evaluator, ds *chunkio.Dataset, opt *chunkio.Options) {
	for _, s := range e.recordedSelections() { // their labels and weights were no features
		for _, option := range []string{"label", "weight"} {
			name := method.Settings(s.Options).Text(option)
			_, isJudged := e.index[name]
			isColumn := slices.ContainsFunc(ds.Columns(), func(c stream.Column) bool { return c.Name == name })
			if opt.RowScale.IsSet() && isColumn && !isJudged && !slices.Contains(opt.Exclude, name) {
				opt.Exclude = append(slices.Clip(opt.Exclude), name)
			}
		}
	}
}

func unjudgedColumns(e *evaluator, ds *chunkio.Dataset) []stream.LeftOut {
	var out []stream.LeftOut
	for _, c := range ds.Columns() {
		if _, ok := e.index[c.Name]; !ok {
			out = append(out, c.LeftOut("not judged"))
		}
	}
	return out
}

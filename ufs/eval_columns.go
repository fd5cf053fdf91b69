package ufs

import (
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// chooseColumns determines the columns of the table. These are all features from which the selections were made, or
// only the selected features if the other features are not needed.
func (e *evaluator) chooseColumns(ds *chunkio.Dataset) error {
	e.hasAllFeatures = e.Label == "" || len(e.Baselines) > 0
	wanted, listed := make(map[string]string), true // wanted maps each needed column to a selection that contains it
	for _, s := range e.Selections {
		for _, f := range s.Selected {
			wanted[f.Name] = s.Path
		}
		listed = listed && len(s.Columns) > 0
	}
	if e.hasAllFeatures && listed {
		for _, s := range e.Selections {
			for _, c := range s.Columns {
				wanted[c.Name] = s.Path
			}
		}
	}
	e.columns, e.index = nil, make(map[string]int)
	known := columnNames(ds.Columns())
	for _, c := range ds.Columns() {
		if _, ok := wanted[c.Name]; ok || e.hasAllFeatures && !listed {
			e.index[c.Name] = len(e.columns)
			e.columns = append(e.columns, c)
		}
	}
	return e.checkPresence(ds, wanted, known)
}

func (e *evaluator) checkPresence(ds *chunkio.Dataset, wanted map[string]string, known []string) error {
	var missing []string
	for _, name := range sortedKeys(wanted) {
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
	for _, name := range missing[:min(len(missing), maxNamesInError)] {
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
	return stream.Usagef("the input lacks %s of %s: %s", plural(len(missing), "feature"), wanted[missing[0]], strings.Join(names, ", "))
}

// maxNamesInError is the number of names that an error lists.
const maxNamesInError = 5

func (e *evaluator) unjudgedColumns(ds *chunkio.Dataset) []stream.LeftOut {
	var out []stream.LeftOut
	for _, c := range ds.Columns() {
		if _, ok := e.index[c.Name]; !ok {
			out = append(out, c.LeftOut("not judged"))
		}
	}
	return out
}

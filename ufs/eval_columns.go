package ufs

import (
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// choose settles the columns of the table: every feature that the selections were made
// from, or the selected ones where nothing more is asked for.
func (e *evaluator) chooseColumns(ds *chunkio.Dataset) error {
	e.whole = e.Label == "" || len(e.Baselines) > 0
	wanted, listed := make(map[string]string), true // and which selection names it
	for _, s := range e.Selections {
		for _, f := range s.Selected {
			wanted[f.Name] = s.Path
		}
		listed = listed && len(s.Columns) > 0
	}
	if e.whole && listed {
		for _, s := range e.Selections {
			for _, c := range s.Columns {
				wanted[c.Name] = s.Path
			}
		}
	}
	e.columns, e.index = nil, make(map[string]int)
	known := columnNames(ds.Columns())
	for _, c := range ds.Columns() {
		if _, ok := wanted[c.Name]; ok || e.whole && !listed {
			e.index[c.Name] = len(e.columns)
			e.columns = append(e.columns, c)
		}
	}
	return e.absent(ds, wanted, known)
}

// absent names the columns that a selection has and the input has not.
func (e *evaluator) absent(ds *chunkio.Dataset, wanted map[string]string, known []string) error {
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
	var said []string
	for _, name := range missing[:min(len(missing), fewNames)] {
		text := fmt.Sprintf("%q", name)
		if why[name] != "" {
			text += why[name]
		} else if near := suggest.Name(name, known); near != "" {
			text += fmt.Sprintf(" (did you mean %s?)", near)
		}
		said = append(said, text)
	}
	if n := len(missing) - len(said); n > 0 {
		said = append(said, fmt.Sprintf("and %d more", n))
	}
	return stream.Usagef("the input lacks %s of %s: %s", plural(len(missing), "feature"), wanted[missing[0]], strings.Join(said, ", "))
}

// fewNames is how many names an error lists.
const fewNames = 5

// others are the features that are not to be read.
func (e *evaluator) others(ds *chunkio.Dataset) []stream.LeftOut {
	var out []stream.LeftOut
	for _, c := range ds.Columns() {
		if _, ok := e.index[c.Name]; !ok {
			out = append(out, c.LeftOut("not judged"))
		}
	}
	return out
}

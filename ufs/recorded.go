package ufs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Recorded is the request that a selection records: what shapes the answer, without inputs,
// limits and outputs. list are the methods to choose from, nil meaning methods.All(). What
// the selection records beyond that is left alone; the number of features selected stands
// for a share that was to be explained.
func Recorded(s *stream.Selection, list []method.Spec) (Request, error) {
	if s == nil {
		return Request{}, stream.Usagef("no selection given")
	}
	q, err := fromRecord(s.Method, s.Options, list)
	q.K, q.Seed, q.Stability = len(s.Selected), s.Seed, 0 // which shapes no answer
	q.Sketch, q.Reads = "", 0                             // who judges the selection has the matrix itself
	return q, err
}

// fromRecord is the request that a method and options, as selections and plans record them,
// stand for.
func fromRecord(name string, settings method.Settings, list []method.Spec) (Request, error) {
	q := Request{Method: name, Methods: list, Options: method.Settings{}}
	if list == nil {
		list = methods.All()
	}
	spec, err := methods.Find(list, name)
	if err != nil {
		return q, err
	}
	declared := spec.Declare().Options
	for option := range settings {
		text := settings.Text(option)
		switch option {
		case "columns":
			q.Columns, err = splitNames(text)
		case "exclude":
			q.Exclude, err = splitNames(text)
		case "keep":
			q.Keep, err = splitNames(text)
		case "groups":
			q.Groups, err = text, isInline(text, groupsPrefix, groupsRegex, groupsLists)
		case "group-most":
			_, err = fmt.Sscan(text, &q.GroupMost)
		case "costs":
			q.Costs, err = text, isInline(text)
		case "budget":
			_, err = fmt.Sscan(text, &q.Budget)
		case "forbid":
			q.Forbid, err = splitNames(text)
		case "label":
			q.Label = text
		case "weight":
			q.Weight = text
		case "sparse":
			q.Sparse = text
		case "where":
			q.Where = text
		case "auto-exclude":
			_, err = fmt.Sscan(text, &q.AutoExclude)
		case "max-missing":
			_, err = fmt.Sscan(text, &q.MaxMissing)
		case "missing":
			q.Missing = text
		case "scale":
			q.Scale = text
		case "rows":
			_, err = fmt.Sscan(text, &q.SampleRows)
		case optionStability:
			_, err = fmt.Sscan(text, &q.Stability)
		case optionSketch:
			q.Sketch = text
		case "passes":
			_, err = fmt.Sscan(text, &q.Reads)
		case "seed":
			_, err = fmt.Sscan(text, &q.Seed)
		default:
			if q.takeColumnOption(option, text) {
				continue
			}
			if declared.Find(option) != nil {
				q.Options[option] = settings[option]
			}
		}
		if err != nil {
			return q, stream.Errorf("option %s: %w", option, err)
		}
	}
	if q.Options["anchors-file"] != nil { // it says how many there are
		delete(q.Options, "anchors")
		delete(q.Options, "anchor-method")
	}
	if _, err := spec.Bind(q.Options); err != nil {
		return q, stream.Errorf("option %w", err)
	}
	return q, nil
}

// isInline refuses a recorded option that is neither JSON nor begins with one of the kinds: a record holds
// groups and costs themselves, so a name in their place is of a file that its maker wants to be opened.
func isInline(text string, kinds ...string) error {
	if isJSON([]byte(text)) || slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(text, kind) }) {
		return nil
	}
	return stream.Errorf("it names the file %s in place of what that holds, and is not read", place.Name(text))
}

// isFileOption reports whether an option of a method names a file.
func isFileOption(option, text string) bool {
	return text != "" && (option == "anchors-file" || option == "tree" && strings.EqualFold(filepath.Ext(text), ".json"))
}

// resolveFiles replaces the files that the options of a record name by what opens them.
func (q *Request) resolveFiles(resolve func(name string) (string, error)) error {
	for option := range q.Options {
		text := q.Options.Text(option)
		if !isFileOption(option, text) {
			continue
		}
		opened, err := resolve(text)
		if err != nil {
			return err
		}
		q.Options[option] = opened
	}
	return nil
}

package ufs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/jsonsize"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RecordedRequest returns the request that a selection records: the options that affect the result, without inputs,
// limits and outputs. list holds the methods to choose from; nil means methods.All(). K is the number of selected
// features, even if the selection was to explain a given share. Other records of the selection are ignored.
func RecordedRequest(s *stream.Selection, list []method.Spec) (Request, error) {
	if s == nil {
		return Request{}, stream.Usagef("no selection given")
	}
	q, err := requestFromRecord(s.Method, s.Options, list)
	q.K, q.Seed, q.Stability = len(s.Selected), s.Seed, 0 // Stability does not change the selection
	q.Sketch, q.Reads = "", 0                             // the selection is judged by the exact Gram matrix
	return q, err
}

func requestFromRecord(name string, settings method.Settings, list []method.Spec) (Request, error) {
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
		if len(text) > maxOptionBytes {
			return q, stream.Errorf("option %s has %d bytes, and none has more than %d", option, len(text), maxOptionBytes)
		}
		switch option {
		case "columns":
			q.Columns, err = splitNames(text)
		case "exclude":
			q.Exclude, err = splitNames(text)
		case "keep":
			q.Keep, err = splitNames(text)
		case "groups":
			q.Groups, err = text, refuseFileName(option, text)
		case "group-most":
			_, err = fmt.Sscan(text, &q.GroupMost)
		case "costs":
			q.Costs, err = text, refuseFileName(option, text)
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
			var known bool
			if known, err = q.setColumnOption(option, text); !known && declared.Find(option) != nil {
				q.Options[option] = settings[option]
			}
		}
		if err != nil {
			return q, stream.Errorf("option %s: %w", option, err)
		}
	}
	if q.Options["anchors-file"] != nil { // the file determines the number of anchors
		delete(q.Options, "anchors")
		delete(q.Options, "anchor-method")
	}
	if _, err := spec.Bind(q.Options); err != nil {
		return q, stream.Errorf("option %w", err)
	}
	return q, nil
}

// maxOptionBytes bounds the size of a recorded option, far above real sizes. 60 MB of categories took 440 MiB of
// memory.
const maxOptionBytes = 16 << 20

// isKindOf reports whether the text of an option equals one of the kinds, or begins with one that ends with a colon.
func isKindOf(text string, kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		return text == kind || strings.HasSuffix(kind, ":") && strings.HasPrefix(text, kind)
	})
}

// namesFile reports whether the text of an option names a file. Text for groups names a file if it is neither JSON nor
// of a kind such as prefix:. Text for costs names a file if it is not JSON, and text for a tree if it is of no kind,
// whatever its ending. Text for anchors always names a file.
func namesFile(option, text string) bool {
	switch option {
	case "groups", "costs":
		return text != "" && !isJSON([]byte(text)) && (option == "costs" || !isKindOf(text, groupsPrefix, groupsRegex, groupsLists))
	case "anchors-file":
		return text != ""
	case "tree":
		return text != "" && !isKindOf(text, groupsPrefix, "image", "correlation") // trees use prefix: too
	}
	return false
}

// refuseFileName refuses a recorded option that names a file. A record contains the groups and costs themselves, so a
// file name in their place is an attempt to have that file opened.
func refuseFileName(option, text string) error {
	if namesFile(option, text) {
		return stream.Errorf("it names the file %s instead of its contents, and is not read", place.DisplayName(text))
	}
	return nil
}

func resolveFiles(options method.Settings, resolve func(name string) (string, error)) error {
	for option := range options {
		text := options.Text(option)
		if !namesFile(option, text) {
			continue
		}
		location, err := resolve(text)
		if err != nil {
			return err
		}
		options[option] = location
	}
	return nil
}

// smallDocumentBytes is the size of a document that fits into the memory that is reserved for the program itself. Most
// selections and headers of statistics are smaller.
const smallDocumentBytes = 4 << 20

// Within calls read with the number of bytes that remain for reading under the memory limit of the process. A memory
// error of read is restated in terms of limit. If limit is 0, there is no limit, and room is 0.
func Within(limit int64, read func(room int64) error) error {
	if limit == 0 {
		return read(0)
	}
	return (&Request{Memory: limit}).errForLimit(read(max(limit-programBytes, smallDocumentBytes)))
}

// ReadSelection reads a Selection from a JSON file or object. opt.Memory is the memory limit of the process.
func ReadSelection(ctx context.Context, path string, opt chunkio.FetchOptions) (*stream.Selection, error) {
	all, err := ReadSelections(ctx, []string{path}, opt)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// ReadSelections reads several selections like ReadSelection. opt.Memory bounds them together.
func ReadSelections(ctx context.Context, paths []string, opt chunkio.FetchOptions) (all []*stream.Selection, err error) {
	err = Within(opt.Memory, func(room int64) error {
		opt.Memory = room
		heldBytes := int64(0)
		for _, path := range paths {
			s, took, err := readSelection(ctx, path, opt, heldBytes)
			if err != nil {
				return err
			}
			all, heldBytes = append(all, s), heldBytes+took
		}
		return nil
	})
	return all, err
}

func readSelection(ctx context.Context, path string, opt chunkio.FetchOptions, heldBytes int64) (s *stream.Selection, size int64, err error) {
	name, room := place.DisplayName(path), opt.Memory
	if room > 0 {
		opt.Memory = max(room-heldBytes, 1)
	}
	text, err := chunkio.ReadAll(ctx, path, opt, stream.Textf("check the path of {selection}"))
	if err == nil {
		size, err = jsonsize.DecodedBytes(ctx, text, reflect.TypeFor[stream.Selection]())
		if need := int64(len(text)) + size; ctx.Err() == nil && room > 0 && need > opt.Memory {
			return nil, 0, &stream.MemoryError{What: "reading " + name, Need: heldBytes + need, Limit: room}
		}
		if err == nil || ctx.Err() == nil { // the decoder reports invalid JSON too
			s, err = stream.DecodeSelection(bytes.NewBuffer(text))
		}
	}
	short, isShort := errors.AsType[*stream.MemoryError](err)
	switch {
	case isShort:
		whole := *short
		whole.Need, whole.Limit = short.Need+heldBytes, room
		return nil, 0, &whole
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case errors.As(err, new(*stream.DataError)), errors.As(err, new(*stream.UsageError)), errors.As(err, new(*stream.OutputError)):
		return nil, 0, err
	case err != nil:
		return nil, 0, errNotSelection(name, err)
	case len(s.Selected) == 0:
		return nil, 0, stream.Dataf(name, "the selection has no features")
	}
	return s, size, nil
}

func errNotSelection(name string, err error) error {
	return &stream.DataError{Path: name, RowGroup: -1, Row: -1, Err: stream.Errorf("not a selection: %w", err), Remedy: stream.Textf("make one with select and {format} json")}
}

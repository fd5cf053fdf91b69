package settled

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/memory/jsonsize"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// RecordedRequest implements ufs.RecordedRequest: it returns the request that a selection records.
func RecordedRequest(s *stream.Selection, list []method.Spec) (request.Request, error) {
	if s == nil {
		return request.Request{}, stream.Usagef("no selection given")
	}
	q, err := RequestFromRecord(s.Method, s.Options, list)
	q.Choice.K, q.Choice.Variance, q.Choice.MinGain = len(s.Selected), 0, 0
	q.Choice.Seed, q.Choice.Stability = s.Seed, 0 // Stability does not change the selection
	q.Choice.Sketch, q.Choice.Reads = "", 0       // the selection is judged by the exact Gram matrix
	return q, err
}

func RequestFromRecord(name string, settings method.Settings, list []method.Spec) (request.Request, error) {
	q := request.Request{Choice: request.Choice{Method: name, Methods: list, Options: method.Settings{}}}
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
		isKnown, err := request.SetOption(&q, option, text)
		switch {
		case isKnown && err == nil:
			err = refuseFileName(option, text)
		case !isKnown && declared.Find(option) != nil:
			q.Choice.Options[option] = settings[option]
		}
		if err != nil {
			return q, stream.Errorf("option %s: %w", option, err)
		}
	}
	if q.Choice.Options["anchors-file"] != nil { // the file determines the number of anchors
		delete(q.Choice.Options, "anchors")
		delete(q.Choice.Options, "anchor-method")
	}
	if _, err := spec.Bind(q.Choice.Options); err != nil {
		return q, stream.Errorf("option %w", err)
	}
	return q, nil
}

// maxOptionBytes bounds the size of a recorded option, far above real sizes. 60 MB of categories took 440 MiB.
const maxOptionBytes = 16 << 20

// refuseFileName refuses a recorded option that names a file. A record contains the groups and costs themselves, so a
// file name in their place is an attempt to have that file opened.
func refuseFileName(option, text string) error {
	if request.NamesFile(option, text) {
		return stream.Errorf("it names the file %s instead of its contents, and is not read", place.DisplayName(text))
	}
	return nil
}

// ResolveFiles replaces the name of each file among the options by the result of resolve.
func ResolveFiles(options method.Settings, resolve func(name string) (string, error)) error {
	for option := range options {
		text := options.Text(option)
		if !request.NamesFile(option, text) {
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

// ReadSelection implements ufs.ReadSelection: it reads a Selection from a JSON file or object.
func ReadSelection(ctx context.Context, path string, opt chunkio.FetchOptions) (*stream.Selection, error) {
	all, err := ReadSelections(ctx, []string{path}, opt)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// ReadSelections implements ufs.ReadSelections: it reads several selections like ReadSelection.
func ReadSelections(ctx context.Context, paths []string, opt chunkio.FetchOptions) (all []*stream.Selection, err error) {
	read, err := readFiles(ctx, paths, opt, decodeSelection)
	for _, rankings := range read {
		all = append(all, rankings[0].Selection)
	}
	return all, err
}

// ReadRankings reads the rankings of features in each file: a selection, a path, or a list of names from another program.
// A path may have several.
func ReadRankings(ctx context.Context, paths []string, opt chunkio.FetchOptions) ([][]Ranking, error) {
	return readFiles(ctx, paths, opt, decodeRankings)
}

// A decoder returns the rankings of the file with the given name and content, and the memory that they need. room is
// the memory for these and the text, or 0 if there is no limit.
type decoder func(ctx context.Context, name string, text []byte, room int64) (list []Ranking, size int64, err error)

func readFiles(ctx context.Context, paths []string, opt chunkio.FetchOptions, decode decoder) (all [][]Ranking, err error) {
	err = budget.ReadWithin(opt.Memory, func(room int64) error {
		opt.Memory = room
		heldBytes := int64(0)
		for _, path := range paths {
			list, took, err := readFile(ctx, path, opt, heldBytes, decode)
			if err != nil {
				return err
			}
			all, heldBytes = append(all, list), heldBytes+took
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func readFile(ctx context.Context, path string, opt chunkio.FetchOptions, heldBytes int64, decode decoder) (list []Ranking, size int64, err error) {
	name, room := place.DisplayName(path), opt.Memory
	if room > 0 {
		opt.Memory = max(room-heldBytes, 1)
	}
	text, err := chunkio.ReadAll(ctx, path, opt, stream.Textf("check the path of {selection}"))
	if err == nil {
		list, size, err = decode(ctx, name, text, opt.Memory)
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
		return nil, 0, &stream.DataError{Path: name, RowGroup: -1, Row: -1, Err: stream.Errorf("not a selection: %w", err), Remedy: stream.Textf("make one with select and {format} json")}
	case len(list) == 0:
		return nil, 0, stream.Dataf(name, "the path has no settings")
	}
	for _, r := range list {
		if len(r.Selected) == 0 {
			return nil, 0, stream.Dataf(name, "the selection has no features")
		}
	}
	return list, size, nil
}

func decodeSelection(ctx context.Context, name string, text []byte, room int64) ([]Ranking, int64, error) {
	s, size, err := decodeWithin(ctx, name, text, room, stream.DecodeSelection)
	return []Ranking{{Selection: s}}, size, err
}

// decodeWithin decodes a JSON document if the memory has room for its text and its values. size is that of the values.
func decodeWithin[T any](ctx context.Context, name string, text []byte, room int64, decode func(io.Reader) (*T, error)) (value *T, size int64, err error) {
	size, _ = jsonsize.DecodedBytes(ctx, text, reflect.TypeFor[T]())
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if need := int64(len(text)) + size; room > 0 && need > room {
		return nil, 0, &stream.MemoryError{What: "reading " + name, Need: need, Limit: room}
	}
	value, err = decode(bytes.NewBuffer(text)) // it reports invalid JSON, of which DecodedBytes gives an error too
	return value, size, err
}

package ufs

import (
	"bytes"
	"context"
	"errors"
	"reflect"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/jsonsize"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// smallDocument is what a document may take that is within the program's own share of the memory: most selections
// and headers of statistics.
const smallDocument = 4 << 20

// Within has read do with what a memory limit leaves beside the program, and its complaint be about the limit; 0
// means no limit.
func Within(limit int64, read func(room int64) error) error {
	if limit == 0 {
		return read(0)
	}
	return (&Request{Memory: limit}).wholeLimit(read(max(limit-programBytes, smallDocument)))
}

// ReadSelection reads a Selection from a JSON file or object. opt.Memory is the memory limit of the process.
func ReadSelection(ctx context.Context, path string, opt chunkio.FetchOptions) (*stream.Selection, error) {
	all, err := ReadSelections(ctx, []string{path}, opt)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// ReadSelections is ReadSelection of several, which are held together.
func ReadSelections(ctx context.Context, paths []string, opt chunkio.FetchOptions) (all []*stream.Selection, err error) {
	err = Within(opt.Memory, func(room int64) error {
		opt.Memory = room
		held := int64(0)
		for _, path := range paths {
			s, took, err := readSelection(ctx, path, opt, held)
			if err != nil {
				return err
			}
			all, held = append(all, s), held+took
		}
		return nil
	})
	return all, err
}

// readSelection reads a Selection where there is room for it beside what is held, and says what it takes.
func readSelection(ctx context.Context, path string, opt chunkio.FetchOptions, held int64) (s *stream.Selection, took int64, err error) {
	name, room := place.Name(path), opt.Memory
	if room > 0 {
		opt.Memory = max(room-held, 1)
	}
	text, err := chunkio.ReadAll(ctx, path, opt, stream.Textf("check the path of {selection}"))
	if err == nil {
		took, err = jsonsize.Of(ctx, text, reflect.TypeFor[stream.Selection]())
		if need := int64(len(text)) + took; ctx.Err() == nil && room > 0 && need > opt.Memory {
			return nil, 0, &stream.MemoryError{What: "reading " + name, Need: held + need, Limit: room}
		}
		if err == nil || ctx.Err() == nil { // what is no JSON the decoder finds out too
			s, err = stream.DecodeSelection(bytes.NewBuffer(text))
		}
	}
	short, tooLittle := errors.AsType[*stream.MemoryError](err)
	switch {
	case tooLittle:
		whole := *short
		whole.Need, whole.Limit = short.Need+held, room
		return nil, 0, &whole
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case errors.As(err, new(*stream.DataError)), errors.As(err, new(*stream.UsageError)), errors.As(err, new(*stream.OutputError)):
		return nil, 0, err
	case err != nil:
		return nil, 0, notSelection(name, err)
	case len(s.Selected) == 0:
		return nil, 0, stream.Dataf(name, "the selection has no features")
	}
	return s, took, nil
}

func notSelection(name string, err error) error {
	return &stream.DataError{Path: name, RowGroup: -1, Row: -1, Err: stream.Errorf("not a selection: %w", err), Remedy: stream.Textf("make one with select and {format} json")}
}

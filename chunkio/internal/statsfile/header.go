package statsfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"reflect"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/memory/jsonsize"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ReadStatsHeader implements chunkio.ReadStatsHeader: it reads the header of the container at path.
func ReadStatsHeader(ctx context.Context, path string, opt storage.FetchOptions) (StatsHeader, error) {
	h, err := ReadStatsHead(ctx, path, nil, opt)
	return h.Header, err
}

// StatsHead is the header of a statistics container whose remaining bytes have not been read. OpenStatsAs opens this
// container later.
type StatsHead struct {
	Header StatsHeader
	Check  uint64 // digest of the header's bytes
	Took   int64  // bytes of memory used to read it

	lists rawLists // undecoded lists of Header
}

// rawLists contains the undecoded lists of a header, which are often equal in many files.
type rawLists struct{ columns, leftOut, decided []byte }

// ReadStatsHead implements chunkio.ReadStatsHead: it reads the header of a container that is opened later.
func ReadStatsHead(ctx context.Context, path string, like *StatsHead, opt storage.FetchOptions) (StatsHead, error) {
	file, size, err := openFileBeginning(ctx, path, opt)
	if err != nil {
		return StatsHead{}, storage.ErrFetch(path, err, stream.Textf("check the path and its permissions"))
	}
	defer file.Close()
	s := &StatsReader{path: place.DisplayName(path), file: file, like: like, memory: opt.Memory}
	if err := s.readHeader(ctx, newStatsCursor(file, size)); err != nil {
		if placed := (*stream.DataError)(nil); errors.As(err, &placed) || ctx.Err() != nil {
			return StatsHead{}, err
		}
		return StatsHead{}, errStats(s.path, err)
	}
	return StatsHead{s.Header, s.headerCheck, s.tookBytes, s.lists}, nil
}

// decodeHeader decodes the JSON of a header, except for the lists shared with s.like.
func (s *StatsReader) decodeHeader(ctx context.Context, text []byte) error {
	var h struct {
		StatsHeader
		Columns  json.RawMessage `json:"columns,omitempty"` // in place of the fields of StatsHeader, like the next three
		LeftOut  json.RawMessage `json:"left_out,omitempty"`
		Decided  json.RawMessage `json:"decided,omitempty"`
		Warnings json.RawMessage `json:"warnings,omitempty"`
	}
	s.heldBytes = int64(len(text))
	if err := s.decodeStrictly(ctx, text, &h); err != nil {
		return err
	}
	if err := h.checkCounts(); err != nil {
		return err
	}
	if n, err := jsonsize.CountElements(ctx, h.Warnings); err != nil {
		return err
	} else if n > mostWarnings {
		return stream.Errorf("it has %d warnings, at most %d are possible", n, mostWarnings)
	}
	s.Header, s.lists = h.StatsHeader, rawLists{h.Columns, h.LeftOut, h.Decided}
	like := cmp.Or(s.like, new(StatsHead))
	columns, err1 := decodeList(ctx, s, &s.lists.columns, like.lists.columns, like.Header.Columns, checkStatsColumns)
	leftOut, err2 := decodeList(ctx, s, &s.lists.leftOut, like.lists.leftOut, like.Header.LeftOut, nil)
	decided, err3 := decodeList(ctx, s, &s.lists.decided, like.lists.decided, like.Header.Decided, nil)
	warnings, err4 := decodeList[string](ctx, s, (*[]byte)(&h.Warnings), nil, nil, nil)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return err
	}
	s.Header.Columns, s.Header.LeftOut, s.Header.Decided, s.Header.Warnings = columns, leftOut, decided, warnings
	return nil
}

// mostWarnings exceeds the number of warnings of any run, because warnings about columns are grouped. A damaged header
// of 150 MB had 15 million warnings, and reading it took 1.9 GB.
const mostWarnings = 10_000

func limitWarnings(warnings []string) []string {
	if len(warnings) <= mostWarnings {
		return warnings
	}
	return append(stream.WarningsBySeverity(warnings)[:mostWarnings-1:mostWarnings-1], fmt.Sprintf("and %d more warnings", len(warnings)-mostWarnings+1))
}

// decodeList decodes and checks the list whose bytes are *written. The parameter like is a list that was decoded
// before, from the bytes in the parameter as. If *written has the same bytes, decodeList returns like and sets *written
// to as, so that equal lists share memory.
func decodeList[T any](ctx context.Context, s *StatsReader, written *[]byte, as []byte, like []T, check func([]T) error) (list []T, err error) {
	switch {
	case len(*written) == 0:
		return nil, nil
	case bytes.Equal(*written, as):
		*written = as
		return slices.Clip(like), nil
	}
	if err = s.decodeStrictly(ctx, *written, &list); err == nil && check != nil {
		err = check(list)
	}
	return list, err
}

// decodeStrictly decodes a part of the header, if the memory has room for it. The JSON decoder needs room for a copy of
// the text in a buffer that grows, and for the previous buffer, which has half the size.
func (s *StatsReader) decodeStrictly(ctx context.Context, text []byte, into any) error {
	size, err := jsonsize.DecodedBytes(ctx, text, reflect.TypeOf(into).Elem())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.heldBytes += size
	need := s.heldBytes + 3*int64(len(text))
	if s.tookBytes = max(s.tookBytes, need); s.memory > 0 && need > s.memory {
		return &stream.MemoryError{What: "the header of " + s.path, Need: need, Limit: s.memory, AtLeast: true}
	}
	if err != nil && json.Valid(text) {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return stream.PlainJSON(err)
	}
	if d.InputOffset() < int64(len(text)) {
		return errors.New("text follows it")
	}
	return nil
}

// readerAtCloser is a file, or an object that is read in place.
type readerAtCloser interface {
	io.ReaderAt
	io.Closer
}

func openFileBeginning(ctx context.Context, path string, opt storage.FetchOptions) (readerAtCloser, int64, error) {
	if !place.IsURL(path) {
		f, err := storage.FetchFile(ctx, path, opt)
		if err != nil {
			return nil, 0, stream.Errorf("cannot be opened: %w", err)
		}
		fi, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, 0, err
		}
		return f, fi.Size(), nil
	}
	l, err := store.Parse(path)
	if err != nil {
		return nil, 0, err
	}
	client := storage.NewClient(opt)
	o, err := client.Stat(ctx, l)
	if err != nil {
		return nil, 0, err
	}
	return objectInPlace(func(b []byte, at int64) error { return client.Read(ctx, o, b, at) }), o.Size, nil
}

// objectInPlace reads ranges of an object, each by a request.
type objectInPlace func(b []byte, at int64) error

func (read objectInPlace) ReadAt(b []byte, at int64) (int, error) {
	if err := read(b, at); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (objectInPlace) Close() error { return nil }

// FindStatsHeader implements chunkio.FindStatsHeader: it reads a header if the file exists.
func FindStatsHeader(ctx context.Context, path string, opt storage.FetchOptions) (h StatsHeader, found bool, err error) {
	head, err := ReadStatsHead(ctx, path, nil, opt)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrNotExist) {
		return h, false, nil
	}
	if err == nil && !place.IsURL(path) {
		var s *StatsReader
		if s, err = OpenStatsAs(ctx, path, head, opt); err == nil {
			err = s.Close()
		}
	}
	return head.Header, err == nil, err
}

// checkCounts refuses a header with an impossible number of rows or bytes, range of rows or set of shards, because
// users of the header rely on these. A checksum detects damage, but not a header that no program could have written.
func (h *StatsHeader) checkCounts() error {
	if h.Part != nil {
		if err := h.Part.Check(); err != nil {
			return err
		}
	}
	if l := h.Losses; l != nil {
		if err := checkRanges(l.Inputs, l.Ranges); err != nil {
			return err
		}
	}
	if (h.Since != nil || h.Losses != nil) && (h.Table == nil || h.Since == nil) || h.Subtracted < 0 {
		return errors.New("it has changes of no table, or since no version")
	}
	return checkRanges(h.Inputs, h.Ranges)
}

func checkRanges(inputs []stream.Input, ranges []stream.Range) error {
	var rows int64
	for _, in := range inputs {
		if in.Rows < 0 || in.Bytes < 0 || in.Rows > math.MaxInt64-rows {
			return fmt.Errorf("an input %q of %d rows and %d bytes cannot be", in.Path, in.Rows, in.Bytes)
		}
		rows += in.Rows
	}
	var last int64
	for _, r := range ranges {
		if r.From < last || r.To < r.From || r.To > rows {
			return fmt.Errorf("the range of rows %d to %d of %d is not possible after row %d", r.From, r.To, rows, last)
		}
		last = r.To
	}
	return nil
}

func checkStatsColumns(columns []stream.Column) error {
	seen := make(map[string]bool, len(columns))
	for _, c := range columns {
		if seen[c.Name] {
			return fmt.Errorf("column %q occurs twice", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

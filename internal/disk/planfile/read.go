package planfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/ufs-stream/ufs-stream/internal/memory/jsonsize"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Reader reads a plan, one file at a time.
type Reader struct {
	Header Header

	in        *json.Decoder
	text      *boundedText
	digest    *digester
	filesRead int
}

// Open reads the header of a plan, like OpenWithin but without a context and a memory limit.
func Open(in io.Reader) (*Reader, error) { return OpenWithin(context.Background(), in, 0) }

// OpenWithin reads the header of a plan. Next then returns the files, and verifies the ID at the very end. Reading ends
// with ctx, or with a *stream.MemoryError if the header or a file would need more than `memory` bytes; 0 means no
// limit, and a limit below 8 MiB means 8 MiB. Without a limit, a header with a list of 75 MB needed 1.6 GB.
func OpenWithin(ctx context.Context, in io.Reader, memory int64) (*Reader, error) {
	if memory > 0 {
		memory = max(memory, minMemory)
	}
	text := &boundedText{ctx: ctx, in: in, memory: memory, readLimit: memory / headerShare}
	r := &Reader{in: json.NewDecoder(text), text: text}
	// A field that a newer program wrote and this program does not know must not be ignored.
	r.in.DisallowUnknownFields()
	if err := r.expectDelimiter(json.Delim('{')); err != nil {
		return nil, err
	}
	// The fields of the header precede the files. They are collected into an object, which is decoded into Header.
	fields := map[string]json.RawMessage{}
	for {
		key, err := r.in.Token()
		if err != nil {
			return nil, explainJSONError(err)
		}
		name, ok := key.(string)
		if !ok {
			return nil, errors.New("it is no plan: it has no files")
		}
		if name == "files" {
			break
		}
		var value json.RawMessage
		if err := r.in.Decode(&value); err != nil {
			return nil, explainJSONError(err)
		}
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("it has %q twice", name)
		}
		fields[name] = value
		if name == "schema" && string(value) != `"`+Schema+`"` {
			return nil, fmt.Errorf("its schema is %s, not %q: another version of the program made it, or it is no plan", value, Schema)
		}
	}
	if err := r.decodeHeader(fields); err != nil {
		return nil, err
	}
	return r, r.expectDelimiter(json.Delim('['))
}

func (r *Reader) decodeHeader(fields map[string]json.RawMessage) error {
	if _, ok := fields["schema"]; !ok {
		return fmt.Errorf("it is no plan: no schema, which would be %q", Schema)
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if memory := r.text.memory; memory > 0 {
		size, err := jsonsize.DecodedBytes(r.text.ctx, whole, reflect.TypeFor[Header]())
		if need := 4*int64(len(whole)) + size; need > memory { // the text exists four times: fields, whole, decoder, digest
			return r.text.errTooLong(need)
		}
		if ctxErr := r.text.ctx.Err(); err != nil && ctxErr != nil {
			return ctxErr
		}
	}
	d := json.NewDecoder(bytes.NewReader(whole))
	d.DisallowUnknownFields()
	if err := d.Decode(&r.Header); err != nil {
		return stream.PlainJSON(err)
	}
	r.digest, err = newDigester(r.Header)
	return err
}

// Next returns the next file. After the last file it verifies the plan and returns io.EOF.
func (r *Reader) Next() (File, error) {
	if !r.in.More() {
		return File{}, r.checkEnd()
	}
	r.text.readLimit = r.in.InputOffset() + r.text.memory/fileShare
	var f File
	if err := r.in.Decode(&f); err != nil {
		return File{}, fmt.Errorf("file %d: %w", r.filesRead+1, explainJSONError(err))
	}
	if f.Path == "" {
		return File{}, fmt.Errorf("file %d: no path", r.filesRead+1)
	}
	r.filesRead++
	return f, r.digest.addFile(f)
}

func (r *Reader) checkEnd() error {
	for _, end := range []json.Delim{']', '}'} {
		if err := r.expectDelimiter(end); err != nil {
			return err
		}
	}
	if _, err := r.in.Token(); err != io.EOF {
		return errors.New("there is text after its end")
	}
	if r.filesRead != r.Header.Count {
		return fmt.Errorf("it has %d files, and its header says %d", r.filesRead, r.Header.Count)
	}
	if id := r.digest.shortHex(); id != r.Header.ID {
		return fmt.Errorf("its ID is %s, and its contents have %s: it was changed after it was made", r.Header.ID, id)
	}
	return io.EOF
}

func (r *Reader) expectDelimiter(want json.Delim) error {
	got, err := r.in.Token()
	if err != nil {
		return explainJSONError(err)
	}
	if got != want {
		return fmt.Errorf("it is no plan: %v instead of %v", got, want)
	}
	return nil
}

// explainJSONError turns an error of reading JSON into a message for an early end, for a lack of memory, or for a file
// that is not JSON.
func explainJSONError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early: it was cut off")
	}
	if short := (*stream.MemoryError)(nil); errors.As(err, &short) {
		return short
	}
	plain := stream.PlainJSON(err)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && plain.Error() == err.Error() {
		return errors.New("it is no plan: it is not JSON")
	}
	return plain
}

// The text of the header may use 1/headerShare of the memory, and the text of one file 1/fileShare. A decoded text
// needs up to 20 times as much memory. Only one file is in memory at a time.
const (
	minMemory   = 8 << 20
	headerShare = 8
	fileShare   = 64
)

// boundedText reads the text of a plan. It fails when ctx has ended, and when readLimit bytes have been read.
type boundedText struct {
	ctx                  context.Context //nolint:containedctx // for Read, which has no parameter for a context
	in                   io.Reader
	memory               int64 // 0 means no bound
	bytesRead, readLimit int64 // bytes
}

func (t *boundedText) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	if t.memory > 0 {
		if t.bytesRead >= t.readLimit {
			return 0, t.errTooLong(2 * t.memory) // the rest of the text is not read, so it is not known how much memory it needs
		}
		p = p[:min(int64(len(p)), t.readLimit-t.bytesRead)]
	}
	n, err := t.in.Read(p)
	t.bytesRead += int64(n)
	return n, err
}

func (t *boundedText) errTooLong(need int64) error {
	return &stream.MemoryError{What: "reading the plan", Need: need, Limit: t.memory, AtLeast: true}
}

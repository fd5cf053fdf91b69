package chunkio

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// isText reports whether a file is libsvm text, which only its name can tell.
func isText(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return strings.HasSuffix(name, ".svm") || strings.HasSuffix(name, ".libsvm")
}

// DefaultSparse is the Options.Sparse that inputs ask for by their names: libsvm text has no
// columns but its rows and their labels. It is empty for others.
func DefaultSparse(inputs []string) string {
	if slices.ContainsFunc(inputs, isText) {
		return svm.Entries
	}
	return ""
}

// textTables holds the rows of the libsvm texts and triples that were opened, in scratch files without a name, until
// close. A text that changes later changes nothing.
type textTables struct {
	mu     sync.Mutex
	tables map[string]*svm.Table
	spools map[*textSpool]struct{} // the scratch files that are open
	bytes  int64                   // in the scratch files

	rows    map[string]*takenIn // files of rows, by name
	held    int64               // that taking one of them in held at most
	least   int64               // and would have at least
	triples tripleTables
}

// openText opens libsvm text. The first time its rows are written to a scratch file.
func (a *access) openText(ctx context.Context, in Input, memory int64) (format.File, error) {
	t, name := &a.texts, in.Name()
	if format.IsFar(in) {
		return nil, stream.Usagef("%s: libsvm text is read from a local file; copy it there first", name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.tables[name]; known != nil {
		return known.Open(in), nil
	}
	spool, err := t.spool(a.opt.Spool, "ufs-text")
	if err != nil {
		return nil, err
	}
	table, err := parseText(ctx, in, spool, memory)
	if err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	if t.tables == nil {
		t.tables = map[string]*svm.Table{}
	}
	t.tables[name] = table
	return table.Open(in), nil
}

func parseText(ctx context.Context, in Input, spool *textSpool, memory int64) (*svm.Table, error) {
	var from io.Reader = io.NewSectionReader(in, 0, in.Size())
	if strings.HasSuffix(strings.ToLower(in.Name()), ".gz") {
		unzip, err := gzip.NewReader(from)
		if err != nil {
			return nil, stream.Dataf(in.Name(), "%w", err)
		}
		defer unzip.Close()
		from = unzip
	}
	return svm.Parse(ctx, in.Name(), from, spool, memory)
}

// spool makes a scratch file that counts among those of all texts.
func (t *textTables) spool(opt scratch.Options, stem string) (*textSpool, error) {
	s := &textSpool{in: t, limit: opt.Limit, scratch: scratch.New(opt)}
	var err error
	if s.Spool, err = atomicfile.NewSpool(s.scratch.Dir(), stem); err != nil {
		return nil, err
	}
	if t.spools == nil {
		t.spools = map[*textSpool]struct{}{}
	}
	t.spools[s] = struct{}{}
	return s, nil
}

// close gives all scratch files back. Nothing can be read from them any more.
func (t *textTables) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for s := range t.spools {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// textSpool is a scratch file that grows within the limit of all.
type textSpool struct {
	*atomicfile.Spool
	in      *textTables
	limit   int64 // bytes of all; 0 means no bound
	scratch *scratch.Space
}

// Close gives the space back.
func (s *textSpool) Close() error {
	delete(s.in.spools, s)
	return s.Spool.Close()
}

func (s *textSpool) Write(p []byte) (int, error) {
	s.in.bytes += int64(len(p))
	if s.limit > 0 && s.in.bytes > s.limit {
		return 0, &stream.MemoryError{What: "scratch for rows", Need: s.in.bytes, Limit: s.limit, Option: stream.ScratchSize}
	}
	n, err := s.Spool.Write(p)
	if err != nil {
		err = s.scratch.Full(err)
	}
	return n, err
}

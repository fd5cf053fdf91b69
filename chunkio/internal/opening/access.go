package opening

import (
	"context"
	"errors"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Access finds and opens files on disk and in object stores.
type Access struct {
	Options      settings.Options
	Objects      *storage.ObjectStore
	Texts        TextTables
	BorrowsTexts bool // texts belongs to a *Stdin, which closes it
	// GuessedFiles contains files found in folders. They count as data only because of the shape of their lines.
	GuessedFiles    map[string]bool
	SearchedFolders map[string]bool // folders in stores already searched for a table

	ExactIntegers bool            // whole numbers in files of rows stay exact, because they are copied
	AcceptsText   bool            // any column of a file of rows may become text; set by Convert
	numberColumns map[string]bool // names of columns that must be numbers; made at the first lookup
	// WriteRows, if not nil, converts the rows of a file in place of writeToScratch.
	WriteRows func(ctx context.Context, from intake.Input, opt intake.Options) (*ScratchRows, error)
}

// NewAccess returns an Access for one run.
func NewAccess(opt settings.Options) *Access {
	objects := storage.NewObjectStore(store.Options{Anonymous: opt.Anonymous, Meter: opt.Meter}, opt.Memory)
	return &Access{Options: opt, SearchedFolders: map[string]bool{}, Objects: objects}
}

// Close removes the scratch files of opened files, unless they belong to a *Stdin.
func (a *Access) Close() error {
	if a.BorrowsTexts {
		return nil
	}
	return a.Texts.closeScratch()
}

// Opener opens the file of an entry, using at most memory bytes, and also returns the Input with its bytes. The catalog
// calls it again for each file at every pass. If meter is not nil, it counts the reads after the footer has been read.
// The context covers all later reads. Tests use an opener for files in memory.
type Opener func(ctx context.Context, e storage.Entry, memory int64, meter *stream.Meter) (format.File, storage.Input, error)

// OpenEntry is an [Opener].
func (a *Access) OpenEntry(ctx context.Context, e storage.Entry, memory int64, meter *stream.Meter) (format.File, storage.Input, error) {
	in, err := a.OpenEntryBytes(ctx, e, memory)
	if err != nil {
		return nil, nil, err
	}
	return a.OpenInput(ctx, in, memory, meter)
}

// OpenEntryBytes opens the bytes of an entry, and checks them against the log or the plan that lists it.
func (a *Access) OpenEntryBytes(ctx context.Context, e storage.Entry, memory int64) (storage.Input, error) {
	var in storage.Input
	var err error
	if store.IsURL(e.Path) {
		in, err = a.Objects.OpenObject(ctx, e, memory)
	} else {
		in, err = storage.OpenFile(ctx, e.Path)
	}
	if fault := e.CheckAgainstLog(in, err); fault != nil {
		if err == nil {
			in.Close()
		}
		return nil, fault
	}
	return in, nil
}

// OpenInput opens the file whose bytes are in. If it fails, it closes in.
func (a *Access) OpenInput(ctx context.Context, in storage.Input, memory int64, meter *stream.Meter) (format.File, storage.Input, error) {
	counted := &storage.CountingInput{Input: in}
	opened, err := a.OpenByFormat(ctx, counted, memory)
	if names := settings.TripleColumns(a.Options.Sparse); err == nil && names != nil && !IsLibsvm(in.Name()) {
		opened, err = a.openTriples(ctx, opened, counted, names, memory)
	}
	if err == nil {
		if o, ok := in.(*storage.Object); ok {
			err = a.Objects.KeepFooter(o)
		}
	}
	if err != nil {
		in.Close()
		return nil, nil, err
	}
	counted.Meter.Store(meter)
	return opened, in, nil
}

// FootersAhead is the number of objects whose ends are requested at once, as long as the footers need no more than an
// eighth of the memory. Requested one by one, the footers of 1,000 files would take a minute if a request takes 50 ms.
const FootersAhead = 16

// OpenByFormat opens a file by its format.
func (a *Access) OpenByFormat(ctx context.Context, in storage.Input, memory int64) (format.File, error) {
	magic, err := storage.ReadMagic(in)
	if err != nil {
		return nil, err
	}
	switch magic {
	case parquet.Magic:
		return parquet.Open(in, memory)
	case ipc.Magic:
		return ipc.Open(in, memory)
	}
	if IsLibsvm(in.Name()) {
		return a.openLibsvm(ctx, in, memory)
	}
	head, err := storage.ReadHead(in)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(head, parquet.EncryptedMagic) {
		return parquet.Open(in, memory) // fails with the error for encrypted files
	}
	kind, packing, _, err := detectRows(in, head)
	switch {
	case err != nil:
		return nil, err
	case kind != intake.None:
		return a.openRows(ctx, in, kind, packing, memory)
	case ipc.IsStream(in, head):
		return ipc.OpenStream(in, memory)
	}
	e := stream.Dataf(in.Name(), "neither a Parquet file (PAR1) nor an Arrow IPC file or stream, a NumPy array or Avro by its first bytes, nor text by its name (.csv, .tsv, .jsonl, .ndjson, .svm, .libsvm) or by its lines")
	e.Remedy = stream.Textf("name a text so, or hand it over on standard input, where - finds out what it is")
	return nil, e
}

// detectRows finds the row format and the compression of an input that begins with head and has no magic word of
// Parquet or Arrow: by its first bytes, by its name, or by the shape of its lines. In the last case guess is true.
func detectRows(in storage.Input, head string) (kind intake.Format, packing string, guess bool, err error) {
	packing, kind = intake.SniffPacking([]byte(head)), FormatByName(in.Name())
	if magic := intake.SniffFormat([]byte(head)); magic == intake.NPY || magic == intake.Avro {
		kind = magic
	}
	if kind != intake.None || ipc.IsStream(in, head) {
		return kind, packing, false, nil
	}
	for _, n := range []int64{intake.RecognizeBytes, intake.RecognizeMost} {
		begin := make([]byte, min(in.Size(), n))
		if err := format.ReadAt(in, begin, 0); err != nil {
			return kind, packing, false, stream.Dataf(in.Name(), "%w", err)
		}
		var more bool
		if kind, packing, more = intake.Recognize(begin, in.Size() <= n); !more {
			break
		}
	}
	return kind, packing, kind == intake.CSV || kind == intake.NDJSON, nil
}

// HoldsData reports whether an input with an unknown ending contains data, and whether this is a guess from the shape
// of its lines.
func HoldsData(in storage.Input) (data, guess bool, err error) {
	magic, err := storage.ReadMagic(in)
	if err != nil || magic != "" {
		return err == nil, false, err
	}
	head, err := storage.ReadHead(in)
	if err != nil || strings.HasPrefix(head, parquet.EncryptedMagic) {
		return err == nil, false, err
	}
	kind, _, guess, err := detectRows(in, head)
	return kind != intake.None || err == nil && ipc.IsStream(in, head), guess, err
}

// IsReadAtOpening reports whether a file of this name is read to its end when it is opened.
func IsReadAtOpening(name string) bool { return IsLibsvm(name) || FormatByName(name) != intake.None }

func (a *Access) openLibsvm(ctx context.Context, in storage.Input, memory int64) (format.File, error) {
	t, name := &a.Texts, in.Name()
	if format.IsFar(in) {
		return nil, stream.Usagef("%s: libsvm text is read from a local file; copy it there first", name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if table := t.tables[name]; table != nil {
		return table.Open(in), nil
	}
	spool, err := t.newSpool(a.Options.Spool)
	if err != nil {
		return nil, err
	}
	table, err := parseLibsvm(ctx, in, spool, memory)
	if err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	if t.tables == nil {
		t.tables = map[string]*svm.Table{}
	}
	t.tables[name] = table
	return table.Open(in), nil
}

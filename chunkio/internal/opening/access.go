package opening

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formats"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/remaining"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Access finds and opens files on disk and in object stores.
type Access struct {
	Options      settings.Options
	Objects      *storage.ObjectStore
	Texts        TextTables
	BorrowsTexts bool // texts belongs to a *Stdin, which closes it
	// GuessedFiles contains files found in folders that count as data only because of the shape of their lines.
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

// OpenEntry implements [Opener] for files on disk and objects in stores.
func (a *Access) OpenEntry(ctx context.Context, e storage.Entry, memory int64, meter *stream.Meter) (format.File, storage.Input, error) {
	in, err := a.OpenEntryBytes(ctx, e, memory)
	if err != nil {
		return nil, nil, err
	}
	return a.OpenInput(ctx, e, in, memory, meter)
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

// OpenInput opens the file of an entry, whose bytes are in. If it fails, it closes in.
func (a *Access) OpenInput(ctx context.Context, e storage.Entry, in storage.Input, memory int64, meter *stream.Meter) (format.File, storage.Input, error) {
	counted := &storage.CountingInput{Input: in}
	var opened format.File
	var err error
	if e.Columns != nil && e.Columns.IsMapped {
		opened, err = parquet.OpenOfTable(counted, memory, e.Columns, e.Constants)
	} else {
		opened, err = a.OpenByFormat(ctx, counted, memory)
	}
	if f, ok := opened.(*parquet.File); ok && err == nil && e.Columns != nil {
		f.ShowDatesAsTimes(e.Columns)
	}
	if names := settings.TripleColumns(a.Options.Sparse); err == nil && names != nil && !isSparse(opened) {
		opened, err = a.openTriples(ctx, opened, counted, names, memory)
	}
	if err == nil && e.Deleted != nil {
		opened, err = leaveOutDeletedRows(opened, in.Name(), e.Deleted, memory)
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

func leaveOutDeletedRows(opened format.File, name string, deleted []byte, memory int64) (format.File, error) {
	f, ok := opened.(*parquet.File)
	if !ok {
		return nil, stream.Dataf(name, "its table deletes rows of it, so it should be a Parquet file, and it is none")
	}
	return remaining.OpenRemaining(f, deleted, memory)
}

// FootersAhead is the number of objects whose ends are requested at once, as long as the footers need no more than an
// eighth of the memory. Requested one by one, the footers of 1,000 files would take a minute if a request takes 50 ms.
const FootersAhead = 16

// OpenByFormat opens a file by its format.
func (a *Access) OpenByFormat(ctx context.Context, in storage.Input, memory int64) (format.File, error) {
	f, packing, _, err := DetectFormat(in)
	switch {
	case err != nil:
		return nil, err
	case f != nil:
		return a.openWithFormat(ctx, in, f, packing, memory)
	}
	texts := formats.ListEndings(func(f *formats.Format) bool { return f.IsText() && f.Begins == "" })
	e := stream.Dataf(in.Name(), "neither a Parquet file (PAR1) nor an Arrow IPC file or stream, a NumPy array, Avro or Matrix Market by its first bytes, nor text by its name (%s) or by its lines", strings.Join(texts, ", "))
	e.Remedy = stream.Textf("name a text so, or hand it over on standard input, where - finds out what it is")
	return nil, e
}

func (a *Access) openWithFormat(ctx context.Context, in storage.Input, detected *formats.Format, packing string, memory int64) (format.File, error) {
	switch {
	case detected.IsSparse():
		return a.openSparseText(ctx, in, detected, packing, memory)
	case detected.IsText():
		return a.openRows(ctx, in, detected.Rows, packing, memory)
	}
	return detected.Open(in, memory)
}

// DetectFormat finds the format and the compression of an input. It returns nil if the format is unknown. guess means
// that only the shape of the input's lines shows the format.
func DetectFormat(in storage.Input) (f *formats.Format, packing string, guess bool, err error) {
	magic, err := storage.ReadMagic(in)
	if err != nil {
		return nil, "", false, err
	}
	if f = formats.ByMagic(magic); f != nil {
		return f, "", false, nil
	}
	head, err := storage.ReadHead(in)
	if err != nil {
		return nil, "", false, err
	}
	return formats.DetectFormat(in, head, FormatByName(in.Name()))
}

// IsReadAtOpening reports whether a file of this name is read to its end when it is opened.
func IsReadAtOpening(name string) bool {
	f := FormatByName(name)
	return f != nil && f.IsText()
}

func (a *Access) openSparseText(ctx context.Context, in storage.Input, f *formats.Format, packing string, memory int64) (format.File, error) {
	t, name := &a.Texts, in.Name()
	t.mu.Lock()
	defer t.mu.Unlock()
	if table := t.tables[name]; table != nil {
		return table.OpenFrom(in), nil
	}
	return t.addTable(in, a.Options.Spool, func(spool *textSpool) (table *svm.Table, err error) {
		if folder := findCellsFolder(in, f); folder != nil {
			table, err = parseCells(ctx, in, packing, folder, spool, memory, a.Options.Note)
		} else {
			err = readText(in, packing, func(text io.Reader) (err error) {
				table, err = f.Parse(ctx, name, text, spool, memory)
				return err
			})
		}
		if err == nil {
			table.Format = f.Name
		}
		return table, err
	})
}

// addTable opens a file whose rows build writes to a scratch file. The caller holds t.mu.
func (t *TextTables) addTable(in storage.Input, opt scratch.Options, build func(*textSpool) (*svm.Table, error)) (format.File, error) {
	spool, err := t.newSpool(opt)
	if err != nil {
		return nil, err
	}
	table, err := build(spool)
	if err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	if t.tables == nil {
		t.tables = map[string]*svm.Table{}
	}
	t.tables[in.Name()] = table
	return table.OpenFrom(in), nil
}

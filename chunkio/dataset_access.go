package chunkio

import (
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// access finds and opens files on disk and in object stores.
type access struct {
	opt             Options
	client          *store.Client
	lastFooterBytes atomic.Int64 // footer length of the last opened object, an estimate for the next one
	tails           tailCache
	texts           textTables
	borrowsTexts    bool // texts belongs to a *Stdin, which closes it
	// guessedFiles contains files found in folders. They count as data only because of the shape of their lines.
	guessedFiles    map[string]bool
	searchedFolders map[string]bool // folders in stores already searched for a table

	exactIntegers bool            // whole numbers in files of rows stay exact, because they are copied
	acceptsText   bool            // any column of a file of rows may become text; set by Convert
	numberColumns map[string]bool // names of columns that must be numbers; made at the first lookup
	direct        *directOutput   // receives the rows of the file; nil if they go to a scratch file
}

func newAccess(opt Options) *access {
	return &access{
		opt: opt, searchedFolders: map[string]bool{}, tails: tailCache{limit: min(maxTailBytes, opt.Memory/8)},
		client: store.New(store.Options{Anonymous: opt.Anonymous, Meter: opt.Meter}),
	}
}

// close removes the scratch files of opened files, unless they belong to a *Stdin.
func (a *access) close() error {
	if a.borrowsTexts {
		return nil
	}
	return a.texts.closeScratch()
}

// opener opens the file of an entry, using at most memory bytes, and also returns the Input with its bytes. The catalog
// calls it again for each file at every pass. If meter is not nil, it counts the reads after the footer has been read.
// The context covers all later reads. Tests use an opener for files in memory.
type opener func(ctx context.Context, e fileEntry, memory int64, meter *stream.Meter) (format.File, Input, error)

func (a *access) openEntry(ctx context.Context, e fileEntry, memory int64, meter *stream.Meter) (format.File, Input, error) {
	in, err := a.openEntryBytes(ctx, e, memory)
	if err != nil {
		return nil, nil, err
	}
	return a.openInput(ctx, in, memory, meter)
}

func (a *access) openEntryBytes(ctx context.Context, e fileEntry, memory int64) (Input, error) {
	var in Input
	var err error
	if store.IsURL(e.path) {
		in, err = a.openObject(ctx, e, memory)
	} else {
		in, err = openFile(ctx, e.path)
	}
	if fault := e.checkAgainstLog(in, err); fault != nil {
		if err == nil {
			in.Close()
		}
		return nil, fault
	}
	return in, nil
}

func (a *access) openInput(ctx context.Context, in Input, memory int64, meter *stream.Meter) (format.File, Input, error) {
	counted := &countingInput{Input: in}
	opened, err := a.openByFormat(ctx, counted, memory)
	if names := tripleColumns(a.opt.Sparse); err == nil && names != nil && !isLibsvm(in.Name()) {
		opened, err = a.openTriples(ctx, opened, counted, names, memory)
	}
	if err == nil {
		if o, ok := in.(*object); ok {
			err = a.keepFooter(o)
		}
	}
	if err != nil {
		in.Close()
		return nil, nil, err
	}
	counted.meter.Store(meter)
	return opened, in, nil
}

// footersAhead is the number of objects whose ends are requested at once, as long as the footers need no more than an
// eighth of the memory. Requested one by one, the footers of 1,000 files would take a minute if a request takes 50 ms.
const footersAhead = 16

// buildCatalog opens the files of the list and makes the catalog. It opens all of them again if a file turns out to
// have identifiers in a column that is numeric in earlier files.
func (a *access) buildCatalog(ctx context.Context, list *fileList, f *filter, opt catalogOptions) (*catalog, error) {
	opt.union = opt.union || list.schema != nil && a.opt.Sparse == "" // older files may lack a column, which is null
	if err := a.opt.Texts.Check(); err != nil {
		return nil, err
	}
	a.guessedFiles = make(map[string]bool, len(list.guesses))
	for path := range list.guesses {
		a.guessedFiles[place.DisplayName(path)] = true
	}
	c, err := a.openList(ctx, list, f, opt)
	for a.texts.forgetMixedFiles() {
		a.convertAllRows(ctx, list)
		a.texts.forgetMixedFiles()
		c, err = a.openList(ctx, list, f, opt)
	}
	if err == nil {
		err = a.texts.checkColumnNames(a.opt.Texts)
	}
	if err != nil {
		return nil, a.texts.withDoubts(err)
	}
	return c, nil
}

// convertAllRows converts all files that are text by their names, so that all columns of identifiers are known before
// the files are opened again. Without this, each of 60 files with different columns of identifiers was read 30 times.
// It ignores errors, because opening the files reports them.
func (a *access) convertAllRows(ctx context.Context, list *fileList) {
	for _, e := range list.entries() {
		if ctx.Err() != nil {
			return
		}
		if formatByName(e.path) == intake.None {
			continue
		}
		if opened, _, err := a.openEntry(ctx, e, a.opt.Memory, a.opt.Meter); err == nil {
			opened.Close()
		}
	}
}

// openList calls openCatalog with an opener that fetches the ends of objects ahead and parses long footers of local
// files in parallel.
func (a *access) openList(ctx context.Context, list *fileList, f *filter, opt catalogOptions) (*catalog, error) {
	within, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	next, stop := iter.Pull2(list.entries())
	defer stop()
	type result struct {
		in     Input
		opened format.File // nil if the footer is still to be parsed
		err    error
	}
	var queue []chan result
	lastBytes := int64(0) // memory of the file opened last, used as the estimate for the next file
	openNext := func(_ context.Context, _ fileEntry, memory int64, meter *stream.Meter) (format.File, Input, error) {
		depth := a.countParallelFooters(lastBytes, memory)
		parse := depth > 1
		if footer := a.lastFooterBytes.Load(); footer > 0 {
			depth, parse = min(max(memory/8/(footer+footer/8), 1), footersAhead), false
		}
		for int64(len(queue)) < depth {
			_, e, more := next()
			if !more {
				break
			}
			r := make(chan result, 1)
			queue = append(queue, r)
			far, text := store.IsURL(e.path), isReadAtOpening(e.path)
			load := func() {
				in, err := a.openEntryBytes(within, e, memory)
				var opened format.File
				if err == nil && parse && !far && !text {
					opened, in, err = a.openInput(within, in, memory, meter)
				}
				r <- result{in, opened, err}
			}
			if far || parse && !text {
				running.Go(load)
			} else {
				load()
			}
		}
		r := <-queue[0]
		queue = queue[1:]
		if r.err == nil && r.opened == nil {
			r.opened, r.in, r.err = a.openInput(within, r.in, memory, meter)
		}
		if r.err != nil {
			return nil, nil, r.err
		}
		lastBytes = r.opened.HeldBytes()
		return r.opened, r.in, nil
	}
	c, err := openCatalog(ctx, list, f, openNext, opt)
	cancel()
	for _, q := range queue { // after an error, close the files that were opened ahead and are still in the queue
		switch r := <-q; {
		case r.opened != nil:
			r.opened.Close()
		case r.err == nil:
			r.in.Close()
		}
	}
	if err == nil {
		c.open, c.tails, c.texts = a.openEntry, &a.tails, &a.texts
		if opt.union {
			err = c.decideUnionGroups(ctx, opt.memory)
		}
	}
	return c, err
}

// countParallelFooters returns the number of footers of local files to parse at once. lastBytes, the memory of the file
// opened last, is the estimate for each. Short footers are parsed one by one. Long footers are parsed on all threads,
// as long as they and their raw bytes need no more than half of the memory. Files of triples are read while they are
// opened, one after the other.
func (a *access) countParallelFooters(lastBytes, memory int64) int64 {
	if lastBytes < longFooter || tripleColumns(a.opt.Sparse) != nil {
		return 1
	}
	return max(min(memory/2/(lastBytes+lastBytes/2), int64(a.opt.Threads)), 1)
}

func (a *access) openByFormat(ctx context.Context, in Input, memory int64) (format.File, error) {
	magic, err := readMagic(in)
	if err != nil {
		return nil, err
	}
	switch magic {
	case parquet.Magic:
		return parquet.Open(in, memory)
	case ipc.Magic:
		return ipc.Open(in, memory)
	}
	if isLibsvm(in.Name()) {
		return a.openLibsvm(ctx, in, memory)
	}
	head, err := readHead(in)
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
func detectRows(in Input, head string) (kind intake.Format, packing string, guess bool, err error) {
	packing, kind = intake.SniffPacking([]byte(head)), formatByName(in.Name())
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

// holdsData reports whether an input with an unknown ending contains data, and whether this is a guess from the shape
// of its lines.
func holdsData(in Input) (data, guess bool, err error) {
	magic, err := readMagic(in)
	if err != nil || magic != "" {
		return err == nil, false, err
	}
	head, err := readHead(in)
	if err != nil || strings.HasPrefix(head, parquet.EncryptedMagic) {
		return err == nil, false, err
	}
	kind, _, guess, err := detectRows(in, head)
	return kind != intake.None || err == nil && ipc.IsStream(in, head), guess, err
}

func isReadAtOpening(name string) bool { return isLibsvm(name) || formatByName(name) != intake.None }

func readHead(in Input) (string, error) {
	head := make([]byte, min(in.Size(), 16))
	if err := format.ReadAt(in, head, 0); err != nil {
		return "", stream.Dataf(in.Name(), "%w", err)
	}
	return string(head), nil
}

// readMagic returns the magic word at the beginning of a file, or "" if it has none. For an object it reads the word at
// the end, which comes with the footer, because the beginning would cost one more request.
func readMagic(in Input) (string, error) {
	if in.Size() == 0 {
		return "", stream.Dataf(in.Name(), "the file is empty")
	}
	word := make([]byte, min(in.Size(), int64(len(ipc.Magic))))
	at := int64(0)
	far := format.IsFar(in)
	if far {
		at = in.Size() - int64(len(word))
	}
	if err := format.ReadAt(in, word, at); err != nil {
		return "", stream.Dataf(in.Name(), "%w", err)
	}
	for _, magic := range []string{parquet.Magic, ipc.Magic} {
		if n := len(magic); len(word) >= n && (!far && string(word[:n]) == magic || far && string(word[len(word)-n:]) == magic) {
			return magic, nil
		}
	}
	if far { // the object may be incomplete, so the magic word at its beginning decides
		return readMagic(asLocalFile{in})
	}
	return "", nil
}

// asLocalFile makes an object look like a file on disk to its reader.
type asLocalFile struct{ Input }

// Far implements format.Far.
func (asLocalFile) Far() bool { return false }

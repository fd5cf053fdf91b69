package catalog

import (
	"context"
	"io"
	"iter"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// BuildCatalog opens the files of the list and makes the catalog. It opens all of them again if a file turns out to
// have identifiers in a column that is numeric in earlier files.
func BuildCatalog(ctx context.Context, a *opening.Access, list *listing.List, f *Filter, opt Options) (*Catalog, error) {
	opt.Union = opt.Union || list.Schema != nil && a.Options.Sparse == "" // older files may lack a column, which is null
	if err := a.Options.Texts.Check(); err != nil {
		return nil, err
	}
	a.GuessedFiles = make(map[string]bool, len(list.Guesses))
	for path := range list.Guesses {
		a.GuessedFiles[place.DisplayName(path)] = true
	}
	c, err := openList(ctx, a, list, f, opt)
	for a.Texts.ForgetMixedFiles() {
		convertAllRows(ctx, a, list)
		a.Texts.ForgetMixedFiles()
		c, err = openList(ctx, a, list, f, opt)
	}
	if err == nil {
		err = a.Texts.CheckColumnNames(a.Options.Texts)
	}
	if err != nil {
		return nil, a.Texts.WithDoubts(err)
	}
	return c, nil
}

// convertAllRows converts all files that are text by their names, so that all columns of identifiers are known before
// the files are opened again. Without this, each of 60 files with different columns of identifiers was read 30 times.
// It ignores errors, because opening the files reports them.
func convertAllRows(ctx context.Context, a *opening.Access, list *listing.List) {
	for _, e := range list.Entries() {
		if ctx.Err() != nil {
			return
		}
		if !opening.IsReadAtOpening(e.Path) {
			continue
		}
		if opened, _, err := a.OpenEntry(ctx, e, a.Options.Memory, a.Options.Meter); err == nil {
			opened.Close()
		}
	}
}

// openList calls OpenCatalog with an opener that fetches the ends of objects ahead and parses long footers of local
// files in parallel.
func openList(ctx context.Context, a *opening.Access, list *listing.List, f *Filter, opt Options) (*Catalog, error) {
	within, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	next, stop := iter.Pull2(list.Entries())
	defer stop()
	type result struct {
		entry  storage.Entry
		in     storage.Input
		opened format.File // nil if the footer is still to be parsed
		err    error
	}
	var queue []chan result
	lastBytes := int64(0) // memory of the file opened last, used as the estimate for the next file
	openNext := func(_ context.Context, _ storage.Entry, memory int64, meter *stream.Meter) (format.File, storage.Input, error) {
		depth := countParallelFooters(a, lastBytes, memory)
		parse := depth > 1
		if footer := a.Objects.LastFooterBytes.Load(); footer > 0 {
			depth, parse = min(max(memory/8/(footer+footer/8), 1), opening.FootersAhead), false
		}
		for int64(len(queue)) < depth {
			_, e, more := next()
			if !more {
				break
			}
			r := make(chan result, 1)
			queue = append(queue, r)
			far, text := store.IsURL(e.Path), opening.IsReadAtOpening(e.Path)
			load := func() {
				in, err := a.OpenEntryBytes(within, e, memory)
				var opened format.File
				if err == nil && parse && !far && !text {
					opened, in, err = a.OpenInput(within, e, in, memory, meter)
				}
				r <- result{e, in, opened, err}
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
			r.opened, r.in, r.err = a.OpenInput(within, r.entry, r.in, memory, meter)
		}
		if r.err != nil {
			return nil, nil, r.err
		}
		lastBytes = r.opened.HeldBytes()
		return r.opened, r.in, nil
	}
	c, err := OpenCatalog(ctx, list, f, openNext, opt)
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
		c.Open, c.Tails, c.Texts = a.OpenEntry, &a.Objects.Tails, &a.Texts
		if opt.Union {
			err = c.DecideUnionGroups(ctx, opt.Memory)
		}
	}
	return c, err
}

// countParallelFooters returns the number of footers of local files to parse at once. lastBytes, the memory of the file
// opened last, is the estimate for each. Short footers are parsed one by one. Long footers are parsed on all threads,
// as long as they and their raw bytes need no more than half of the memory. Files of triples are read while they are
// opened, one after the other.
func countParallelFooters(a *opening.Access, lastBytes, memory int64) int64 {
	if lastBytes < LongFooter || settings.TripleColumns(a.Options.Sparse) != nil {
		return 1
	}
	return max(min(memory/2/(lastBytes+lastBytes/2), int64(a.Options.Threads)), 1)
}

// OpenStdin makes the catalog of standard input. A stream that is read once is returned in once instead.
func OpenStdin(ctx context.Context, a *opening.Access, in io.Reader, list *listing.List, f *Filter, opt Options) (c *Catalog, once io.Reader, err error) {
	if err := a.Options.Texts.Check(); err != nil {
		return nil, nil, err
	}
	s := opening.NewStdin(in)
	a.BorrowsTexts = s == in
	open, texts, once, err := opening.StoreOrStream(ctx, s, a)
	if err != nil || once != nil {
		return nil, once, err
	}
	if c, err = OpenCatalog(ctx, list, f, open, opt); err == nil {
		c.Texts = texts
		err = texts.CheckColumnNames(a.Options.Texts)
	}
	return c, nil, err
}

// LongFooter is the size in memory of a parsed footer from which on local files are opened early, while the previous
// file is decoded. Parsing the footer of 100,000 columns, which has 141 MB in memory, takes half a second.
const LongFooter = 4 << 20

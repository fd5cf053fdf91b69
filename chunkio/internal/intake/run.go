package intake

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rowReader reads one input from beginning to end. There is one implementation for each format.
type rowReader interface {
	// nextPiece cuts off the next piece, whose data may be stored in room. It returns io.EOF at the end.
	nextPiece(room []byte) (piece, error)
	// observePiece updates the observer with the values of a piece. Safe for concurrent use.
	observePiece(p piece, o *columnObserver) error
	// parsePiece converts a piece to cells. Safe for concurrent use.
	parsePiece(p piece, columns []Column, b *batch) error
	// describeTable describes the table as far as the beginning of the input shows it.
	describeTable() Table
}

// jsonPlace describes where a column occurs in JSON.
type jsonPlace struct {
	seen     bool   // the column occurs in these rows
	object   string // name of the object or array that contains it
	isMember bool   // it is a member of an object, not an element of an array
}

// columnObserver collects the kinds of the columns while it observes rows.
type columnObserver struct {
	columns      []Column
	index        map[string]int
	rows         int64
	nullsFound   []string             // spellings of missing values
	turnedToText map[int]turningValue // by column: the text that changed the kind of the column to text
	nameBytes    int                  // total length of the names of the columns found by observing

	objects map[string]*memberCounts // counts about each object of JSON, by name
	places  []jsonPlace              // by column
	maps    map[string]int           // by object: index of its map column
}

func newObserver(columns []Column) *columnObserver {
	o := &columnObserver{columns: slices.Clone(columns), index: make(map[string]int, len(columns)), objects: map[string]*memberCounts{}, maps: mapColumnIndicesByObject(columns)}
	o.places = make([]jsonPlace, len(columns))
	for j, c := range columns {
		o.index[c.Name] = j
	}
	return o
}

func (o *columnObserver) findOrAddColumn(name []byte) int {
	j, ok := o.index[string(name)]
	if !ok {
		j = len(o.columns)
		o.columns = append(o.columns, Column{Name: string(name)})
		o.index[o.columns[j].Name] = j
		o.places = append(o.places, jsonPlace{})
	}
	return j
}

func (c *Column) addValue(k Kind, s string, line int64) {
	if k.isWhole() || k == Float {
		c.recordSpelling(s, line)
	}
	c.Kind = widerKind(c.Kind, k)
}

// Output is the destination of a Table. Restart empties it.
type Output interface {
	io.Writer
	Restart() error
}

// Write converts an input to Parquet and writes it to out. Errors about the rows are *stream.DataError that name the
// line.
func Write(ctx context.Context, in Input, out Output, opt Options) (*Table, error) {
	if in.Format == NPY || in.Format == Avro { // these formats have types of their own
		opt.Types, opt.Text = nil, nil
	}
	var err error
	if opt.rules, err = opt.typeRequests(); err != nil {
		return nil, err
	}
	t, columns, err := writeOnce(ctx, in, out, nil, opt)
	mismatch, ok := errors.AsType[*misfit](err)
	switch {
	case !ok:
		return t, err
	case mismatch.typeRequested && mismatch.kind != Local: // times may still turn out to have zones
		return nil, mismatch.errAtLine(in.Name, stream.Textf("correct the value, or give the column another type with {types}"))
	case in.Once:
		return nil, mismatch.errAtLine(in.Name, stream.Textf("save it to a file first: its types are then found from all rows; or give the column's type with {types}%v", mismatch.nullValueRemedy()))
	}
	wider, turned, err := observeAll(ctx, in, columns, opt)
	if err != nil {
		return nil, err
	}
	if err := out.Restart(); err != nil {
		return nil, err
	}
	t, _, err = writeOnce(ctx, in, out, wider, opt)
	if mismatch, ok := errors.AsType[*misfit](err); ok {
		return nil, mismatch.errAtLine(in.Name, stream.Textf("correct the value, or leave it empty or NA where it is missing, or read the column as text with {text}%v", mismatch.nullValueRemedy()))
	}
	if err == nil {
		t.explainTurnedColumns(in.Name, columns, turned)
	}
	return t, err
}

// nullValueRemedy returns an addition to a remedy: the value may represent a missing value.
func (m *misfit) nullValueRemedy() stream.Text {
	const longest = 20
	v := trimBlanks(m.value)
	if m.noSuchColumn || v == "" || len(v) > longest {
		return stream.Text{}
	}
	return stream.Textf("; where %q stands for a missing value, give {null-values} %s", v, NullsWith(nil, v))
}

func (m *misfit) errAtLine(path string, remedy stream.Text) error {
	e := stream.Dataf(path, "line %d: %w", m.line, m)
	e.Column, e.Remedy = m.column, remedy
	return e
}

// observeAll reads all of the input to find the kinds of its columns. A column that was not text in the sample can
// become text only if the options allow this.
func observeAll(ctx context.Context, in Input, sample []Column, opt Options) (wider []Column, turned map[int]turningValue, err error) {
	seen := newObserver(sample)
	err = readInputWithReader(in, opt, func(r rowReader, _ hash.Hash64) error {
		for n := 0; ; n++ {
			p, err := r.nextPiece(nil)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = r.observePiece(p, seen)
			}
			if err != nil {
				return err
			}
		}
	})
	nameCounts := make(map[string]int, len(sample)) // several columns with one name cannot be used as numbers
	for _, c := range sample {
		nameCounts[c.Name]++
	}
	for j := range sample {
		sampledKind, kind := sample[j].Kind, &seen.columns[j].Kind
		if *kind == Text && sampledKind != Text && sampledKind != Unknown && nameCounts[sample[j].Name] == 1 && (opt.MayBeText == nil || !opt.MayBeText(sample[j].Name)) {
			if *kind = sampledKind; sampledKind.isWhole() {
				*kind = Float
			}
		}
	}
	if mismatch, ok := errors.AsType[*misfit](err); ok {
		err = mismatch.errAtLine(in.Name, stream.Textf("write objects with keys of their own as numbers alone, or keep the keys to few"))
	}
	if in.Format == NDJSON {
		seen.columns = withoutParents(seen.withMaps(opt.Mapped))
	}
	return seen.columns, seen.turnedToText, err
}

func readInputWithReader(in Input, opt Options, f func(rowReader, hash.Hash64) error) error {
	from, err := in.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	digest := xxhash.New()
	c := cutter{from: io.TeeReader(from, digest), name: in.Name, goal: int(opt.pieceBytes()), maxRow: int(opt.maxRowBytes()), line: 1}
	var r rowReader
	switch in.Format {
	case CSV, TSV:
		r, err = newCSVReader(c, in.Format == TSV, opt)
	case NDJSON:
		r, err = newNDJSONReader(c, opt)
	case NPY:
		r, err = newNPYReader(c, in.At, opt)
	case Avro:
		r, err = newAvroReader(c)
	default:
		err = fmt.Errorf("%s: no format of rows", in.Name)
	}
	if err != nil {
		return err
	}
	return f(r, digest)
}

// writeOnce reads the input once and writes it with the given columns, or with the columns of the sample if columns is
// nil. It returns the columns used.
func writeOnce(ctx context.Context, in Input, out Output, columns []Column, opt Options) (t *Table, used []Column, err error) {
	err = readInputWithReader(in, opt, func(r rowReader, digest hash.Hash64) error {
		about := r.describeTable()
		t = &about
		if columns == nil {
			columns = about.Columns
		}
		used = columns
		written := make([]Column, len(columns))
		for j, c := range columns {
			written[j] = opt.settleColumn(c)
			opt.names += int64(len(c.Name))
		}
		t.Columns, t.Doubts = written, slices.Concat(t.Doubts, opt.guessDoubts(written), mapDoubts(written, opt.Mapped))
		if t.Layout != nil && t.Layout.Separator != 0 {
			t.Layout.Names = namesOfColumns(written)
		}
		if len(written) == 0 {
			return errNoColumn(in.Name, about.LeftOut)
		}
		if read := min(in.Bytes, sampleBytes); in.Format == NDJSON && read > 0 {
			perByte := int64(len(written)) * about.Sample / read
			if perByte > maxEmptyPerByte && perByte > emptyCells/in.Bytes {
				return errMostlyEmpty(in.Name, len(written))
			}
		}
		if err := opt.checkMemory(len(written), 1, 1); err != nil {
			return err
		}
		g, err := newGatherer(out, written, opt, in.Bytes)
		if err != nil {
			return err
		}
		g.name = in.Name
		if err := g.parseAndWriteRows(ctx, r); err != nil {
			return err
		}
		if err := g.finishFile(); err != nil {
			return err
		}
		need := opt.neededMemory(len(written), g.workers, g.groups)
		t.Memory = min(need+need/2, opt.Memory) // this includes garbage, if the limit is high enough
		t.Rows, t.Bytes, t.Digest, t.Least = g.file.Rows, g.file.Offset, digest.Sum64(), opt.leastMemory(len(written), g.groups)
		return nil
	})
	return t, used, err
}

func errMostlyEmpty(path string, columns int) error {
	e := stream.Dataf(path, "the rows have %d columns, nearly all of them empty, with more than %d cells for every byte of the text: keys of objects are data", columns, maxEmptyPerByte)
	e.Remedy = stream.PlainText("write such objects as arrays of keys and values; those of numbers alone are read as a map, if their keys keep growing")
	return e
}

func errNoColumn(path string, leftOut []stream.LeftOut) error {
	if len(leftOut) == 0 {
		return stream.Dataf(path, "the input has no column")
	}
	e := stream.Dataf(path, "the input has no column that can be read: %s", leftOut[0].Why)
	e.Column = leftOut[0].Name
	return e
}

// affordableWorkers returns the number of workers for which the memory suffices in addition to one row group. It is at
// most Options.Threads.
func (o Options) affordableWorkers(d int) int {
	threads := max(o.Threads, 1)
	for threads > 1 && o.neededMemory(d, threads, 1) > o.Memory {
		threads--
	}
	return threads
}

// leastMemory returns the smallest memory limit with which one worker can write this number of row groups.
func (o Options) leastMemory(d, groups int) int64 {
	o.Memory = 0
	for need := o.neededMemory(d, 1, groups); need > o.Memory; need = o.neededMemory(d, 1, groups) {
		o.Memory = need
	}
	return o.Memory
}

// checkMemory returns an error if this number of row groups does not fit in the memory even with one worker. The error
// requests memory for `ahead` row groups if `ahead` is greater than `groups`.
func (o Options) checkMemory(d, groups, ahead int) error {
	if o.neededMemory(d, 1, groups) <= o.Memory {
		return nil
	}
	return &stream.MemoryError{What: "reading rows", Need: o.leastMemory(d, max(groups, ahead)), Limit: o.Memory}
}

// neededMemory returns an upper bound on the memory needed to write row groups of d columns.
func (o Options) neededMemory(d, threads, groups int) int64 {
	const perText = 6 // bytes of a piece and its cells, for each byte of text
	footer := writer.FooterBytes(int64(d), int64(d), o.names, int64(groups))
	return cellBytes*int64(d)*int64(groupRows(d)) + footer + perText*int64(threads+4)*o.pieceBytes() + encodingBytes + int64(threads)*writer.WorkerBytes
}

// pieceBytes returns the size of a worker's piece. It is a share of the memory limit, so that every limit above a
// sufficient limit is sufficient too.
func (o Options) pieceBytes() int64 { return min(max(o.Memory/2048, 64<<10), 1<<20) }

// maxRowBytes returns the limit on the bytes of a row, of a block of Avro and of a header.
func (o Options) maxRowBytes() int64 { return min(max(o.Memory/64, 1<<20), 1<<30) }

type parsingJob struct {
	piece piece
	batch *batch
	err   error
	done  chan struct{}
}

func (g *gatherer) parseAndWriteRows(ctx context.Context, r rowReader) error {
	ahead := g.workers + 1
	queue := make(chan *parsingJob, ahead)
	idle := make(chan *parsingJob, ahead+2)
	for range cap(idle) {
		idle <- &parsingJob{batch: new(batch)}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(queue)
		for {
			var w *parsingJob
			select {
			case w = <-idle:
			case <-ctx.Done():
				return ctx.Err()
			}
			var err error
			if w.piece, err = r.nextPiece(w.piece.data); errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			} else if err != nil {
				w.err, w.done = err, closedChannel
				select {
				case queue <- w: // after the preceding pieces, because their errors are reported first
				case <-ctx.Done():
				}
				return nil
			}
			w.done = make(chan struct{})
			select {
			case g.slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			group.Go(func() error {
				if w.err = r.parsePiece(w.piece, g.columns, w.batch); w.err == nil {
					g.nulls.clearNumbers(w.batch, g.columns)
				}
				close(w.done)
				<-g.slots
				return nil
			})
			select {
			case queue <- w:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	group.Go(func() error {
		for w := range queue {
			<-w.done
			if w.err != nil {
				return w.err
			}
			g.bytesRead += int64(len(w.piece.data))
			g.cellCount += int64(w.batch.rows) * int64(len(g.columns))
			if g.cellCount > emptyCells && g.cellCount > maxEmptyPerByte*g.bytesRead {
				return errMostlyEmpty(g.name, len(g.columns))
			}
			if err := g.addBatch(ctx, w.batch); err != nil {
				return err
			}
			if g.surplusBatches > 0 {
				g.surplusBatches-- // this was the batch of a stopped worker
				continue
			}
			idle <- w
		}
		return nil
	})
	return group.Wait()
}

var closedChannel = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

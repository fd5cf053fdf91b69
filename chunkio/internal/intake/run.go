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

// rows is a format at work on one input, from the front to the end.
type rows interface {
	// next cuts the next piece off, whose data may be in room; io.EOF at the end.
	next(room []byte) (piece, error)
	// observe adds what a piece tells of the columns. Many goroutines may call it at once.
	observe(p piece, o *observed) error
	// parse makes the cells of a piece. Many goroutines may call it at once.
	parse(p piece, columns []Column, b *batch) error
	// about tells what the beginning has told.
	about() Table
}

// place is where a column of JSON stands.
type place struct {
	met      bool   // in these rows
	object   string // or array, that it is in
	isMember bool   // of an object
}

// observed is what rows have told of the columns so far.
type observed struct {
	columns []Column
	index   map[string]int
	rows    int64
	spelled []string     // missing values
	turned  map[int]turn // columns of values of another kind that a text has made text
	named   int          // bytes of the names that were seen, not told before

	objects map[string]*members // of JSON, by name
	places  []place             // by column
	maps    map[string]int      // the columns that are maps, by their objects
}

func newObserved(columns []Column) *observed {
	o := &observed{columns: slices.Clone(columns), index: make(map[string]int, len(columns)), objects: map[string]*members{}, maps: mapsOf(columns)}
	o.places = make([]place, len(columns))
	for j, c := range columns {
		o.index[c.Name] = j
	}
	return o
}

// column is the place of the column of a name, a new one where there is none.
func (o *observed) column(name []byte) int {
	j, ok := o.index[string(name)]
	if !ok {
		j = len(o.columns)
		o.columns = append(o.columns, Column{Name: string(name)})
		o.index[o.columns[j].Name] = j
		o.places = append(o.places, place{})
	}
	return j
}

// see adds a value of a kind.
func (c *Column) see(k Kind, s string, line int64) {
	if k.whole() || k == Float {
		c.note(s, line)
	}
	c.Kind = join(c.Kind, k)
}

// Output is where a Table is written to: Restart empties it.
type Output interface {
	io.Writer
	Restart() error
}

// Write takes in an input and writes it as Parquet to out. Errors about the rows are
// *stream.DataError that name the line.
func Write(ctx context.Context, in Input, out Output, opt Options) (*Table, error) {
	if in.Format == NPY || in.Format == Avro { // which have types of their own
		opt.Types, opt.Text = nil, nil
	}
	var err error
	if opt.rules, err = opt.overrules(); err != nil {
		return nil, err
	}
	t, columns, err := write(ctx, in, out, nil, opt)
	wrong, ok := errors.AsType[*misfit](err)
	switch {
	case !ok:
		return t, err
	case wrong.fixed && wrong.kind != Local: // times may still turn out to have zones
		return nil, wrong.error(in.Name, stream.Textf("correct the value, or give the column another type with {types}"))
	case in.Once:
		return nil, wrong.error(in.Name, stream.Textf("save it to a file first: types are looked for in all of it then; or give the column's type with {types}%v", wrong.orMissing()))
	}
	wider, turned, err := lookThrough(ctx, in, columns, opt)
	if err != nil {
		return nil, err
	}
	if err := out.Restart(); err != nil {
		return nil, err
	}
	t, _, err = write(ctx, in, out, wider, opt)
	if wrong, ok := errors.AsType[*misfit](err); ok {
		return nil, wrong.error(in.Name, stream.Textf("correct the value, or leave it empty or NA where it is missing, or read the column as text with {text}%v", wrong.orMissing()))
	}
	if err == nil {
		t.addTurned(in.Name, columns, turned)
	}
	return t, err
}

// orMissing adds to a remedy that the value may stand for a missing one.
func (m *misfit) orMissing() stream.Text {
	const longest = 20
	v := trim(m.value)
	if m.added || v == "" || len(v) > longest {
		return stream.Text{}
	}
	return stream.Textf("; where %q stands for a missing value, give {null-values} %s", v, NullsWith(nil, v))
}

func (m *misfit) error(path string, remedy stream.Text) error {
	e := stream.Dataf(path, "line %d: %w", m.line, m)
	e.Column, e.Remedy = m.column, remedy
	return e
}

// lookThrough reads all of the input for the kinds of its columns. A column of the sample becomes
// text only where the options let it.
func lookThrough(ctx context.Context, in Input, sample []Column, opt Options) (wider []Column, turned map[int]turn, err error) {
	seen := newObserved(sample)
	err = withRows(in, opt, func(r rows, _ hash.Hash64) error {
		for n := 0; ; n++ {
			p, err := r.next(nil)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = r.observe(p, seen)
			}
			if err != nil {
				return err
			}
		}
	})
	named := make(map[string]int, len(sample)) // columns that share a name are no numbers to anybody
	for _, c := range sample {
		named[c.Name]++
	}
	for j := range sample {
		sampled, kind := sample[j].Kind, &seen.columns[j].Kind
		if *kind == Text && sampled != Text && sampled != Unknown && named[sample[j].Name] == 1 && (opt.Text == nil || !opt.Text(sample[j].Name)) {
			if *kind = sampled; sampled.whole() {
				*kind = Float
			}
		}
	}
	if wrong, ok := errors.AsType[*misfit](err); ok {
		err = wrong.error(in.Name, stream.Textf("write objects with keys of their own as numbers alone, or keep the keys to few"))
	}
	if in.Format == NDJSON {
		seen.columns = withoutParents(seen.withMaps(opt.Mapped))
	}
	return seen.columns, seen.turned, err
}

// withRows opens an input and calls f with its rows and the digest of the bytes read.
func withRows(in Input, opt Options, f func(rows, hash.Hash64) error) error {
	from, err := in.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	digest := xxhash.New()
	c := cutter{from: io.TeeReader(from, digest), name: in.Name, goal: int(opt.pieceBytes()), most: int(opt.rowMost()), line: 1}
	var r rows
	switch in.Format {
	case CSV, TSV:
		r, err = newCSV(c, in.Format == TSV, opt)
	case NDJSON:
		r, err = newNDJSON(c, opt)
	case NPY:
		r, err = newNPY(c, in.At, opt)
	case Avro:
		r, err = newAvro(c)
	default:
		err = fmt.Errorf("%s: no format of rows", in.Name)
	}
	if err != nil {
		return err
	}
	return f(r, digest)
}

// write reads the input once and writes it with the given columns, nil for those of the sample,
// which are returned.
func write(ctx context.Context, in Input, out Output, columns []Column, opt Options) (t *Table, used []Column, err error) {
	err = withRows(in, opt, func(r rows, digest hash.Hash64) error {
		about := r.about()
		t = &about
		if columns == nil {
			columns = about.Columns
		}
		used = columns
		written := make([]Column, len(columns))
		for j, c := range columns {
			written[j] = opt.settle(c)
			opt.names += int64(len(c.Name))
		}
		t.Columns, t.Doubts = written, slices.Concat(t.Doubts, opt.doubts(written), mapDoubts(written, opt.Mapped))
		if t.Layout != nil && t.Layout.Separator != 0 {
			t.Layout.Names = namesIn(written)
		}
		if len(written) == 0 {
			return noColumn(in.Name, about.LeftOut)
		}
		if read := min(in.Bytes, sampleBytes); in.Format == NDJSON && read > 0 {
			perByte := int64(len(written)) * about.Sample / read
			if perByte > emptyShare && perByte > emptyCells/in.Bytes {
				return errMostlyEmpty(in.Name, len(written))
			}
		}
		if err := opt.check(len(written), 1, 1); err != nil {
			return err
		}
		g, err := newGatherer(out, written, opt, in.Bytes)
		if err != nil {
			return err
		}
		g.name = in.Name
		if err := g.run(ctx, r); err != nil {
			return err
		}
		if err := g.finish(); err != nil {
			return err
		}
		held := opt.holds(len(written), g.threads, g.groups)
		t.Memory = min(held+held/2, opt.Memory) // with garbage, where the limit is far
		t.Rows, t.Bytes, t.Digest, t.Least = g.file.Rows, g.file.Offset, digest.Sum64(), opt.least(len(written), g.groups)
		return nil
	})
	return t, used, err
}

// errMostlyEmpty refuses more columns than rows have anything for.
func errMostlyEmpty(path string, columns int) error {
	e := stream.Dataf(path, "the rows have %d columns, nearly all of them empty, with more than %d cells for every byte of the text: keys of objects are data", columns, emptyShare)
	e.Remedy = stream.PlainText("write such objects as arrays of keys and values; those of numbers alone are read as a map, if their keys keep growing")
	return e
}

// noColumn says that nothing can be read, and why the first column cannot.
func noColumn(path string, leftOut []stream.LeftOut) error {
	if len(leftOut) == 0 {
		return stream.Dataf(path, "the input has no column")
	}
	e := stream.Dataf(path, "the input has no column that can be read: %s", leftOut[0].Why)
	e.Column = leftOut[0].Name
	return e
}

// affordable is how many workers the memory allows beside one row group, up to those of the options.
func (o Options) affordable(d int) int {
	threads := max(o.Threads, 1)
	for threads > 1 && o.holds(d, threads, 1) > o.Memory {
		threads--
	}
	return threads
}

// least is the smallest limit within which one worker writes so many row groups.
func (o Options) least(d, groups int) int64 {
	o.Memory = 0
	for need := o.holds(d, 1, groups); need > o.Memory; need = o.holds(d, 1, groups) {
		o.Memory = need
	}
	return o.Memory
}

// check refuses so many row groups where there is no room even for one worker, and asks for room of those ahead too.
func (o Options) check(d, groups, ahead int) error {
	if o.holds(d, 1, groups) <= o.Memory {
		return nil
	}
	return &stream.MemoryError{What: "reading rows", Need: o.least(d, max(groups, ahead)), Limit: o.Memory}
}

// holds is what writing so many row groups of d columns holds.
func (o Options) holds(d, threads, groups int) int64 {
	const perText = 6 // bytes of a piece and its cells, for one of text
	footer := writer.FooterBytes(int64(d), int64(d), o.names, int64(groups))
	return bytesOfCell*int64(d)*int64(groupRows(d)) + footer + perText*int64(threads+4)*o.pieceBytes() + encoding + int64(threads)*writer.WorkerBytes
}

// pieceBytes is what a worker parses at a time: a share of the memory, so that more of it is never too little.
func (o Options) pieceBytes() int64 { return min(max(o.Memory/2048, 64<<10), 1<<20) }

// rowMost bounds the bytes of a row, of a block of Avro and of a header.
func (o Options) rowMost() int64 { return min(max(o.Memory/64, 1<<20), 1<<30) }

// work is a piece on its way through a worker.
type work struct {
	piece piece
	batch *batch
	err   error
	done  chan struct{}
}

// run parses all pieces, some at a time, and gathers their batches in order.
func (g *gatherer) run(ctx context.Context, r rows) error {
	ahead := g.threads + 1
	queue := make(chan *work, ahead)
	idle := make(chan *work, ahead+2)
	for range cap(idle) {
		idle <- &work{batch: new(batch)}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(queue)
		for {
			var w *work
			select {
			case w = <-idle:
			case <-ctx.Done():
				return ctx.Err()
			}
			var err error
			if w.piece, err = r.next(w.piece.data); errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			} else if err != nil {
				w.err, w.done = err, closed
				select {
				case queue <- w: // behind the pieces before it, whose errors count first
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
				if w.err = r.parse(w.piece, g.columns, w.batch); w.err == nil {
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
			g.taken += int64(len(w.piece.data))
			g.filled += int64(w.batch.rows) * int64(len(g.columns))
			if g.filled > emptyCells && g.filled > emptyShare*g.taken {
				return errMostlyEmpty(g.name, len(g.columns))
			}
			if err := g.add(ctx, w.batch); err != nil {
				return err
			}
			if g.surplus > 0 {
				g.surplus-- // what a worker that is no longer there had
				continue
			}
			idle <- w
		}
		return nil
	})
	return group.Wait()
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

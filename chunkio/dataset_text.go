package chunkio

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/planfile"
	"github.com/ufs-stream/ufs-stream/internal/store"
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

// SniffSparse is the Options.Sparse that inputs ask for by their contents: NDJSON whose objects have identifiers as keys,
// and nothing else to choose from, as the beginning of the first input shows, a local file or the first one in a folder.
// It is empty for all else: a list may be a pipe, which can be read once.
func SniffSparse(ctx context.Context, inputs []string) string {
	if len(inputs) == 0 {
		return ""
	}
	file := firstDataFile(inputs[0])
	if file == "" || rowsNamed(file) != intake.NDJSON {
		return ""
	}
	in, err := openFile(ctx, file)
	if err != nil {
		return "" // opening it again fails with the reason
	}
	defer in.Close()
	head, err := readHead(in)
	if err != nil {
		return ""
	}
	return intake.OnlyMap(intake.Input{Name: in.Name(), Format: intake.NDJSON, Open: func() (io.ReadCloser, error) {
		return unpacked(in.Name(), sequential(in), intake.Packing([]byte(head)))
	}})
}

// firstDataFile is a local file, or the first data file by name below a local folder; empty for all else.
func firstDataFile(input string) (first string) {
	root, err := place.Local(input)
	if err != nil || store.IsURL(input) || input == stdinName {
		return ""
	}
	info, err := os.Stat(root)
	switch {
	case err != nil:
		return ""
	case info.Mode().IsRegular():
		return root
	case !info.IsDir():
		return ""
	}
	_ = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error { // an error ends it, and comes again
		switch {
		case err != nil:
			return err
		case file != root && skipName(entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || skipName(entry.Name()) || !isDataFile(file):
			return nil
		}
		first = file
		return fs.SkipAll
	})
	return first
}

// textTables holds the rows of the libsvm texts and triples that were opened, in scratch files without a name, until
// close. A text that changes later changes nothing.
type textTables struct {
	mu     sync.Mutex
	tables map[string]*svm.Table
	file   *atomicfile.Spool // that the scratch files are in, one behind the other
	bytes  int64             // of them
	space  *scratch.Space    // that counts these; nil until the first

	rows    map[string]*takenIn // files of rows, by name
	held    int64               // that taking one of them in held at most
	least   int64               // and would have at least
	triples tripleTables
	header  intake.Header // of CSV files
	guessed intake.Header // of files that are data by the shape of their lines alone
	spelled []string      // missing values of theirs
	doubts  []stream.Text // guesses about the files that may be wrong, each once

	typed map[string]typed // the columns of rows, and whether they are identifiers
}

// typed is how the files of rows have a column. A map that is shared is one in all files that were opened.
type typed struct{ number, identifier, isMap, shared bool }

// addTypes adds how a file has its columns. The caller holds t.mu, or is the only one.
func (t *textTables) addTypes(columns []intake.Column) {
	if t.typed == nil {
		t.typed = map[string]typed{}
	}
	for _, c := range columns {
		known := t.typed[c.Name]
		known.number = known.number || c.Kind == intake.Float || c.Kind == intake.Int || c.Kind == intake.Uint
		known.identifier = known.identifier || c.Identifier
		known.isMap = known.isMap || c.Kind == intake.Map
		t.typed[c.Name] = known
	}
}

// freezeTypes gives a plan the columns that its files have alike because of what is in some of them.
func (t *textTables) freezeTypes(p *planfile.Catalog) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.typed)) {
		switch c := t.typed[name]; {
		case c.identifier:
			p.Texts = append(p.Texts, name)
		case c.isMap:
			p.Maps = append(p.Maps, name)
		}
	}
}

// thawTypes takes these columns from a plan, as its shards open some of the files alone.
func (t *textTables) thawTypes(p *planfile.Catalog) {
	t.typed = map[string]typed{}
	for _, name := range p.Texts {
		t.typed[name] = typed{identifier: true}
	}
	for _, name := range p.Maps {
		t.typed[name] = typed{isMap: true}
	}
}

// rowsOf is what a file of rows was taken in as; nil for other files.
func (t *textTables) rowsOf(name string) *takenIn {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows[name]
}

// isIdentifier reports whether a file that was taken in has a column as identifiers.
func (t *textTables) isIdentifier(column string) bool { return t.typed[column].identifier }

// isMap reports whether an object of NDJSON is a map in a file that was taken in.
func (t *textTables) isMap(object string) bool { return t.typed[object].isMap }

// forgetNumbers forgets the files that have numbers where others have identifiers, which are text in all of them
// then, and those that have columns where others have a map of them. It reports whether there are any.
func (t *textTables) forgetNumbers() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	mixed, newMaps := map[string]bool{}, []string{}
	for name, c := range t.typed {
		switch {
		case c.number && c.identifier:
			mixed[name] = true
			t.typed[name] = typed{identifier: true}
		case c.isMap && !c.shared:
			newMaps = append(newMaps, name)
			t.typed[name] = typed{isMap: true, shared: true}
		}
	}
	before := len(t.rows)
	maps.DeleteFunc(t.rows, func(_ string, rows *takenIn) bool {
		return slices.ContainsFunc(newMaps, rows.table.HasColumnsOf) ||
			slices.ContainsFunc(rows.table.Columns, func(c intake.Column) bool { return mixed[c.Name] && !c.Identifier })
	})
	return len(t.rows) < before
}

// checkNames refuses types of columns that no file of rows has.
func (t *textTables) checkNames(opt TextOptions) error {
	if opt.Recorded {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return opt.Unmatched(slices.Sorted(maps.Keys(t.typed)))
}

// withDoubts adds the guesses about the files to an error about a column in which they differ: one of these is why, most
// likely, and nobody is told of guesses after an error.
func (t *textTables) withDoubts(err error) error {
	e, ok := errors.AsType[*stream.DataError](err)
	if !ok || e.Column == "" {
		return err
	}
	const most = 3 // the last ones are about the file that differs
	doubts := t.guessesMade().Doubts
	for _, doubt := range doubts[max(len(doubts)-most, 0):] {
		e.Remedy = stream.Textf("%v; %v", e.Remedy, doubt)
	}
	return err
}

// mostDoubts bounds what is kept of guesses: of many files alike the first few tell which option to give.
const mostDoubts = 20

// addDoubts keeps guesses that are not kept yet. The caller holds t.mu, or is the only one.
func (t *textTables) addDoubts(doubts []stream.Text) {
	for _, doubt := range doubts {
		if len(t.doubts) < mostDoubts && !slices.ContainsFunc(t.doubts, func(d stream.Text) bool { return reflect.DeepEqual(d, doubt) }) {
			t.doubts = append(t.doubts, doubt)
		}
	}
}

// addSpelled keeps spellings of missing values as addDoubts keeps doubts.
func (t *textTables) addSpelled(spelled []string) {
	for _, s := range spelled {
		if len(t.spelled) < mostDoubts && !slices.Contains(t.spelled, s) {
			t.spelled = append(t.spelled, s)
		}
	}
}

// checkTexts refuses spellings of missing values that are none: records would show the secrets of a URL.
func checkTexts(t TextOptions) error {
	for _, s := range t.Nulls {
		if strings.Contains(s, "://") {
			return stream.Usagef("{null-values} %s: a URL is no spelling of a missing value", place.Name(s))
		}
	}
	return nil
}

// guessesMade are those about the files; of no files there are none.
func (t *textTables) guessesMade() Guesses {
	if t == nil {
		return Guesses{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return Guesses{cmp.Or(t.header.Text(), t.guessed.Text()), slices.Clone(t.doubts), slices.Clone(t.spelled)}
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
	spool, err := t.spool(a.opt.Spool)
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
		unzip, err := unpacked(in.Name(), from, "gz")
		if err != nil {
			return nil, err
		}
		defer unzip.Close()
		from = unzip
	}
	return svm.Parse(ctx, in.Name(), from, spool, memory)
}

// spool makes a scratch file, behind those that were made before: that of one must be written, or closed, before
// the next is made. All are in one file of the system, which bounds how many a process may have open, and not
// how many inputs there are.
func (t *textTables) spool(opt scratch.Options) (*textSpool, error) {
	if t.space == nil {
		t.space = scratch.New(opt)
	}
	s := &textSpool{in: t, start: t.bytes, scratch: t.space}
	if t.file == nil {
		var err error
		if t.file, err = atomicfile.NewSpool(s.scratch.Dir(), "ufs-rows"); err != nil {
			return nil, err
		}
	}
	s.file = t.file
	return s, nil
}

// close gives all scratch files back. Nothing can be read from them any more.
func (t *textTables) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return nil
	}
	file := t.file
	t.file = nil
	t.space.Shrink(t.bytes)
	return file.Close()
}

// textSpool is a scratch file that grows within the limit of all.
type textSpool struct {
	in      *textTables
	file    *atomicfile.Spool // of all
	start   int64             // of this one in it
	size    int64
	scratch *scratch.Space
}

// Close gives the space back.
func (s *textSpool) Close() error {
	s.scratch.Shrink(s.in.bytes - s.start)
	s.in.bytes, s.size = s.start, 0
	return s.file.Truncate(s.start)
}

// Restart implements intake.Output.
func (s *textSpool) Restart() error { return s.Close() }

func (s *textSpool) Write(p []byte) (int, error) {
	if err := s.scratch.Grow("scratch for rows", int64(len(p))); err != nil {
		return 0, err
	}
	s.in.bytes += int64(len(p))
	n, err := s.file.WriteAt(p, s.start+s.size)
	if s.size += int64(n); err != nil {
		err = s.scratch.Full(err)
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (s *textSpool) ReadAt(p []byte, at int64) (int, error) {
	return io.NewSectionReader(s.file, s.start, s.size).ReadAt(p, at)
}

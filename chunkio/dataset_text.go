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

func isLibsvm(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return strings.HasSuffix(name, ".svm") || strings.HasSuffix(name, ".libsvm")
}

// DefaultSparse returns the default of Options.Sparse for inputs with these names. It is empty unless one of them is
// libsvm text, which contains only sparse rows and their labels.
func DefaultSparse(inputs []string) string {
	if slices.ContainsFunc(inputs, isLibsvm) {
		return svm.Entries
	}
	return ""
}

// SniffSparse returns the default of Options.Sparse according to the beginning of the first input. This input must be a
// local file, or a folder, of which only the first file is read. The default is set for NDJSON with one map whose keys
// are identifiers, and no other columns that can be features. It is empty for all other inputs, also for a list of
// files (@list), because the list may be a pipe, which can be read only once.
func SniffSparse(ctx context.Context, inputs []string) string {
	if len(inputs) == 0 {
		return ""
	}
	file := findFirstDataFile(inputs[0])
	if file == "" || formatByName(file) != intake.NDJSON {
		return ""
	}
	in, err := openFile(ctx, file)
	if err != nil {
		return "" // opening it again reports the error
	}
	defer in.Close()
	head, err := readHead(in)
	if err != nil {
		return ""
	}
	return intake.OnlyMap(intake.Input{Name: in.Name(), Format: intake.NDJSON, Open: func() (io.ReadCloser, error) {
		return newDecompressor(in.Name(), newSequentialReader(in), intake.SniffPacking([]byte(head)))
	}})
}

func findFirstDataFile(input string) (first string) {
	root, err := place.LocalPath(input)
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
	_ = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error { // opening reports the error
		switch {
		case err != nil:
			return err
		case file != root && isHiddenName(entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || isHiddenName(entry.Name()) || !isDataFile(file):
			return nil
		}
		first = file
		return fs.SkipAll
	})
	return first
}

// textTables holds the rows of opened files that lack row groups (CSV, NDJSON, libsvm, triples and so on) in unnamed
// scratch files, until closeScratch. So later changes of these files have no effect.
type textTables struct {
	mu     sync.Mutex
	tables map[string]*svm.Table // libsvm texts and triples, by name
	file   *atomicfile.Spool     // contains the scratch files, one after the other
	bytes  int64                 // size of the scratch files
	space  *scratch.Space        // counts the bytes of the scratch files; nil until the first file

	rows          map[string]*scratchRows // files of rows, by name
	mostHeld      int64                   // the most bytes of memory held while a file of rows was converted
	leastMemory   int64                   // the least bytes of memory that suffice to convert any file of rows
	triples       tripleTables
	header        intake.Header // whether the first rows of CSV files contain names or data
	guessedHeader intake.Header // the same for files recognized as data only by the shape of their lines
	nullSpellings []string      // spellings of missing values in these files
	doubts        []stream.Text // guesses about the files that may be wrong, without duplicates

	rowColumns map[string]rowColumn // by name, in all files of rows
}

// rowColumn contains the types of a column in the files of rows, which may differ: a type is set if the column has it
// in at least one file. isShared is set once the column is a map in all opened files.
type rowColumn struct{ isNumber, isIdentifier, isMap, isShared bool }

// addTypes adds the column types of a file. The caller holds t.mu, or is the only user of t.
func (t *textTables) addTypes(columns []intake.Column) {
	if t.rowColumns == nil {
		t.rowColumns = map[string]rowColumn{}
	}
	for _, c := range columns {
		column := t.rowColumns[c.Name]
		column.isNumber = column.isNumber || c.Kind == intake.Float || c.Kind == intake.Int || c.Kind == intake.Uint
		column.isIdentifier = column.isIdentifier || c.Identifier
		column.isMap = column.isMap || c.Kind == intake.Map
		t.rowColumns[c.Name] = column
	}
}

// addTypesToPlan records in a plan the columns that must be read as text, or as maps, in all files because of the
// contents of some files.
func (t *textTables) addTypesToPlan(p *planfile.Catalog) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.rowColumns)) {
		switch c := t.rowColumns[name]; {
		case c.isIdentifier:
			p.Texts = append(p.Texts, name)
		case c.isMap:
			p.Maps = append(p.Maps, name)
		}
	}
}

func (t *textTables) loadTypesFromPlan(p *planfile.Catalog) {
	t.rowColumns = map[string]rowColumn{}
	for _, name := range p.Texts {
		t.rowColumns[name] = rowColumn{isIdentifier: true}
	}
	for _, name := range p.Maps {
		t.rowColumns[name] = rowColumn{isMap: true}
	}
}

func (t *textTables) rowsByName(name string) *scratchRows {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows[name]
}

func (t *textTables) isIdentifier(column string) bool { return t.rowColumns[column].isIdentifier }

func (t *textTables) isMapColumn(object string) bool { return t.rowColumns[object].isMap }

// forgetMixedFiles forgets files that must be opened again with other column types, and reports whether there were such
// files. A file is forgotten if it has numbers in a column that has identifiers in other files: such a column is read
// as text in all files. It is also forgotten if it has several columns in place of an object that is a map in other
// files.
func (t *textTables) forgetMixedFiles() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	mixed, newMaps := map[string]bool{}, []string{}
	for name, c := range t.rowColumns {
		switch {
		case c.isNumber && c.isIdentifier:
			mixed[name] = true
			t.rowColumns[name] = rowColumn{isIdentifier: true}
		case c.isMap && !c.isShared:
			newMaps = append(newMaps, name)
			t.rowColumns[name] = rowColumn{isMap: true, isShared: true}
		}
	}
	before := len(t.rows)
	maps.DeleteFunc(t.rows, func(_ string, rows *scratchRows) bool {
		return slices.ContainsFunc(newMaps, rows.table.HasColumnsOf) ||
			slices.ContainsFunc(rows.table.Columns, func(c intake.Column) bool { return mixed[c.Name] && !c.Identifier })
	})
	return len(t.rows) < before
}

func (t *textTables) checkColumnNames(opt TextOptions) error {
	if opt.Recorded {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return opt.CheckMatches(slices.Sorted(maps.Keys(t.rowColumns)))
}

// withDoubts adds the guesses about the files to an error about a column that differs between files. A wrong guess is
// the most likely cause, and guesses are not reported separately after an error.
func (t *textTables) withDoubts(err error) error {
	e, ok := errors.AsType[*stream.DataError](err)
	if !ok || e.Column == "" {
		return err
	}
	const most = 3 // number of guesses added to the error: the last guesses are about the file that differs
	doubts := t.currentGuesses().Doubts
	for _, doubt := range doubts[max(len(doubts)-most, 0):] {
		e.Remedy = stream.Textf("%v; %v", e.Remedy, doubt)
	}
	return err
}

// mostDoubts bounds the stored guesses: if many files are alike, the first few guesses show which option to set.
const mostDoubts = 20

// addDoubts stores new guesses. The caller holds t.mu, or is the only user.
func (t *textTables) addDoubts(doubts []stream.Text) {
	for _, doubt := range doubts {
		if len(t.doubts) < mostDoubts && !slices.ContainsFunc(t.doubts, func(d stream.Text) bool { return reflect.DeepEqual(d, doubt) }) {
			t.doubts = append(t.doubts, doubt)
		}
	}
}

func (t *textTables) addNullSpellings(spelled []string) {
	for _, s := range spelled {
		if len(t.nullSpellings) < mostDoubts && !slices.Contains(t.nullSpellings, s) {
			t.nullSpellings = append(t.nullSpellings, s)
		}
	}
}

// checkNullSpellings refuses URLs as spellings of missing values, because the record of a run contains its options, and
// would reveal secrets in URLs.
func checkNullSpellings(t TextOptions) error {
	for _, s := range t.Nulls {
		if strings.Contains(s, "://") {
			return stream.Usagef("{null-values} %s: a URL is no spelling of a missing value", place.DisplayName(s))
		}
	}
	return nil
}

func (t *textTables) currentGuesses() Guesses {
	if t == nil {
		return Guesses{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return Guesses{cmp.Or(t.header.OptionText(), t.guessedHeader.OptionText()), slices.Clone(t.doubts), slices.Clone(t.nullSpellings)}
}

func (a *access) openLibsvm(ctx context.Context, in Input, memory int64) (format.File, error) {
	t, name := &a.texts, in.Name()
	if format.IsFar(in) {
		return nil, stream.Usagef("%s: libsvm text is read from a local file; copy it there first", name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if table := t.tables[name]; table != nil {
		return table.Open(in), nil
	}
	spool, err := t.newSpool(a.opt.Spool)
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

func parseLibsvm(ctx context.Context, in Input, spool *textSpool, memory int64) (*svm.Table, error) {
	var from io.Reader = io.NewSectionReader(in, 0, in.Size())
	if strings.HasSuffix(strings.ToLower(in.Name()), ".gz") {
		unzip, err := newDecompressor(in.Name(), from, "gz")
		if err != nil {
			return nil, err
		}
		defer unzip.Close()
		from = unzip
	}
	return svm.Parse(ctx, in.Name(), from, spool, memory)
}

// newSpool makes a scratch file, which must be completely written or closed before the next call. All scratch files are
// parts of one file of the operating system, because the number of open files of a process is limited, but the number
// of inputs is not.
func (t *textTables) newSpool(opt scratch.Options) (*textSpool, error) {
	if t.space == nil {
		t.space = scratch.New(opt)
	}
	s := &textSpool{tables: t, start: t.bytes, scratch: t.space}
	if t.file == nil {
		var err error
		if t.file, err = atomicfile.NewSpool(s.scratch.Dir(), "ufs-rows"); err != nil {
			return nil, err
		}
	}
	s.file = t.file
	return s, nil
}

// closeScratch removes all scratch files. They cannot be read any more.
func (t *textTables) closeScratch() error {
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

// textSpool is a scratch file that grows within the limit for all scratch files.
type textSpool struct {
	tables  *textTables
	file    *atomicfile.Spool // shared by all scratch files
	start   int64             // offset of this scratch file in file
	size    int64
	scratch *scratch.Space
}

func (s *textSpool) Close() error {
	s.scratch.Shrink(s.tables.bytes - s.start)
	s.tables.bytes, s.size = s.start, 0
	return s.file.Truncate(s.start)
}

// Restart implements intake.Output.
func (s *textSpool) Restart() error { return s.Close() }

func (s *textSpool) Write(p []byte) (int, error) {
	if err := s.scratch.Grow("scratch for rows", int64(len(p))); err != nil {
		return 0, err
	}
	s.tables.bytes += int64(len(p))
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

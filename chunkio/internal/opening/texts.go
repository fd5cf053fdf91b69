package opening

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TextTables holds the rows of opened files that lack row groups (text, NumPy arrays, Avro, triples) in unnamed
// scratch files, until closeScratch. So later changes of these files have no effect.
type TextTables struct {
	mu     sync.Mutex
	tables map[string]*svm.Table // text with sparse rows, and triples, by the name of the file
	file   *atomicfile.Spool     // contains the scratch files, one after the other
	bytes  int64                 // size of the scratch files
	space  *scratch.Space        // counts the bytes of the scratch files; nil until the first file

	Rows          map[string]*ScratchRows // files of rows, by name, also those read in place
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
func (t *TextTables) addTypes(columns []intake.Column) {
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

// AddTypesToPlan records in a plan the columns that must be read as text, or as maps, in all files because of the
// contents of some files.
func (t *TextTables) AddTypesToPlan(p *planfile.Catalog) {
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

// LoadTypesFromPlan takes over from a plan the names of columns that must be read as text, or as maps.
func (t *TextTables) LoadTypesFromPlan(p *planfile.Catalog) {
	t.rowColumns = map[string]rowColumn{}
	for _, name := range p.Texts {
		t.rowColumns[name] = rowColumn{isIdentifier: true}
	}
	for _, name := range p.Maps {
		t.rowColumns[name] = rowColumn{isMap: true}
	}
}

// RowsByName returns the converted rows of a file, or nil if there are none.
func (t *TextTables) RowsByName(name string) *ScratchRows {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Rows[name]
}

// SparseFormat returns the name of the format of an opened text with sparse rows, or "" for other files.
func (t *TextTables) SparseFormat(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if table := t.tables[name]; table != nil {
		return table.Format
	}
	return ""
}

func (t *TextTables) isIdentifier(column string) bool { return t.rowColumns[column].isIdentifier }

func (t *TextTables) isMapColumn(object string) bool { return t.rowColumns[object].isMap }

// ForgetMixedFiles forgets files that must be opened again with other column types, and reports whether there were such
// files. A file is forgotten if it has numbers in a column that has identifiers in other files: such a column is read
// as text in all files. It is also forgotten if it has several columns in place of an object that is a map in other
// files.
func (t *TextTables) ForgetMixedFiles() bool {
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
	before := len(t.Rows)
	maps.DeleteFunc(t.Rows, func(_ string, rows *ScratchRows) bool {
		return slices.ContainsFunc(newMaps, rows.Table.HasColumnsOf) ||
			slices.ContainsFunc(rows.Table.Columns, func(c intake.Column) bool { return mixed[c.Name] && !c.Identifier })
	})
	return len(t.Rows) < before
}

// CheckColumnNames refuses options for columns that no file has.
func (t *TextTables) CheckColumnNames(opt settings.TextOptions) error {
	if opt.Recorded {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return opt.CheckMatches(slices.Sorted(maps.Keys(t.rowColumns)))
}

// WithDoubts adds the guesses about the files to an error about a column that differs between files. A wrong guess is
// the most likely cause, and guesses are not reported separately after an error.
func (t *TextTables) WithDoubts(err error) error {
	e, ok := errors.AsType[*stream.DataError](err)
	if !ok || e.Column == "" {
		return err
	}
	const most = 3 // number of guesses added to the error: the last guesses are about the file that differs
	doubts := t.CurrentGuesses().Doubts
	for _, doubt := range doubts[max(len(doubts)-most, 0):] {
		e.Remedy = stream.Textf("%v; %v", e.Remedy, doubt)
	}
	return err
}

// mostDoubts bounds the stored guesses: if many files are alike, the first few guesses show which option to set.
const mostDoubts = 20

// addDoubts stores new guesses. The caller holds t.mu, or is the only user.
func (t *TextTables) addDoubts(doubts []stream.Text) {
	for _, doubt := range doubts {
		if len(t.doubts) < mostDoubts && !slices.ContainsFunc(t.doubts, func(d stream.Text) bool { return reflect.DeepEqual(d, doubt) }) {
			t.doubts = append(t.doubts, doubt)
		}
	}
}

func (t *TextTables) addNullSpellings(spelled []string) {
	for _, s := range spelled {
		if len(t.nullSpellings) < mostDoubts && !slices.Contains(t.nullSpellings, s) {
			t.nullSpellings = append(t.nullSpellings, s)
		}
	}
}

// CurrentGuesses returns the guesses about the files opened so far.
func (t *TextTables) CurrentGuesses() Guesses {
	if t == nil {
		return Guesses{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return Guesses{cmp.Or(t.header.OptionText(), t.guessedHeader.OptionText()), slices.Clone(t.doubts), slices.Clone(t.nullSpellings)}
}

// GuessesWith returns the guesses about the files, with the given spellings of missing values in addition to their own.
func (t *TextTables) GuessesWith(nulls []string) Guesses {
	g := t.CurrentGuesses()
	for _, s := range nulls {
		if !slices.Contains(g.nulls, s) {
			g.nulls = append(g.nulls, s)
		}
	}
	return g
}

// ConversionMemory returns the most bytes held while files of rows were converted, and the least that would have
// sufficed.
func (t *TextTables) ConversionMemory() (held, least int64) {
	if t == nil {
		return 0, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mostHeld, t.leastMemory
}

// ScratchBytes returns the size of the scratch files.
func (t *TextTables) ScratchBytes() int64 {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// newSpool makes a scratch file, which must be completely written or closed before the next call. All scratch files are
// parts of one file of the operating system, because the number of open files of a process is limited, but the number
// of inputs is not.
func (t *TextTables) newSpool(opt scratch.Options) (*textSpool, error) {
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
func (t *TextTables) closeScratch() error {
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
	tables  *TextTables
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

func (s *textSpool) ReadAt(p []byte, at int64) (int, error) {
	return io.NewSectionReader(s.file, s.start, s.size).ReadAt(p, at)
}

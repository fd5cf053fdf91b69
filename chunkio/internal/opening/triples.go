package opening

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// tripleTables contains the state with which the row numbers of a file of triples continue after the file before it.
type tripleTables struct {
	next int64  // number of the first row that the next file may have
	last string // name of the previous file
}

// mostTripleRows bounds the row numbers of triples. A larger number is likely a key, not a row number. Accepting it
// would make a row for every number below it.
const mostTripleRows = 1 << 31

// openTriples opens a file of triples as rows of one map. The first call for a file writes its rows to a scratch file.
// Files must be opened in their order, because the rows of a file follow the rows of the previous file.
func (a *Access) openTriples(ctx context.Context, opened format.File, in storage.Input, names []string, memory int64) (format.File, error) {
	t, name := &a.Texts, in.Name()
	if format.IsFar(in) {
		return nil, stream.Usagef("{sparse} %s: %s: triples are read from a local file; copy it there first", a.Options.Sparse, name)
	}
	if a.Options.Plan != "" || a.Options.ForPlan {
		return nil, stream.Usagef("{sparse} %s: rows of triples go from file to file, which a plan does not know; read them without one", a.Options.Sparse)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if table := t.tables[name]; table != nil {
		return table.OpenFrom(in), nil
	}
	r := tripleReader{path: name, next: t.triples.next, last: t.triples.last}
	leaves, _ := naming.NameLeaves(opened.Leaves())
	for k, column := range names {
		i := slices.IndexFunc(leaves, func(l format.Leaf) bool { return l.Name == column })
		switch {
		case i < 0:
			others := convert.Each(leaves, func(l format.Leaf) string { return l.Name })
			return nil, stream.Usagef("{sparse} %s: no column is named %s%s", a.Options.Sparse, column, suggest.DidYouMean(column, others))
		case naming.HaveSharedName(leaves[i]):
			return nil, naming.ErrAmbiguous("sparse", column)
		case leaves[i].Width != 1 || leaves[i].List || leaves[i].Why != "":
			return nil, stream.Usagef("{sparse} %s: column %s is %s, not numbers; triples are three columns of numbers", a.Options.Sparse, column, leaves[i].Type)
		}
		r.names[k], r.leaves[k] = column, i
	}
	return t.addTable(in, a.Options.Spool, func(spool *textSpool) (*svm.Table, error) {
		r.to = svm.NewBuilder(names[2], spool, memory)
		table, err := r.buildTable(ctx, opened)
		if err == nil {
			t.triples.next, t.triples.last = r.next, name
		}
		return table, err
	})
}

// tripleReader makes rows from the triples of a file, which are sorted by row.
type tripleReader struct {
	path    string
	names   [3]string
	leaves  [3]int
	to      *svm.Builder
	next    int64  // completed rows so far, in all files
	last    string // name of the previous file; empty in the first file
	rowOpen bool   // the row with the number next already has entries
}

func (r *tripleReader) buildTable(ctx context.Context, f format.File) (*svm.Table, error) {
	const rowsAtOnce = 1 << 16
	var columns [3][]float64
	first := int64(0) // number of the file's first row, counted in all files
	for g, n := range f.GroupRows() {
		if n == 0 {
			continue
		}
		group, err := f.Open(ctx, g, r.leaves[:])
		if err != nil {
			return nil, err
		}
		for from := int64(0); from < n; from += rowsAtOnce {
			to := min(from+rowsAtOnce, n)
			for k, l := range r.leaves {
				columns[k] = format.Resize(columns[k], int(to-from))
				if err := group.Decode(ctx, l, from, to, [][]float64{columns[k]}); err != nil {
					group.Close()
					return nil, err
				}
			}
			if at, column, err := r.addTriples(columns); err != nil {
				group.Close()
				if errors.As(err, new(*stream.MemoryError)) {
					return nil, err
				}
				return nil, &stream.DataError{Path: r.path, RowGroup: g, Row: first + from + int64(at), Column: column, Err: err,
					Remedy: stream.Textf("{sparse} ROW,INDEX,VALUE wants whole numbers from 0 in ROW and INDEX, sorted by ROW from file to file")}
			}
		}
		group.Close()
		first += n
	}
	if r.rowOpen {
		if err := r.endRow(); err != nil {
			return nil, err
		}
	}
	return r.to.FinishTable(f.FooterDigest())
}

func (r *tripleReader) addTriples(columns [3][]float64) (faultIndex int, faultColumn string, err error) {
	for i, row := range columns[0] {
		if fault := errNotWholeNumber(row, mostTripleRows-1); fault != nil {
			return i, r.names[0], fault
		}
		if fault := errNotWholeNumber(columns[1][i], svm.MaxIndex); fault != nil {
			return i, r.names[1], fault
		}
		to := int64(row)
		switch {
		case to < r.next && !r.rowOpen && r.last != "":
			return i, r.names[0], fmt.Errorf("row %d after row %d of %s", to, r.next-1, r.last)
		case to < r.next:
			return i, r.names[0], fmt.Errorf("row %d after row %d", to, r.next)
		}
		for r.next < to {
			if err := r.endRow(); err != nil {
				return i, "", err
			}
		}
		r.rowOpen = true
		if err := r.to.AddEntry(uint32(columns[1][i]), columns[2][i]); err != nil {
			return i, "", err
		}
	}
	return 0, "", nil
}

func (r *tripleReader) endRow() error {
	r.next, r.rowOpen = r.next+1, false
	return r.to.EndRow()
}

func errNotWholeNumber(x, largest float64) error {
	switch {
	case format.IsNull(x):
		return errors.New("a null, not a number from 0")
	case !(x >= 0 && x <= largest) || x != math.Trunc(x):
		return fmt.Errorf("%v is no whole number from 0 to %v", x, int64(largest))
	}
	return nil
}

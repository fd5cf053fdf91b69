package listing

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formats"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// An input that is a folder means its data files: files with the ending of a format, and files whose first bytes show a
// format. All other files in it are passed over, with a warning.

// DataEndings returns the endings of files that count as data without reading their bytes.
func DataEndings() []string {
	return formats.ListEndings(func(*formats.Format) bool { return true })
}

// IsDataFile reports whether the ending of a name is that of a data file.
func IsDataFile(name string) bool { return formats.ByName(name) != nil }

var resultEndings = []string{".json", ".ufs", ".html", ".py", ".sql", ".yaml", ".yml"}

func isNotOwnResult(fileName string) bool {
	return !slices.Contains(resultEndings, strings.ToLower(path.Ext(fileName)))
}

// IsHiddenName reports whether a file name begins with _ or a dot. Writers give such names to markers and unfinished
// files, which are left out.
func IsHiddenName(base string) bool {
	return strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".")
}

// isVisible reports whether a file at the path rel below a folder should be examined. An object whose key ends with a
// slash only marks a folder.
func isVisible(rel string) bool {
	return !strings.HasSuffix(rel, "/") && !strings.HasSuffix(rel, "_$folder$") && !slices.ContainsFunc(strings.Split(rel, "/"), IsHiddenName)
}

// searchNotes records which files in the folders of an input are not data, and which are data only by the shape of
// their lines.
type searchNotes struct {
	nonData, guessedData fileTally
	guesses              map[string]bool // the guessed files in folders
	unreadCount          int             // files that were passed over because of their ending, without reading them
}

// fileTally counts files, and records the names of the first maxNamed ones.
type fileTally struct {
	count int
	names []string
}

const (
	maxNamed = 10

	whyEmpty = " (empty)"
)

func (t *fileTally) countFile(path, reason string) {
	if t.count++; t.count <= maxNamed {
		t.names = append(t.names, place.DisplayName(path)+reason)
	}
}

func (t *fileTally) String() string {
	files := " files: "
	if t.count == 1 {
		files = " file: "
	}
	s := humanize.Comma(int64(t.count)) + files + strings.Join(t.names, ", ")
	if more := t.count - len(t.names); more > 0 {
		s += " and " + humanize.Comma(int64(more)) + " more"
	}
	return s
}

func (f *searchNotes) warningTexts() (warnings []stream.Text) {
	if f.nonData.count > 0 {
		unseen := ""
		if f.unreadCount > 0 {
			unseen = ", " + humanize.Comma(int64(f.unreadCount)) + " of them unread, because no earlier file with the same ending was data"
		}
		warnings = append(warnings, stream.PlainText("passed over "+f.nonData.String()+unseen+"; their first bytes are not those of a data format: if one is a table of text, end its name with its format, as .csv"))
	}
	if f.guessedData.count > 0 {
		warnings = append(warnings, stream.PlainText("taken for data by their lines, not by their names: "+f.guessedData.String()+"; if they are not data, name the others by a glob or a list"))
	}
	return warnings
}

// errNoData returns the error of a folder in which all files are passed over.
func (f *searchNotes) errNoData(folder string) error {
	e := stream.Dataf(folder, "no data files below it (%s): passed over %v", strings.Join(DataEndings(), ", "), &f.nonData)
	e.Remedy = stream.PlainText("end the name of a text with its format, as .csv")
	return e
}

func (f *searchNotes) noteGuessedFile(ctx context.Context, path string) {
	if IsDataFile(path) {
		return
	}
	if _, guess, err := detectLocalData(ctx, path); err == nil && guess {
		f.guessedData.countFile(path, "")
	}
}

// addGuess records a file in a folder that is data only by a guess. It is passed over later if its columns differ too
// much from the columns of files that certainly are data.
func (f *searchNotes) addGuess(path string) {
	f.guessedData.countFile(path, "")
	if f.guesses == nil {
		f.guesses = map[string]bool{}
	}
	f.guesses[path] = true
}

func detectLocalData(ctx context.Context, path string) (data, guess bool, err error) {
	in, err := storage.OpenFile(ctx, path)
	if err != nil {
		return false, false, err
	}
	defer in.Close()
	f, _, guess, err := opening.DetectFormat(in)
	return f != nil, guess, err
}

// isLinesName reports whether a file is text in lines by its name. An empty file of such a name has no rows: Spark and
// Hadoop write it for an empty partition, and it is passed over.
func isLinesName(name string) bool {
	f := formats.ByName(name)
	return f != nil && f.IsLines
}

func (f *searchNotes) classifyFile(ctx context.Context, path string, entry fs.DirEntry) (data bool, err error) {
	named := IsDataFile(path)
	if named && !isLinesName(path) {
		return true, nil // opening refuses it if it cannot be read
	}
	info, gone := os.Stat(path) // follows a link
	switch {
	case named && (gone != nil || info.IsDir() || info.Size() > 0):
		return true, nil //nolint:nilerr // opening it reports the error
	case gone != nil && entry.Type()&fs.ModeSymlink == 0:
		return false, stream.Dataf(path, "cannot be looked at: %w", storage.WithoutPath(gone))
	case gone != nil:
		f.nonData.countFile(path, " (a link that leads nowhere)")
		return false, nil //nolint:nilerr // a broken link is not data
	case info.IsDir():
		f.nonData.countFile(path, " (a link to a folder)")
		return false, nil
	case !info.Mode().IsRegular():
		f.nonData.countFile(path, " (no regular file)")
		return false, nil
	case info.Size() == 0:
		f.nonData.countFile(path, whyEmpty)
		return false, nil
	}
	data, guess, err := detectLocalData(ctx, path)
	switch {
	case err != nil:
		return false, err
	case !data:
		f.nonData.countFile(path, "")
	case guess:
		f.addGuess(path)
	}
	return data, nil
}

func walkFolder(ctx context.Context, root string, notes *searchNotes) ([]string, error) {
	if table := findTableAroundFolder(root); table != nil && table.folder != root {
		return nil, table.errInsideTable(root)
	}
	from, before := root, notes.nonData.count
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		from += string(filepath.Separator) // WalkDir follows a link only if a slash is at its end
	}
	var files []string
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return stream.Dataf(path, "cannot read the directory: %w", storage.WithoutPath(err))
		case path == from:
			return nil
		case IsHiddenName(entry.Name()) || strings.HasSuffix(path, ".metadata.json"):
			if rel, err := filepath.Rel(root, path); err == nil {
				if kind, at := detectTable(filepath.ToSlash(rel) + slashIfFolder(entry)); kind != "" {
					return &tableError{kind, root, at}
				}
			}
		}
		switch {
		case IsHiddenName(entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case IsHiddenName(entry.Name()) || entry.IsDir() || opening.NamesFeatures(path):
			return nil
		}
		data, err := notes.classifyFile(ctx, path, entry)
		if data {
			files = append(files, path)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(files) > 0:
		return files, nil
	case notes.nonData.count > before:
		return nil, notes.errNoData(root)
	}
	return nil, stream.Dataf(root, "no data files in this directory (%s)", strings.Join(DataEndings(), ", "))
}

func slashIfFolder(entry fs.DirEntry) string {
	if entry.IsDir() {
		return "/"
	}
	return ""
}

// picker selects the objects of a listing that are data, in the order of their keys. The beginnings of objects with an
// unknown ending are read, FootersAhead at a time, which costs at most one more request for each data file. If none of
// the first maxLooks objects with the same unknown ending is data, no further object with this ending is read. So a
// million images stored with the data cost only maxLooks requests.
type picker struct {
	*opening.Access
	list        *List
	notes       *searchNotes
	waiting     []store.Object // not yet decided upon
	unreadCount int            // number of waiting objects whose beginnings may be read
	endings     map[string]*endingStats
}

// endingStats contains the number of objects with one ending whose beginnings were read, and the number of these
// objects that are data.
type endingStats struct{ read, data int }

const (
	maxLooks = 64

	maxWaiting = 1024
)

func newObjectPicker(a *opening.Access, notes *searchNotes) *picker {
	return &picker{Access: a, list: new(List), notes: notes, endings: map[string]*endingStats{}}
}

func pickDataObjects(ctx context.Context, a *opening.Access, candidates *List, notes *searchNotes) (*List, error) {
	p := newObjectPicker(a, notes)
	for _, e := range candidates.Entries() {
		loc, err := store.Parse(e.Path)
		if err == nil {
			err = p.addCandidate(ctx, store.Object{Location: loc, Size: e.Size, Version: e.Version})
		}
		if err != nil {
			return nil, err
		}
	}
	return p.list, p.decideWaitingObjects(ctx)
}

func (p *picker) addCandidate(ctx context.Context, object store.Object) error {
	p.waiting = append(p.waiting, object)
	if object.Size > 0 && !IsDataFile(object.Key) {
		p.unreadCount++
	}
	if p.unreadCount < maxLooks && len(p.waiting) < maxWaiting {
		return nil
	}
	return p.decideWaitingObjects(ctx)
}

func (p *picker) decideWaitingObjects(ctx context.Context) error {
	type answer struct{ ask, data, guess bool }
	answers := make([]answer, len(p.waiting))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(opening.FootersAhead)
	for i, o := range p.waiting {
		a := &answers[i]
		if a.data = IsDataFile(o.Key) && (o.Size > 0 || !isLinesName(o.Key)); a.data || o.Size == 0 {
			continue
		}
		if l := p.endings[NameEnding(o.Key)]; l != nil && l.read >= maxLooks && l.data == 0 {
			p.notes.unreadCount++
			continue
		}
		a.ask = true
		group.Go(func() error {
			f, _, guess, err := opening.DetectFormat(&objectHead{ctx: within, client: p.Objects.Client, object: o})
			a.data, a.guess = f != nil, guess
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, o := range p.waiting {
		a := answers[i]
		if ending := NameEnding(o.Key); a.ask {
			if p.endings[ending] == nil {
				p.endings[ending] = new(endingStats)
			}
			p.endings[ending].read++
			if a.data {
				p.endings[ending].data++
			}
		}
		switch {
		case a.data:
			p.list.AddObject(o, nil, nil)
		case o.Size == 0:
			p.notes.nonData.countFile(o.String(), whyEmpty)
		default:
			p.notes.nonData.countFile(o.String(), "")
		}
		if a.guess {
			p.notes.addGuess(o.String())
		}
	}
	p.waiting, p.unreadCount = p.waiting[:0], 0
	return nil
}

// NameEnding returns the ending of a name in lower case. It is empty if the text after the last dot is too long or has
// digits, as in b.2024-01 and part-0.c000.
func NameEnding(name string) string {
	ending := strings.ToLower(path.Ext(name))
	letters := strings.Trim(ending, ".abcdefghijklmnopqrstuvwxyz")
	if len(ending) > len(".parquet")+1 || len(ending) > len(".mp4") && letters != "" {
		return ""
	}
	return ending
}

// TrimEnding removes the ending that NameEnding finds in a name. It does not use the length of the ending in lower
// case, because this may be another length than in the name.
func TrimEnding(name string) string {
	if NameEnding(name) == "" {
		return name
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// objectHead reads the beginning of an object, which shows whether it is data.
type objectHead struct {
	ctx    context.Context // context of all reads, because io.ReaderAt has none
	client *store.Client
	object store.Object
	head   []byte
}

func (g *objectHead) Name() string { return g.object.PublicName() }

func (g *objectHead) Size() int64 { return g.object.Size }

func (g *objectHead) Close() error { return nil }

// ReadAt implements io.ReaderAt. The first request fetches enough for most decisions.
func (g *objectHead) ReadAt(p []byte, at int64) (int, error) {
	end := at + int64(len(p))
	if end > g.object.Size {
		return 0, io.ErrUnexpectedEOF
	}
	if int64(len(g.head)) < end {
		head := make([]byte, max(min(intake.RecognizeBytes, g.object.Size), end))
		if err := g.client.Read(g.ctx, g.object, head, 0); err != nil {
			return 0, err
		}
		g.head = head
	}
	return copy(p, g.head[at:end]), nil
}

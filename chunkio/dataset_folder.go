package chunkio

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

	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A folder contributes its data files: files with the ending of a format, and of the others the files whose bytes
// are of one, as single files do. All else is passed over, and said so.

// dataEndings are the endings of files that are data without a look at the bytes.
var dataEndings = append([]string{".parquet", ".arrow", ".feather", ".ipc", ".arrows"}, intake.Endings...)

// isDataFile reports whether a file is data by its name. Files of rows may be compressed.
func isDataFile(name string) bool {
	return slices.Contains(dataEndings, strings.ToLower(filepath.Ext(name))) || intake.Named(name) != intake.None
}

// resultEndings are the endings of results of this program that are no data.
var resultEndings = []string{".json", ".ufs", ".html", ".py", ".sql", ".yaml", ".yml"}

// mayBeData reports whether an output of this name may be taken for data when its folder is read.
func mayBeData(name string) bool {
	return !slices.Contains(resultEndings, strings.ToLower(path.Ext(name)))
}

// skipName reports whether folders keep a file to themselves: writers keep their markers and unfinished files under
// such names.
func skipName(base string) bool { return strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") }

// isVisible reports whether a file of this path below a folder is one of those to look at. Of a key it may be a
// marker of a folder.
func isVisible(rel string) bool {
	return !strings.HasSuffix(rel, "/") && !strings.HasSuffix(rel, "_$folder$") && !slices.ContainsFunc(strings.Split(rel, "/"), skipName)
}

// findings are the files that folders of an input hold and that are no data, or data by the shape of their lines alone.
type findings struct {
	passed, guessed tally
	guesses         map[string]bool // the guessed files that folders hold
	unseen          int             // of passed, by their ending alone
}

// tally counts files, and names the first.
type tally struct {
	count int
	names []string
}

const (
	mostNamed = 10
	whyEmpty  = " (empty)"
)

func (t *tally) addName(path, why string) {
	if t.count++; t.count <= mostNamed {
		t.names = append(t.names, place.Name(path)+why)
	}
}

func (t *tally) String() string {
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

// warningTexts are the warnings about the findings.
func (f *findings) warningTexts() (warnings []stream.Text) {
	if f.passed.count > 0 {
		unseen := ""
		if f.unseen > 0 {
			unseen = ", " + humanize.Comma(int64(f.unseen)) + " of them without a look into them, as none of those before them with their ending is data"
		}
		warnings = append(warnings, stream.PlainText("passed over "+f.passed.String()+unseen+"; by their first bytes they are no data: if one is a table of text, end its name with its format, as .csv"))
	}
	if f.guessed.count > 0 {
		warnings = append(warnings, stream.PlainText("taken for data by their lines, not by their names: "+f.guessed.String()+"; if they are none, name the others by a glob or a list"))
	}
	return warnings
}

// errNoData is the error of a folder in which everything is passed over.
func (f *findings) errNoData(folder string) error {
	e := stream.Dataf(folder, "no data files below it (%s): passed over %v", strings.Join(dataEndings, ", "), &f.passed)
	e.Remedy = stream.PlainText("end the name of a text with its format, as .csv")
	return e
}

// noteGuess notes a local file that the user has named and that is data by a guess. One that is none is refused when it
// is opened.
func (f *findings) noteGuess(ctx context.Context, path string) {
	if isDataFile(path) || isText(path) {
		return
	}
	if _, guess, err := lookInto(ctx, path); err == nil && guess {
		f.guessed.addName(path, "")
	}
}

// addGuess notes a file of a folder that is data by a guess. If its columns are quite others than those of the files
// that surely are data, it is passed over.
func (f *findings) addGuess(path string) {
	f.guessed.addName(path, "")
	if f.guesses == nil {
		f.guesses = map[string]bool{}
	}
	f.guesses[path] = true
}

// lookInto is holdsData of a local file.
func lookInto(ctx context.Context, path string) (data, guess bool, err error) {
	in, err := openFile(ctx, path)
	if err != nil {
		return false, false, err
	}
	defer in.Close()
	return holdsData(in)
}

// isTextName reports whether a file is text in lines by its name. Such a file of no bytes has no rows: Spark and Hadoop write
// one for an empty partition, and it is passed over.
func isTextName(name string) bool {
	return slices.Contains([]intake.Format{intake.CSV, intake.TSV, intake.NDJSON}, intake.Named(name))
}

// sortFile reports whether a local file below a folder is data, and notes it where it is not or where that is a guess.
func (f *findings) sortFile(ctx context.Context, path string, entry fs.DirEntry) (data bool, err error) {
	named := isDataFile(path)
	if named && !isTextName(path) {
		return true, nil // which opening refuses where it cannot be read
	}
	info, gone := os.Stat(path) // of the target of a link
	switch {
	case named && (gone != nil || info.IsDir() || info.Size() > 0):
		return true, nil //nolint:nilerr // opening fails with it
	case gone != nil && entry.Type()&fs.ModeSymlink == 0:
		return false, stream.Dataf(path, "cannot be looked at: %w", withoutPath(gone))
	case gone != nil:
		f.passed.addName(path, " (a link that leads nowhere)")
		return false, nil //nolint:nilerr // a link is no data
	case info.IsDir():
		f.passed.addName(path, " (a link to a folder)")
		return false, nil
	case !info.Mode().IsRegular():
		f.passed.addName(path, " (no regular file)")
		return false, nil
	case info.Size() == 0:
		f.passed.addName(path, whyEmpty)
		return false, nil
	}
	data, guess, err := lookInto(ctx, path)
	switch {
	case err != nil:
		return false, err
	case !data:
		f.passed.addName(path, "")
	case guess:
		f.addGuess(path)
	}
	return data, nil
}

// walk returns the data files below a directory. Names that begin with _ or . are left out.
func walk(ctx context.Context, root string, found *findings) ([]string, error) {
	if table := tableOnDisk(root); table != nil && table.folder != root {
		return nil, table.part(root)
	}
	from, before := root, found.passed.count
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		from += string(filepath.Separator) // of links only one with a slash behind it is followed
	}
	var files []string
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return stream.Dataf(path, "cannot read the directory: %w", withoutPath(err))
		case path == from:
			return nil
		case skipName(entry.Name()) || strings.HasSuffix(path, ".metadata.json"):
			if rel, err := filepath.Rel(root, path); err == nil {
				if kind, at := tableAt(filepath.ToSlash(rel) + slashOf(entry)); kind != "" {
					return &tableError{kind, root, at}
				}
			}
		}
		switch {
		case skipName(entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case skipName(entry.Name()) || entry.IsDir():
			return nil
		}
		data, err := found.sortFile(ctx, path, entry)
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
	case found.passed.count > before:
		return nil, found.errNoData(root)
	}
	return nil, stream.Dataf(root, "no data files in this directory (%s)", strings.Join(dataEndings, ", "))
}

// slashOf ends the paths of folders.
func slashOf(e fs.DirEntry) string {
	if e.IsDir() {
		return "/"
	}
	return ""
}

// picker takes the objects of a listing that are data, in order. The beginnings of objects with an unknown ending are
// read, footersAhead at a time: one request more for each data file at most. Of an ending of which none of the first
// looksMost objects is data no more are read, so that what is stored beside data costs looksMost requests for each
// kind, not one for each of a million images.
type picker struct {
	*access
	list    *fileList
	found   *findings
	waiting []store.Object
	asking  int // of waiting, how many are to be read
	endings map[string]*looks
}

// looks counts the objects with an ending whose beginning was read, and how many of them are data.
type looks struct{ all, data int }

const (
	looksMost   = 64
	waitingMost = 1024
)

func (a *access) newPicker(found *findings) *picker {
	return &picker{access: a, list: new(fileList), found: found, endings: map[string]*looks{}}
}

// pickData takes the data of a list of objects.
func (a *access) pickData(ctx context.Context, from *fileList, found *findings) (*fileList, error) {
	p := a.newPicker(found)
	for _, e := range from.all() {
		loc, err := store.Parse(e.path)
		if err == nil {
			err = p.offerObject(ctx, store.Object{Location: loc, Size: e.size, Version: e.version})
		}
		if err != nil {
			return nil, err
		}
	}
	return p.list, p.settleWaiting(ctx)
}

// offerObject takes the next object of the listing if it is data, as settleWaiting finds out.
func (p *picker) offerObject(ctx context.Context, o store.Object) error {
	p.waiting = append(p.waiting, o)
	if o.Size > 0 && !isDataFile(o.Key) {
		p.asking++
	}
	if p.asking < looksMost && len(p.waiting) < waitingMost {
		return nil
	}
	return p.settleWaiting(ctx)
}

// settleWaiting decides of the waiting objects.
func (p *picker) settleWaiting(ctx context.Context) error {
	type answer struct{ ask, data, guess bool }
	answers := make([]answer, len(p.waiting))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(footersAhead)
	for i, o := range p.waiting {
		a := &answers[i]
		if a.data = isDataFile(o.Key) && (o.Size > 0 || !isTextName(o.Key)); a.data || o.Size == 0 {
			continue
		}
		if l := p.endings[endingOf(o.Key)]; l != nil && l.all >= looksMost && l.data == 0 {
			p.found.unseen++
			continue
		}
		a.ask = true
		group.Go(func() (err error) {
			a.data, a.guess, err = holdsData(&glimpse{ctx: within, client: p.client, object: o})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, o := range p.waiting {
		a := answers[i]
		if ending := endingOf(o.Key); a.ask {
			if p.endings[ending] == nil {
				p.endings[ending] = new(looks)
			}
			p.endings[ending].all++
			if a.data {
				p.endings[ending].data++
			}
		}
		switch {
		case a.data:
			p.list.addObject(o)
		case o.Size == 0:
			p.found.passed.addName(o.String(), whyEmpty)
		default:
			p.found.passed.addName(o.String(), "")
		}
		if a.guess {
			p.found.addGuess(o.String())
		}
	}
	p.waiting, p.asking = p.waiting[:0], 0
	return nil
}

// endingOf is the ending of a name, in lower case; empty where it is rather a part of the name, as in b.2024-01 and
// part-0.c000.
func endingOf(name string) string {
	ending := strings.ToLower(path.Ext(name))
	letters := strings.Trim(ending, ".abcdefghijklmnopqrstuvwxyz")
	if len(ending) > len(".parquet")+1 || len(ending) > len(".mp4") && letters != "" {
		return ""
	}
	return ending
}

// withoutEnding is a name without its ending, which may have other bytes in lower case.
func withoutEnding(name string) string {
	if endingOf(name) == "" {
		return name
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// glimpse is the beginning of an object, to see whether it is data.
type glimpse struct {
	ctx    context.Context // of all reading: io.ReaderAt has none
	client *store.Client
	object store.Object
	head   []byte
}

// The methods of Input.
func (g *glimpse) Name() string { return g.object.Name() }
func (g *glimpse) Size() int64  { return g.object.Size }
func (g *glimpse) Close() error { return nil }

// ReadAt implements io.ReaderAt. The first request brings enough for most decisions.
func (g *glimpse) ReadAt(p []byte, at int64) (int, error) {
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

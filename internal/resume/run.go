package resume

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	kind          = "checkpoint" // of a container
	identityEntry = "identity"
	digestEntry   = "digest"
	markPrefix    = "mark "
)

// Run is the states of one part of a run, as the gathering of its statistics, in a folder.
type Run struct {
	folder *Folder
	part   string // begins the names of its files
	id     Identity
	digest string
	stands bool // the folder has states of this very run
	known  bool // the folder says whose its states are

	log *log // of Numbers; nil until it is asked for
}

// Run opens the states of the part of a run that id describes. part begins the names of their
// files: letters only. States of another run are a *stream.UsageError that names what differs;
// of an unasked folder they are removed, with a remark. Damaged ones are a *stream.DataError.
func (f *Folder) Run(ctx context.Context, part string, id Identity) (*Run, error) {
	r, why, err := f.open(ctx, part, id)
	if r == nil || why.Format == "" {
		return r, err
	}
	if f.opt.Unasked {
		f.note("%s holds the checkpoint of another run (%v): it is removed, and this run begins anew", f.path, why)
		return r, r.Clear()
	}
	return nil, f.refusal(why)
}

// Own is Run, but refuses the states of another run in every folder: for a run in whose place
// another may come, which they may be of.
func (f *Folder) Own(ctx context.Context, part string, id Identity) (*Run, error) {
	r, why, err := f.open(ctx, part, id)
	if r == nil || why.Format == "" {
		return r, err
	}
	return nil, f.refusal(why)
}

func (f *Folder) refusal(why stream.Text) error {
	return stream.Usagef("%s is the checkpoint of another run: %v; finish that run, remove the folder, or name another {checkpoint}", f.path, why)
}

// open is Run without a decision on the states of another run: why says how that differs.
func (f *Folder) open(ctx context.Context, part string, id Identity) (r *Run, why stream.Text, err error) {
	if f == nil {
		return nil, why, nil
	}
	digest, err := id.digest()
	if err != nil {
		return nil, why, err
	}
	r = &Run{folder: f, part: part, id: id, digest: digest}
	f.runs = append(f.runs, r)
	path := r.file(identityEntry)
	if _, err := f.root.Lstat(r.name(identityEntry)); errors.Is(err, fs.ErrNotExist) {
		return r, why, r.Clear() // states that nothing tells the run of
	}
	h, err := chunkio.ReadStatsHeader(ctx, path, f.reading())
	if err != nil {
		return nil, why, Damaged(path, err)
	}
	if h.Kind == kind && h.Options[digestEntry] == digest {
		r.known = true
		r.stands = slices.ContainsFunc(f.list(part+"."), func(file string) bool { return file != r.name(identityEntry) && !strings.HasSuffix(file, dataSuffix) })
		f.holds = f.holds || r.stands
		return r, why, nil
	}
	var saved Identity
	if err := json.Unmarshal([]byte(h.Options[identityEntry]), &saved); h.Kind != kind || err != nil {
		return nil, why, Damaged(path, stream.Errorf("it does not say which run it is of"))
	}
	saved.Inputs, saved.Columns = h.Inputs, h.Columns
	if why = id.differs(&saved); why.Format == "" {
		return nil, why, Damaged(path, stream.Errorf("it says two things of the run that it is of"))
	}
	return r, why, nil
}

// Damaged places an error of a state that cannot be used, whose remedy is to remove it.
func Damaged(path string, err error) error {
	at := stream.Dataf(path, "%w", err)
	if own := (*stream.DataError)(nil); errors.As(err, &own) {
		at.Err = own.Err
	}
	at.Remedy = stream.PlainText("this part of the checkpoint is damaged: remove it, and what it held is made again")
	return at
}

// reading is how states are read: nobody else may have put them there.
func (f *Folder) reading() chunkio.FetchOptions { return chunkio.FetchOptions{Folder: f.root} }

// name returns the name of the file of a state in the folder.
func (r *Run) name(state string) string { return r.part + "." + state + Suffix }

// file is where a state is.
func (r *Run) file(state string) string { return filepath.Join(r.folder.path, r.name(state)) }

// Clear removes all states of the part.
func (r *Run) Clear() error {
	if r == nil {
		return nil
	}
	r.known, r.stands = false, false
	r.closeLog()
	for _, name := range r.folder.list(r.part + ".") {
		if err := r.folder.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a file of the folder, if it is there.
func (f *Folder) remove(name string) error {
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &stream.OutputError{Path: filepath.Join(f.path, name), Err: plain(err), Remedy: stream.PlainText("remove it")}
	}
	return nil
}

// Due says that it is time to save: Options.Every has passed since the last save, and fifty
// times as long as that took.
func (r *Run) Due() bool { return r != nil && !r.folder.off && r.folder.due() }

// Stands says that the folder has states of this very run.
func (r *Run) Stands() bool { return r != nil && r.stands }

// Save replaces the state of a name at once and whole. The marks are small facts beside the
// sections. It fails with a *stream.OutputError; an unasked folder is given up instead.
func (r *Run) Save(ctx context.Context, name string, marks map[string]string, sections ...chunkio.Section) error {
	if r == nil || r.folder.off {
		return nil
	}
	begin := r.folder.now()
	err := r.save(context.WithoutCancel(ctx), name, marks, sections)
	if err != nil {
		return r.failed(err)
	}
	r.stands, r.folder.holds = true, true
	r.folder.saved(begin)
	return nil
}

// save is Save after an interruption, too: that is when it matters most.
func (r *Run) save(ctx context.Context, name string, marks map[string]string, sections []chunkio.Section) error {
	if err := r.identify(ctx); err != nil {
		return err
	}
	h := chunkio.StatsHeader{Kind: kind, Options: map[string]string{digestEntry: r.digest}}
	for mark, value := range marks {
		h.Options[markPrefix+mark] = value
	}
	return r.replace(ctx, name, h, sections...)
}

// replace writes a state at once and whole, for this user alone.
func (r *Run) replace(ctx context.Context, name string, h chunkio.StatsHeader, sections ...chunkio.Section) error {
	f, err := atomicfile.CreateIn(ctx, r.folder.root, r.name(name), r.file(name))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := chunkio.WriteStatsTo(f, h, sections...); err != nil {
		return err
	}
	return f.Commit()
}

// identify says in the folder whose its states are, before the first.
func (r *Run) identify(ctx context.Context) error {
	if r.known {
		return nil
	}
	rest := r.id
	rest.Inputs, rest.Columns = nil, nil // which the header has places for
	text, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	h := chunkio.StatsHeader{Kind: kind, Inputs: r.id.Inputs, Columns: r.id.Columns,
		Options: map[string]string{digestEntry: r.digest, identityEntry: string(text)}}
	if err := r.replace(ctx, identityEntry, h); err != nil {
		return err
	}
	r.known = true
	return nil
}

// Drop removes the state of a name, if there is one.
func (r *Run) Drop(name string) error {
	if r == nil {
		return nil
	}
	return r.folder.remove(r.name(name))
}

// State is a state that was saved, open to be read.
type State struct {
	Marks map[string]string
	Path  string
	file  *chunkio.StatsReader
}

// Load opens the state of a name, all of whose checksums are right; nil where there is none.
func (r *Run) Load(ctx context.Context, name string) (*State, error) {
	if r == nil || !r.known || r.folder.off {
		return nil, nil
	}
	path := r.file(name)
	if _, err := r.folder.root.Lstat(r.name(name)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	file, err := chunkio.OpenStats(ctx, path, r.folder.reading())
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, Damaged(path, err)
	}
	if file.Header.Kind != kind || file.Header.Options[digestEntry] != r.digest {
		return nil, errors.Join(Damaged(path, stream.Errorf("it is of another run than its folder")), file.Close())
	}
	s := &State{Marks: make(map[string]string), Path: path, file: file}
	for entry, value := range file.Header.Options {
		if mark, is := strings.CutPrefix(entry, markPrefix); is {
			s.Marks[mark] = value
		}
	}
	return s, nil
}

// Has says that there is a state of that name.
func (r *Run) Has(name string) bool {
	if r == nil || !r.known {
		return false
	}
	_, err := r.folder.root.Lstat(r.name(name))
	return err == nil
}

// Count is the number of states whose names begin so.
func (r *Run) Count(prefix string) int {
	if r == nil || !r.known {
		return 0
	}
	return len(r.folder.list(r.part + "." + prefix))
}

// Close closes its file.
func (s *State) Close() error { return s.file.Close() }

// Has reports whether there is a section of that name.
func (s *State) Has(section string) bool { return s.file.Has(section) }

// Read reads a section to its end.
func (s *State) Read(section string, to io.ReaderFrom) error {
	body, err := s.file.SectionReader(section)
	if err != nil {
		return Damaged(s.Path, err)
	}
	if _, err := to.ReadFrom(body); errors.As(err, new(*stream.UsageError)) || errors.As(err, new(*stream.MemoryError)) {
		return stream.Errorf("%s: %w", s.Path, err) // right in itself
	} else if err != nil {
		return Damaged(s.Path, err)
	}
	switch _, err := io.ReadFull(body, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return Damaged(s.Path, stream.Errorf("section %q is longer than its contents", section))
	default:
		return Damaged(s.Path, err)
	}
}

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
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	containerKind = "checkpoint" // value of StatsHeader.Kind
	identityEntry = "identity"
	digestEntry   = "digest"
	markPrefix    = "mark "
)

// Run holds the states of one part of a run, such as the gathering of its statistics, in a folder.
type Run struct {
	folder       *Folder
	part         string // beginning of the names of its files
	id           Identity
	digest       string
	hasStates    bool // the folder has states of this very run
	isIdentified bool // the folder has the identity file of this run

	log *stateLog // states of Numbers; nil until it is opened
}

// OpenRun opens the states of the part of a run that id describes. The names of its files begin with part, which
// consists of letters. If the folder has states of another run, the error is a *stream.UsageError that names a
// difference; in an implicit folder such states are removed, with a remark. If states are damaged, the error is a
// *stream.DataError.
func (f *Folder) OpenRun(ctx context.Context, part string, id Identity) (*Run, error) {
	r, why, err := f.openRun(ctx, part, id)
	if r == nil || why.Format == "" {
		return r, err
	}
	if f.opt.Implicit {
		f.addRemark("%s holds the checkpoint of another run (%v): it is removed, and this run begins anew", f.path, why)
		return r, r.RemoveStates()
	}
	return nil, f.errOtherRun(why)
}

// OpenOwnRun is OpenRun, but it also refuses states of another run in an implicit folder. Use it to open a folder again
// that another run may have used in the meantime, because then the states belong to that run.
func (f *Folder) OpenOwnRun(ctx context.Context, part string, id Identity) (*Run, error) {
	r, why, err := f.openRun(ctx, part, id)
	if r == nil || why.Format == "" {
		return r, err
	}
	return nil, f.errOtherRun(why)
}

func (f *Folder) errOtherRun(why stream.Text) error {
	return stream.Usagef("%s is the checkpoint of another run: %v; finish that run, remove the folder, or name another {checkpoint}", f.path, why)
}

// openRun is OpenRun, but it leaves states of another run to the caller; why describes how that run differs.
func (f *Folder) openRun(ctx context.Context, part string, id Identity) (r *Run, why stream.Text, err error) {
	if f == nil {
		return nil, why, nil
	}
	digest, err := id.sha256Hex()
	if err != nil {
		return nil, why, err
	}
	r = &Run{folder: f, part: part, id: id, digest: digest}
	f.runs = append(f.runs, r)
	path := r.filePath(identityEntry)
	if _, err := f.dir.Lstat(r.fileName(identityEntry)); errors.Is(err, fs.ErrNotExist) {
		return r, why, r.RemoveStates() // states without an identity are useless
	}
	h, err := chunkio.ReadStatsHeader(ctx, path, f.fetchOptions())
	if err != nil {
		return nil, why, ErrDamaged(path, err)
	}
	if h.Kind == containerKind && h.Options[digestEntry] == digest {
		r.isIdentified = true
		r.hasStates = slices.ContainsFunc(f.listStateNames(part+"."), func(file string) bool {
			return file != r.fileName(identityEntry) && !strings.HasSuffix(file, dataSuffix)
		})
		f.hasOwnStates = f.hasOwnStates || r.hasStates
		return r, why, nil
	}
	var saved Identity
	if err := json.Unmarshal([]byte(h.Options[identityEntry]), &saved); h.Kind != containerKind || err != nil {
		return nil, why, ErrDamaged(path, stream.Errorf("it does not identify its run"))
	}
	saved.Inputs, saved.Columns = h.Inputs, h.Columns
	if why = id.describeFirstDifference(&saved); why.Format == "" {
		return nil, why, ErrDamaged(path, stream.Errorf("it describes its run in two contradictory ways"))
	}
	return r, why, nil
}

// ErrDamaged returns an error for a state at path that cannot be used. The error advises removing this state.
func ErrDamaged(path string, err error) error {
	dataErr := stream.Dataf(path, "%w", err)
	if inner := (*stream.DataError)(nil); errors.As(err, &inner) {
		dataErr.Err = inner.Err
	}
	dataErr.Remedy = stream.PlainText("this part of the checkpoint is damaged: remove it, and its contents are computed again")
	return dataErr
}

func (f *Folder) fetchOptions() chunkio.FetchOptions { return chunkio.FetchOptions{Folder: f.dir} }

func (r *Run) fileName(state string) string { return r.part + "." + state + Suffix }

func (r *Run) filePath(state string) string { return filepath.Join(r.folder.path, r.fileName(state)) }

// RemoveStates removes all states of the part.
func (r *Run) RemoveStates() error {
	if r == nil {
		return nil
	}
	r.isIdentified, r.hasStates = false, false
	r.closeLog()
	for _, name := range r.folder.listStateNames(r.part + ".") {
		if err := r.folder.removeFile(name); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) removeFile(name string) error {
	if err := f.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &stream.OutputError{Path: filepath.Join(f.path, name), Err: stripPathError(err), Remedy: stream.PlainText("remove it")}
	}
	return nil
}

// Due reports whether it is time to save: since the last save, Options.Every and 50 times the duration of that save
// have passed.
func (r *Run) Due() bool { return r != nil && !r.folder.savingDisabled && r.folder.isSaveDue() }

// HasStates reports whether the folder has states of this very run.
func (r *Run) HasStates() bool { return r != nil && r.hasStates }

// Save replaces a state atomically. marks are short texts by name, which are saved together with the sections. Save
// fails with a *stream.OutputError, but for an implicit folder it disables saving instead.
func (r *Run) Save(ctx context.Context, name string, marks map[string]string, sections ...chunkio.Section) error {
	if r == nil || r.folder.savingDisabled {
		return nil
	}
	begin := r.folder.now()
	err := r.saveState(context.WithoutCancel(ctx), name, marks, sections)
	if err != nil {
		return r.asSaveError(err)
	}
	r.hasStates, r.folder.hasOwnStates = true, true
	r.folder.recordSave(begin)
	return nil
}

// saveState saves a state. It saves even if ctx has ended: after an interruption the state is needed most.
func (r *Run) saveState(ctx context.Context, name string, marks map[string]string, sections []chunkio.Section) error {
	if err := r.saveIdentity(ctx); err != nil {
		return err
	}
	h := chunkio.StatsHeader{Kind: containerKind, Options: map[string]string{digestEntry: r.digest}}
	for mark, value := range marks {
		h.Options[markPrefix+mark] = value
	}
	return r.writeState(ctx, name, h, sections...)
}

// writeState writes a state atomically; only this user can read it.
func (r *Run) writeState(ctx context.Context, name string, h chunkio.StatsHeader, sections ...chunkio.Section) error {
	f, err := atomicfile.CreateIn(ctx, r.folder.dir, r.fileName(name), r.filePath(name))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := chunkio.WriteStatsTo(f, h, sections...); err != nil {
		return err
	}
	return f.Commit()
}

// saveIdentity stores the identity of the run in the folder. It must be called before the first state is written.
func (r *Run) saveIdentity(ctx context.Context) error {
	if r.isIdentified {
		return nil
	}
	rest := r.id
	rest.Inputs, rest.Columns = nil, nil // the header has fields for these
	text, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	h := chunkio.StatsHeader{Kind: containerKind, Inputs: r.id.Inputs, Columns: r.id.Columns,
		Options: map[string]string{digestEntry: r.digest, identityEntry: string(text)}}
	if err := r.writeState(ctx, identityEntry, h); err != nil {
		return err
	}
	r.isIdentified = true
	return nil
}

// Drop removes the state called name, if it exists.
func (r *Run) Drop(name string) error {
	if r == nil {
		return nil
	}
	return r.folder.removeFile(r.fileName(name))
}

// State is a saved state, open for reading.
type State struct {
	Marks map[string]string
	Path  string
	file  *chunkio.StatsReader
}

// Load opens the state called name and verifies its checksums. It returns nil if there is no such state.
func (r *Run) Load(ctx context.Context, name string) (*State, error) {
	if r == nil || !r.isIdentified || r.folder.savingDisabled {
		return nil, nil
	}
	path := r.filePath(name)
	if _, err := r.folder.dir.Lstat(r.fileName(name)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	file, err := chunkio.OpenStats(ctx, path, r.folder.fetchOptions())
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, ErrDamaged(path, err)
	}
	if file.Header.Kind != containerKind || file.Header.Options[digestEntry] != r.digest {
		return nil, errors.Join(ErrDamaged(path, stream.Errorf("it belongs to another run than its folder")), file.Close())
	}
	s := &State{Marks: make(map[string]string), Path: path, file: file}
	for entry, value := range file.Header.Options {
		if mark, isMark := strings.CutPrefix(entry, markPrefix); isMark {
			s.Marks[mark] = value
		}
	}
	return s, nil
}

// HasState reports whether there is a state called name.
func (r *Run) HasState(name string) bool {
	if r == nil || !r.isIdentified {
		return false
	}
	_, err := r.folder.dir.Lstat(r.fileName(name))
	return err == nil
}

// CountStates returns the number of states whose names begin with prefix.
func (r *Run) CountStates(prefix string) int {
	if r == nil || !r.isIdentified {
		return 0
	}
	return len(r.folder.listStateNames(r.part + "." + prefix))
}

// Close closes the state's file.
func (s *State) Close() error { return s.file.Close() }

// HasSection reports whether the state has a section of that name.
func (s *State) HasSection(section string) bool { return s.file.Has(section) }

// Read reads a section to its end.
func (s *State) Read(section string, to io.ReaderFrom) error {
	body, err := s.file.SectionReader(section)
	if err != nil {
		return ErrDamaged(s.Path, err)
	}
	if _, err := to.ReadFrom(body); errors.As(err, new(*stream.UsageError)) || errors.As(err, new(*stream.MemoryError)) {
		return stream.Errorf("%s: %w", s.Path, err) // the state is not damaged
	} else if err != nil {
		return ErrDamaged(s.Path, err)
	}
	switch _, err := io.ReadFull(body, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return ErrDamaged(s.Path, stream.Errorf("section %q is longer than its contents", section))
	default:
		return ErrDamaged(s.Path, err)
	}
}

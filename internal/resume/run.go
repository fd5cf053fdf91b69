package resume

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/journal"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Run holds the states of one part of a run, such as the gathering of its statistics, in a folder.
type Run struct {
	folder *Folder
	part   string // beginning of the names of its files
	id     Identity
	digest string
}

// OpenRun opens the states of the part of a run that id describes. The names of its files begin with part, which
// consists of letters. If the folder has states of another run, the error is a *stream.UsageError that names a
// difference; in an implicit folder such states are removed, with a remark.
func (f *Folder) OpenRun(part string, id Identity) (*Run, error) {
	return f.openRun(part, id, true)
}

// OpenOwnRun is OpenRun, but it also refuses states of another run in an implicit folder. Use it to open a folder again
// that another run may have used in the meantime, because then the states belong to that run.
func (f *Folder) OpenOwnRun(part string, id Identity) (*Run, error) {
	return f.openRun(part, id, false)
}

func (f *Folder) openRun(part string, id Identity, mayReplace bool) (*Run, error) {
	if f == nil {
		return nil, nil
	}
	digest, err := id.sha256Hex()
	if err != nil {
		return nil, err
	}
	r := &Run{folder: f, part: part, id: id, digest: digest}
	if saved := f.parts[part]; saved != nil && saved.digest != digest && len(saved.run) > 0 {
		var other Identity
		if err := json.Unmarshal(saved.run, &other); err != nil {
			return nil, ErrDamaged(filepath.Join(f.path, logName), stream.Errorf("it does not identify its run"))
		}
		why := id.describeFirstDifference(&other)
		switch {
		case why.Format == "":
			return nil, ErrDamaged(filepath.Join(f.path, logName), stream.Errorf("it describes its run in two contradictory ways"))
		case !f.opt.Implicit || !mayReplace:
			return nil, stream.Usagef("%s is the checkpoint of another run: %v; finish that run, remove the folder, or name another {checkpoint}", f.path, why)
		}
		f.addRemark("%s holds the checkpoint of another run (%v): it is removed, and this run begins anew", f.path, why)
		if err := r.RemoveStates(); err != nil {
			return nil, err
		}
	}
	f.runs = append(f.runs, r)
	return r, nil
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

func (r *Run) savedPart() *savedPart {
	if r == nil {
		return nil
	}
	if part := r.folder.parts[r.part]; part != nil && part.digest == r.digest {
		return part
	}
	return nil
}

func (r *Run) savedState(name string) *savedState {
	if part := r.savedPart(); part != nil {
		return part.states[name]
	}
	return nil
}

// RemoveStates removes all states of the part.
func (r *Run) RemoveStates() error {
	if r == nil || r.folder.parts[r.part] == nil {
		return nil
	}
	if err := r.folder.appendRecord(record{Part: r.part}, 0, nil); err != nil {
		return r.asSaveError(err)
	}
	return r.folder.removeUnlistedFiles(r.part + ".")
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
func (r *Run) HasStates() bool {
	part := r.savedPart()
	return part != nil && len(part.states) > 0
}

// Save replaces a state durably and atomically. marks are short texts by name, which are saved together with the
// sections. Save fails with a *stream.OutputError, but for an implicit folder it disables saving instead.
func (r *Run) Save(ctx context.Context, name string, marks map[string]string, sections ...chunkio.Section) error {
	return r.saveState(ctx, savedState{Name: name, Marks: marks}, sections)
}

// saveState saves even if ctx has ended: after an interruption the state is needed most.
func (r *Run) saveState(ctx context.Context, s savedState, sections []chunkio.Section) error {
	if r == nil || r.folder.savingDisabled {
		return nil
	}
	begin := r.folder.now()
	if err := r.replaceState(context.WithoutCancel(ctx), &s, sections); err != nil {
		return r.asSaveError(err)
	}
	r.folder.recordSave(begin)
	return nil
}

// replaceState writes the sections to a file, and then the record that lists this file. The file of the state before
// has the other of two names and stays until then.
func (r *Run) replaceState(ctx context.Context, s *savedState, sections []chunkio.Section) error {
	before := ""
	if old := r.savedState(s.Name); old != nil {
		before = old.File
	}
	if len(sections) > 0 {
		if s.File = r.part + "." + s.Name + ".0" + Suffix; s.File == before {
			s.File = r.part + "." + s.Name + ".1" + Suffix
		}
		if err := r.writeSections(ctx, s, sections); err != nil {
			return err
		}
	}
	if err := r.appendState(s, 0, nil); err != nil {
		return err
	}
	if err := r.folder.log.SyncToDisk(); err != nil || before == "" {
		return err
	}
	return r.folder.removeFile(before)
}

// writeSections writes the sections to the file of the state durably; only this user can read it.
func (r *Run) writeSections(ctx context.Context, s *savedState, sections []chunkio.Section) error {
	file, err := atomicfile.CreateIn(ctx, r.folder.dir, s.File, filepath.Join(r.folder.path, s.File))
	if err != nil {
		return err
	}
	defer file.Close()
	for _, section := range sections {
		n, err := section.Body.WriteTo(file)
		if err != nil {
			return err
		}
		s.Sections = append(s.Sections, sectionMark{section.Name, n})
	}
	err = file.Commit()
	s.Sum = file.ContentSum()
	return err
}

// appendState appends a state to the log, and before the first state the identity of the run.
func (r *Run) appendState(s *savedState, size int64, body io.WriterTo) error {
	if r.savedPart() == nil {
		run, err := json.Marshal(r.id)
		if err != nil {
			return err
		}
		if err := r.folder.appendRecord(record{Part: r.part, Digest: r.digest, Run: run}, 0, nil); err != nil {
			return err
		}
	}
	return r.folder.appendRecord(record{Part: r.part, State: s}, size, body)
}

// AppendState adds a state that is never replaced. It survives a kill of the process at once, but reaches the disk only
// if Due returns true, or with the next save: a sync could take as long as the work that led to the state. It fails like
// Save.
func (r *Run) AppendState(name string, marks map[string]string) error {
	return r.appendStateWithValues(name, marks, nil)
}

func (r *Run) appendStateWithValues(name string, marks map[string]string, values stageValues) error {
	if r == nil || r.folder.savingDisabled {
		return nil
	}
	begin := r.folder.now()
	s, size, body := &savedState{Name: name, Marks: marks}, values.byteSize(), io.WriterTo(nil)
	if values != nil {
		s.Sections, body = []sectionMark{{numbersSection, size}}, values
	}
	err := r.appendState(s, size, body)
	if err == nil && r.Due() {
		err = r.folder.log.SyncToDisk()
		r.folder.recordSave(begin)
	}
	if err != nil {
		return r.asSaveError(err)
	}
	return nil
}

// Drop removes the state called name, if it exists.
func (r *Run) Drop(name string) error {
	s := r.savedState(name)
	if s == nil {
		return nil
	}
	if err := r.appendState(&savedState{Name: name, Removed: true}, 0, nil); err != nil {
		return r.asSaveError(err)
	}
	if s.File == "" {
		return nil
	}
	return r.folder.removeFile(s.File)
}

// asSaveError turns an error of saving into an error about the checkpoint. If the user has not named the folder
// (Options.Implicit), it disables saving and returns nil.
func (r *Run) asSaveError(err error) error {
	if r.folder.opt.Implicit {
		r.folder.disableSaving(err)
		return nil
	}
	if !errors.As(err, new(*stream.OutputError)) && !errors.As(err, new(*stream.DataError)) {
		err = &stream.OutputError{Path: r.folder.path, Err: stripPathError(err), Remedy: atomicfile.RemedyFor(err)}
	}
	return stream.Errorf("checkpoint: %w", err)
}

// State is a saved state, open for reading.
type State struct {
	*savedState
	Path   string   // of the file with its sections
	handle *os.File // nil if the sections are in the log
	bytes  *io.SectionReader
}

// Load opens the state called name and verifies its checksum. It returns nil if there is no such state, or if one of
// its files is missing.
func (r *Run) Load(ctx context.Context, name string) (*State, error) {
	saved := r.savedState(name)
	if saved == nil {
		return nil, nil
	}
	f := r.folder
	for _, name := range saved.fileNames() {
		if _, err := f.dir.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			f.addRemark("%s lacks a file of the checkpoint, %s: that part is computed again", f.path, name)
			return nil, r.Drop(saved.Name)
		}
	}
	if saved.File == "" {
		return &State{saved, filepath.Join(f.path, logName), nil, f.log.OpenBytes(saved.place.At, saved.place.Bytes)}, nil
	}
	path := filepath.Join(f.path, saved.File)
	file, err := ownfile.Open(f.dir, saved.File, os.O_RDONLY)
	if err != nil {
		return nil, ErrDamaged(path, stripPathError(err))
	}
	same, err := journal.HasSum(ctx, file, saved.countBytes(), saved.Sum)
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), file.Close())
	case err == nil && !same:
		err = stream.Errorf("it is not as it was written")
	}
	if err != nil {
		return nil, errors.Join(ErrDamaged(path, err), file.Close())
	}
	return &State{saved, path, file, io.NewSectionReader(file, 0, saved.countBytes())}, nil
}

// HasState reports whether there is a state called name.
func (r *Run) HasState(name string) bool { return r.savedState(name) != nil }

// CountStates returns the number of states whose names begin with prefix.
func (r *Run) CountStates(prefix string) (n int) {
	if part := r.savedPart(); part != nil {
		for name := range part.states {
			if strings.HasPrefix(name, prefix) {
				n++
			}
		}
	}
	return n
}

// Close closes the state's file.
func (s *State) Close() error {
	if s.handle == nil {
		return nil
	}
	return s.handle.Close()
}

// Read reads a section to its end.
func (s *State) Read(section string, to io.ReaderFrom) error {
	i := slices.IndexFunc(s.Sections, func(m sectionMark) bool { return m.Name == section })
	if i < 0 {
		return ErrDamaged(s.Path, stream.Errorf("it has no section %q", section))
	}
	before := savedState{Sections: s.Sections[:i]}
	body := bufio.NewReaderSize(io.NewSectionReader(s.bytes, before.countBytes(), s.Sections[i].Bytes), 1<<16)
	if _, err := to.ReadFrom(body); errors.As(err, new(*stream.UsageError)) || errors.As(err, new(*stream.MemoryError)) {
		return stream.Errorf("%s: %w", s.Path, err) // the state is not damaged
	} else if err != nil {
		return ErrDamaged(s.Path, err)
	}
	switch _, err := body.ReadByte(); {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return ErrDamaged(s.Path, stream.Errorf("section %q is longer than its contents", section))
	default:
		return ErrDamaged(s.Path, err)
	}
}

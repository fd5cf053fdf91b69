package resume

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/journal"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// Suffix ends the names of all files that a run saves in its folder. Forget removes only such files, because the
	// folder may also contain files of the user.
	Suffix = ".ufs-state"

	lockName = "lock" + Suffix

	// DefaultEvery is the default of Options.Every.
	DefaultEvery = 30 * time.Second
	// intervalPerSaveCost bounds the cost of saving: after a save, 50 times its duration must pass before the next.
	intervalPerSaveCost = 50
)

// Options are the options for a checkpoint folder.
type Options struct {
	Every time.Duration // least time between saves; 0 means DefaultEvery; negative, in tests: a save is always due
	// Implicit marks a folder that the user has not named. States of another run in it are removed, and if it cannot be
	// written, the run continues without checkpoints. A remark reports each of these.
	Implicit bool
	Note     func(stream.Text) // receives remarks; nil drops them
}

// Folder is the checkpoint folder of a run. It is locked against other runs until Close or Forget. It is not safe for
// concurrent use.
type Folder struct {
	path           string
	dir            *os.Root // the open folder, through which all its files are opened
	opt            Options
	lock           *lock
	createdByOpen  bool // Open has made the folder, so Forget may remove it
	savingDisabled bool // an implicit folder could not be written

	log   *journal.Log[record]  // nil before the first record
	parts map[string]*savedPart // the states in the log, by part
	runs  []*Run                // the parts of the run

	now      func() time.Time
	lastSave time.Time     // time of the last save, or of Open if nothing was saved
	saveCost time.Duration // time that the last save took
}

// Open locks the folder at path, and makes it for this user alone if it does not exist. It fails with a
// *stream.UsageError if another run has locked the folder. It fails with a *stream.OutputError if the folder cannot be
// made, or if other users could read or write the states.
func Open(path string, opt Options) (*Folder, error) {
	f := &Folder{path: path, opt: opt, now: time.Now, parts: make(map[string]*savedPart)}
	f.opt.Every = cmp.Or(f.opt.Every, DefaultEvery)
	if err := f.openRoot(); err != nil {
		return nil, err
	}
	var err error
	if f.lock, err = takeLock(f.dir); err != nil {
		f.dir.Close()
		if busy, ok := errors.AsType[*busyError](err); ok {
			return nil, stream.Usagef("{checkpoint} %s: another run%s works in this folder; wait until it ends, or name another {checkpoint}", path, busy.holder)
		}
		return nil, &stream.OutputError{Path: path, Err: stripPathError(err), Remedy: stream.Textf("choose another {checkpoint} folder")}
	}
	f.lastSave = f.now()
	if err := f.openLog(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func stripPathError(err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// Path returns the folder's path; empty for a nil Folder.
func (f *Folder) Path() string {
	if f == nil {
		return ""
	}
	return f.path
}

// HoldsStates reports whether the folder contains states of this very run, from which it can continue.
func (f *Folder) HoldsStates() bool { return f != nil && slices.ContainsFunc(f.runs, (*Run).HasStates) }

func (f *Folder) addRemark(format string, args ...any) {
	if f.opt.Note != nil {
		f.opt.Note(stream.Textf(format, args...))
	}
}

func (f *Folder) isSaveDue() bool { return f.opt.isSaveDue(f.now().Sub(f.lastSave), f.saveCost) }

func (o *Options) isSaveDue(sinceLastSave, lastSaveCost time.Duration) bool {
	return o.Every < 0 || sinceLastSave >= max(o.Every, intervalPerSaveCost*lastSaveCost)
}

func (f *Folder) recordSave(saveBegin time.Time) {
	f.lastSave = f.now()
	f.saveCost = f.lastSave.Sub(saveBegin)
}

// Sync writes the logged states to disk. It must be called if a run ends before its result is complete.
func (f *Folder) Sync() error {
	if f == nil || f.lock == nil || f.savingDisabled {
		return nil
	}
	if err := f.log.SyncToDisk(); err != nil {
		return &stream.OutputError{Path: f.path, Err: stripPathError(err), Remedy: atomicfile.RemedyFor(err)}
	}
	return nil
}

// Close unlocks the folder for other runs and keeps its states. If it is called again, it does nothing.
func (f *Folder) Close() error {
	if f == nil || f.lock == nil {
		return nil
	}
	l := f.lock
	f.lock = nil
	f.closeLog()
	empty := len(f.listStateNames("")) == 0
	if empty { // nothing was saved: leave no trace
		l.remove(f.dir)
	}
	err := errors.Join(l.release(), f.dir.Close())
	if empty && f.createdByOpen {
		_ = os.Remove(f.path) // fails if the folder contains files of others
	}
	return err
}

// Forget removes the states of the folder and unlocks it. It also removes the folder if a run of this program made it
// and it contains nothing else.
func (f *Folder) Forget() error {
	if f == nil || f.lock == nil {
		return nil
	}
	failed := f.removeStates()
	f.createdByOpen = f.createdByOpen || f.opt.Implicit
	return errors.Join(failed, f.Close())
}

func (f *Folder) removeStates() (failed error) {
	f.closeLog()
	for _, name := range f.listMatchingNames(func(name string) bool { return isState(name) || isUnfinishedState(name) }) {
		if err := f.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) && failed == nil {
			failed = &stream.OutputError{Path: filepath.Join(f.path, name), Err: stripPathError(err), Remedy: atomicfile.RemedyFor(err)}
		}
	}
	return failed
}

// disableSaving lets the run continue without checkpoints after an implicit folder could not be written. It removes the
// states, because the disk may be full and the result needs space.
func (f *Folder) disableSaving(why error) {
	f.savingDisabled = true
	f.addRemark("the run no longer saves checkpoints: %v", why)
	if err := f.removeStates(); err != nil {
		f.addRemark("%v", err)
	}
}

// Forget removes the states in the folder at path. Call it once the result of the run is safe. It removes nothing if
// the folder does not exist, or if another run has locked it in the meantime.
func Forget(path string, opt Options) error {
	if path == "" {
		return nil
	}
	if fi, err := os.Stat(path); err != nil || !fi.IsDir() {
		return nil //nolint:nilerr // nothing was saved there
	}
	f, err := Open(path, opt)
	if err != nil {
		if errors.As(err, new(*stream.UsageError)) || opt.Implicit { // the run has saved nothing there
			return nil
		}
		return err
	}
	return f.Forget()
}

func (f *Folder) listStateNames(namePrefix string) []string {
	return f.listMatchingNames(func(name string) bool { return isState(name) && strings.HasPrefix(name, namePrefix) })
}

func (f *Folder) listMatchingNames(wanted func(name string) bool) (names []string) {
	entries, err := fs.ReadDir(f.dir.FS(), ".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if wanted(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

func isState(name string) bool { return strings.HasSuffix(name, Suffix) && name != lockName }

// isUnfinishedState reports whether name is the name of an incomplete state, left by a run that was killed meanwhile.
func isUnfinishedState(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, Suffix+".")
}

// busyError reports a folder that another run has locked.
type busyError struct{ holder string }

func (e *busyError) Error() string { return "another run" + e.holder + " has the lock" }

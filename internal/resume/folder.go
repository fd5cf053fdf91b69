package resume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// Suffix ends the names of all that a run keeps in its folder: Forget removes these and
	// nothing else, as a user may name a folder that has files of his own.
	Suffix = ".ufs-state"

	lockName = "lock" + Suffix

	// DefaultEvery is the time between saves.
	DefaultEvery = 30 * time.Second
	// share bounds what saving costs: the time between saves is so many times that of the last.
	share = 50
)

// Options say how a folder is kept.
type Options struct {
	Every time.Duration // between saves, at least; 0 means DefaultEvery, less that no chance is left out, for tests
	// Unasked is a folder that the user has not named: what it holds of another run is removed,
	// and where it cannot be written the run goes on without. Remarks say so.
	Unasked bool
	Note    func(stream.Text) // takes remarks; nil drops them
}

// Folder is the checkpoint folder of a run, which no other works in until Close or Forget.
// Not safe for concurrent use.
type Folder struct {
	path string
	root *os.Root // itself: all that it holds is opened below it
	opt  Options
	lock *lock
	made bool // by Open, so that Forget removes it
	off  bool // an unasked one that could not be written

	holds bool   // states of this very run
	runs  []*Run // its parts

	now  func() time.Time
	last time.Time     // of a save, or of Open
	cost time.Duration // of the last save
}

// Open makes the folder if there is none, for this user alone, and locks it. It fails with a
// *stream.UsageError while another run works in it, and with a *stream.OutputError where it cannot be
// made, or others could read or write what is saved there.
func Open(path string, opt Options) (*Folder, error) {
	f := &Folder{path: path, opt: opt, now: time.Now}
	if f.opt.Every == 0 {
		f.opt.Every = DefaultEvery
	}
	if err := f.openRoot(); err != nil {
		return nil, err
	}
	var err error
	if f.lock, err = takeLock(f.root); err != nil {
		f.root.Close()
		var busy *busyError
		if errors.As(err, &busy) {
			return nil, stream.Usagef("{checkpoint} %s: another run%s works in this folder; wait until it ends, or name another {checkpoint}", path, busy.by)
		}
		return nil, &stream.OutputError{Path: path, Err: plain(err), Remedy: stream.Textf("choose another {checkpoint} folder")}
	}
	f.last = f.now()
	return f, nil
}

// plain is an error without the name of a system call.
func plain(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Path is where the folder is; empty for none.
func (f *Folder) Path() string {
	if f == nil {
		return ""
	}
	return f.path
}

// Holds says that the folder has states of this very run, from which it would go on.
func (f *Folder) Holds() bool { return f != nil && f.holds }

func (f *Folder) note(format string, args ...any) {
	if f.opt.Note != nil {
		f.opt.Note(stream.Textf(format, args...))
	}
}

// due says that the last save is long enough ago.
func (f *Folder) due() bool { return f.opt.due(f.now().Sub(f.last), f.cost) }

// due says that so much time after a save, which took so long, another is due.
func (o *Options) due(since, cost time.Duration) bool {
	return o.Every < 0 || since >= max(o.Every, share*cost)
}

// saved notes that a save has ended that took so long.
func (f *Folder) saved(begin time.Time) {
	f.last = f.now()
	f.cost = f.last.Sub(begin)
}

// Sync puts on the disk what waits for its time: call it where a run ends before its result is there.
func (f *Folder) Sync() error {
	if f == nil || f.lock == nil || f.off {
		return nil
	}
	for _, r := range f.runs {
		if err := r.log.sync(); err != nil {
			return r.failed(err)
		}
	}
	return nil
}

// Close gives the folder to other runs and leaves what it holds. It may be called again.
func (f *Folder) Close() error {
	if f == nil || f.lock == nil {
		return nil
	}
	l := f.lock
	f.lock = nil
	for _, r := range f.runs {
		r.closeLog()
	}
	empty := len(f.list("")) == 0
	if empty { // nothing was saved: nothing is left behind
		l.remove(f.root)
	}
	err := errors.Join(l.release(), f.root.Close())
	if empty && f.made {
		_ = os.Remove(f.path) // it may have got files of others
	}
	return err
}

// Forget removes what the folder holds, gives it to other runs, and removes it where it
// has nothing else and a run of this program made it.
func (f *Folder) Forget() error {
	if f == nil || f.lock == nil {
		return nil
	}
	failed := f.clear()
	f.made = f.made || f.opt.Unasked
	return errors.Join(failed, f.Close())
}

// clear removes all that the folder holds.
func (f *Folder) clear() (failed error) {
	f.holds = false
	for _, r := range f.runs {
		r.closeLog()
	}
	for _, name := range f.names(func(name string) bool { return isState(name) || isDebris(name) }) {
		if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) && failed == nil {
			failed = &stream.OutputError{Path: filepath.Join(f.path, name), Err: plain(err), Remedy: atomicfile.Remedy(err)}
		}
	}
	return failed
}

// giveUp goes on without an unasked folder that could not be written, and gives back what it takes: the disk
// may be full, and the result is to go there.
func (f *Folder) giveUp(why error) {
	f.off = true
	f.note("nothing more is saved for an interruption: %v", why)
	if err := f.clear(); err != nil {
		f.note("%v", err)
	}
}

// Forget removes the states in the folder at path once the run's result is safe. Where there
// is no such folder, or another run works in it by now, nothing is removed.
func Forget(path string, opt Options) error {
	if path == "" {
		return nil
	}
	if fi, err := os.Stat(path); err != nil || !fi.IsDir() {
		return nil //nolint:nilerr // nothing was saved there
	}
	f, err := Open(path, opt)
	if err != nil {
		if errors.As(err, new(*stream.UsageError)) || opt.Unasked { // nothing of this user's was saved there
			return nil
		}
		return err
	}
	return f.Forget()
}

// list is the names of the states in the folder that begin so; the lock is none.
func (f *Folder) list(prefix string) []string {
	return f.names(func(name string) bool { return isState(name) && strings.HasPrefix(name, prefix) })
}

// names returns the wanted names in the folder.
func (f *Folder) names(wanted func(name string) bool) (names []string) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
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

// isState reports whether a state has that name.
func isState(name string) bool { return strings.HasSuffix(name, Suffix) && name != lockName }

// isDebris reports whether that is what a killed run has left of a state that it was writing.
func isDebris(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, Suffix+".")
}

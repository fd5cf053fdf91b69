package resume

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// lock is a file that no other process can open until this process ends.
type lock struct{ handle windows.Handle }

// takeLock makes the lock file of a folder, and opens it for this process alone. The system removes the file when it is
// closed, even if the process is killed.
func takeLock(in *os.Root) (*lock, error) {
	path := filepath.Join(in.Name(), lockName)
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE, 0, nil,
		windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	switch {
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		return nil, &busyError{}
	case err != nil:
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return &lock{h}, nil
}

func (l *lock) remove(*os.Root) {}

func (l *lock) release() error { return windows.CloseHandle(l.handle) }

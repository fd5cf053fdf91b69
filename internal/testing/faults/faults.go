// Package faults lets a test make the file system fail during a run. The context of the run carries a [Disk]. Package
// localfile calls it before it reads a file, and package atomicfile before it changes a file. The scratch files of
// methods that iterate over rows call it before they are read or changed, with the name of their folder as the path.
// Outside tests no context has a Disk, and the cost is one look-up for each file that is opened.
package faults

import "context"

// Disk can make reads and writes fail. Several goroutines may call its functions at once.
type Disk struct {
	// Read is called before want bytes of a file are read. It returns how many of these may be read, or an error.
	Read func(path string, want int) (allowed int, err error)
	// Change is called before a file is changed; its second argument is "write", "sync" or "rename". The error that it
	// returns becomes the error of the change.
	Change func(path, what string) error
}

type diskKey struct{}

// WithDisk returns ctx with a Disk.
func WithDisk(ctx context.Context, d *Disk) context.Context {
	return context.WithValue(ctx, diskKey{}, d)
}

// DiskOf returns the Disk of ctx, or nil if ctx has no Disk. The methods of a nil Disk never fail.
func DiskOf(ctx context.Context) *Disk {
	d, _ := ctx.Value(diskKey{}).(*Disk)
	return d
}

// AllowedRead calls Read for len(p) bytes of the file at path, and returns the part of p that may be filled.
func (d *Disk) AllowedRead(path string, p []byte) ([]byte, error) {
	if d == nil || d.Read == nil {
		return p, nil
	}
	n, err := d.Read(path, len(p))
	return p[:min(n, len(p))], err
}

// CheckChange must be called before a change of the file at path. It calls Change and returns its error.
func (d *Disk) CheckChange(path, what string) error {
	if d == nil || d.Change == nil {
		return nil
	}
	return d.Change(path, what)
}

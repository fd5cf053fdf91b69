// Package faults lets a test make the file system fail during a run. The run's context carries a [Disk].
// Package localfile calls it before it reads a file, and package atomicfile before it changes a file. The scratch
// of methods over rows calls it before reads and changes, with the name of its folder. Outside tests no context
// has a Disk, and the cost is one look-up for each file that is opened.
package faults

import "context"

// Disk can make reads and writes fail. Several goroutines may call its functions at once.
type Disk struct {
	// Read is called before want bytes of a file are read. It may allow fewer bytes, or return an error.
	Read func(path string, want int) (allowed int, err error)
	// Change is called before a file is written, synced or renamed. It may return an error.
	Change func(path, what string) error
}

type diskKey struct{}

// WithDisk returns ctx with a Disk.
func WithDisk(ctx context.Context, d *Disk) context.Context {
	return context.WithValue(ctx, diskKey{}, d)
}

// DiskOf returns the Disk of ctx. It returns nil if ctx has none; a nil Disk never fails.
func DiskOf(ctx context.Context) *Disk {
	d, _ := ctx.Value(diskKey{}).(*Disk)
	return d
}

// AllowedRead returns the part of p that may be read from the file at path.
func (d *Disk) AllowedRead(path string, p []byte) ([]byte, error) {
	if d == nil || d.Read == nil {
		return p, nil
	}
	n, err := d.Read(path, len(p))
	return p[:min(n, len(p))], err
}

// CheckChange is called before a change to the file at path, and may refuse it.
func (d *Disk) CheckChange(path, what string) error {
	if d == nil || d.Change == nil {
		return nil
	}
	return d.Change(path, what)
}

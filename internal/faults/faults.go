// Package faults lets a test break the file system beneath a run: its context carries a [Disk], which
// package localfile asks before it reads a file and package atomicfile before it changes one, and the scratch
// of methods over rows before it does either, by the name of its folder. A context
// without a Disk, as every one outside of tests is, costs a look-up for each file that is opened.
package faults

import "context"

// Disk says what becomes of reads and writes. Several goroutines may ask.
type Disk struct {
	// Read is asked before want bytes of a file are read: it may allow fewer, or fail.
	Read func(path string, want int) (allowed int, err error)
	// Change is asked before a file that appears whole is written, synced or renamed.
	Change func(path, what string) error
}

type diskKey struct{}

// With is ctx with a Disk.
func With(ctx context.Context, d *Disk) context.Context { return context.WithValue(ctx, diskKey{}, d) }

// Of is the Disk of ctx; nil, which lets all pass, for most.
func Of(ctx context.Context) *Disk {
	d, _ := ctx.Value(diskKey{}).(*Disk)
	return d
}

// Reading is how much of p may be read of the file at path.
func (d *Disk) Reading(path string, p []byte) ([]byte, error) {
	if d == nil || d.Read == nil {
		return p, nil
	}
	n, err := d.Read(path, len(p))
	return p[:min(n, len(p))], err
}

// Changing is asked before what is done to the file at path.
func (d *Disk) Changing(path, what string) error {
	if d == nil || d.Change == nil {
		return nil
	}
	return d.Change(path, what)
}

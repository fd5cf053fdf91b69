// Package resumetest tests that a resumed run gives the same bits, wherever the run was interrupted.
package resumetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Storage is the storage of a run, and a function that can interrupt it.
type Storage struct {
	Stages  stream.Stages // nil: nothing is saved
	Scratch stream.Scratch
	// Block is called by the source before each block, with the number of its pass and of the block in that
	// pass, both counted from 1.
	Block func(pass, block int) error
}

var errBrokenOff = errors.New("broken off")

// CheckResume interrupts a run and resumes it. It calls the function same to compare the result with the result of an
// uninterrupted run. It does this for an interruption in each pass over the source or over a scratch file, and after
// each save. The resumed run is also interrupted once. It tests scratch in files and in memory.
func CheckResume[R any](t *testing.T, run func(Storage) (R, error), same func(what string, got, want R)) {
	t.Helper()
	want := must.Get(run(Storage{Scratch: stream.InMemory{}, Block: func(int, int) error { return nil }}))(t)
	law := func(before, after bool, pass int) (broken bool) {
		t.Helper()
		dir := newFolder(t)
		switch _, err := runOnce(t, dir, before, pass, run); {
		case err == nil:
			return false
		case !errors.Is(err, errBrokenOff):
			t.Fatalf("pass %d: %v", pass, err)
		}
		if _, err := runOnce(t, dir, after, pass, run); err != nil && !errors.Is(err, errBrokenOff) {
			t.Fatalf("pass %d, when gone on: %v", pass, err)
		}
		got, err := runOnce(t, dir, after, 0, run)
		if err != nil {
			t.Fatalf("pass %d, when gone on again: %v", pass, err)
		}
		same(fmt.Sprintf("broken off in pass %d, in files %t and then %t", pass, before, after), got, want)
		return true
	}
	pass := 1
	for law(true, true, pass) {
		law(false, false, pass)
		pass++
	}
	if pass == 1 {
		t.Fatal("no pass could be broken off")
	}
	// Begin with scratch files and resume with scratch in memory, and vice versa.
	law(true, false, pass-2)
	law(false, true, pass-2)
}

// newFolder makes a folder, in memory if possible: on a disk thousands of saves would wait for it.
func newFolder(t *testing.T) string {
	const memory = "/dev/shm"
	if fi, err := os.Stat(memory); err != nil || !fi.IsDir() {
		return t.TempDir()
	}
	dir := must.Get(os.MkdirTemp(memory, "ufs-resume"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// runOnce runs with an interruption in the given pass, counted from 1. 0 means no interruption.
func runOnce[R any](t *testing.T, dir string, files bool, pass int, run func(Storage) (R, error)) (result R, err error) {
	t.Helper()
	folder := must.Get(resume.Open(dir, resume.Options{Every: -1}))(t)
	defer func() { must.Do(t, folder.Close()) }()
	r := must.Get(folder.OpenRun("rows", resume.Identity{What: "the run of a test"}))(t)
	stages := r.OpenStages(nil)
	var space stream.Scratch = stream.InMemory{}
	if files {
		disk := scratch.New(scratch.Options{Dir: dir})
		defer func() { must.Do(t, disk.Close()) }()
		space = disk
	}
	b := &breaker{Stages: stages, passesLeft: pass}
	return run(Storage{Stages: b, Scratch: space, Block: b.beforeBlock})
}

type breaker struct {
	stream.Stages
	passesLeft   int  // passes until the interruption
	inSourcePass bool // the pass to interrupt reads the source
}

func (b *breaker) beforeBlock(_, blockNumber int) error {
	if blockNumber == 1 {
		b.passesLeft--
		b.inSourcePass = b.passesLeft == 0
	}
	if blockNumber == 2 && b.inSourcePass {
		return errBrokenOff
	}
	return nil
}

func (b *breaker) Stage(name string, space stream.Scratch) stream.Stage {
	return breakingStage{b.Stages.Stage(name, space), b}
}

type breakingStage struct {
	stream.Stage
	breaker *breaker
}

func (s breakingStage) Make(name string, total int64, record int) (stream.ScratchFile, error) {
	f, err := s.Stage.Make(name, total, record)
	return breakingFile{f, s.breaker}, err
}

// Save saves, and may then interrupt the run: a save counts as a pass.
func (s breakingStage) Save(ctx context.Context, step int, values ...any) error {
	err := s.Stage.Save(ctx, step, values...)
	if s.breaker.passesLeft--; s.breaker.passesLeft == 0 {
		return errBrokenOff
	}
	return err
}

type breakingFile struct {
	stream.ScratchFile
	breaker *breaker
}

func (f breakingFile) Pass(mode stream.ScratchMode) stream.ScratchPass {
	p := f.ScratchFile.Pass(mode)
	if f.breaker.passesLeft--; f.breaker.passesLeft != 0 {
		return p
	}
	return &breakingPass{ScratchPass: p}
}

// breakingPass is a pass that fails at its second record, as if it were interrupted.
type breakingPass struct {
	stream.ScratchPass
	hasRead bool
}

func (p *breakingPass) Next() ([]byte, error) {
	if p.hasRead {
		return nil, errBrokenOff
	}
	p.hasRead = true
	return p.ScratchPass.Next()
}

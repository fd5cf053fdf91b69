// Package resumetest is the law of what goes on after an interruption: it ends in the same
// bits, wherever it was broken off.
package resumetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Place is where a run keeps what it has come to.
type Place struct {
	Stages  stream.Stages // nil: nothing is kept
	Scratch stream.Scratch
	// Block is called by the source before each block, with the numbers of its pass and of
	// the block in it, counted from 1.
	Block func(pass, block int) error
}

// errBroken is how a run is broken off.
var errBroken = errors.New("broken off")

// GoesOn breaks a run off in each of its passes, over the source and over scratch files, and
// behind each save, twice, and lets it go on: with scratch in files, and in memory. same
// compares results.
func GoesOn[R any](t *testing.T, run func(Place) (R, error), same func(what string, got, want R)) {
	t.Helper()
	want := must.Get(run(Place{Scratch: stream.InMemory{}, Block: func(int, int) error { return nil }}))(t)
	law := func(before, after bool, pass int) (broken bool) {
		t.Helper()
		dir := folder(t)
		switch _, err := once(t, dir, before, pass, run); {
		case err == nil:
			return false
		case !errors.Is(err, errBroken):
			t.Fatalf("pass %d: %v", pass, err)
		}
		if _, err := once(t, dir, after, pass, run); err != nil && !errors.Is(err, errBroken) {
			t.Fatalf("pass %d, when gone on: %v", pass, err)
		}
		got, err := once(t, dir, after, 0, run)
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
	// What files keep goes on in memory, and the other way round.
	law(true, false, pass-2)
	law(false, true, pass-2)
}

// folder is a new folder, in memory where the system has one there: thousands of saves would
// wait for a disk.
func folder(t *testing.T) string {
	const memory = "/dev/shm"
	if fi, err := os.Stat(memory); err != nil || !fi.IsDir() {
		return t.TempDir()
	}
	dir := must.Get(os.MkdirTemp(memory, "ufs-resume"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// once makes the run, broken off in a pass, counted from 1; 0 for none.
func once[R any](t *testing.T, dir string, files bool, pass int, run func(Place) (R, error)) (result R, err error) {
	t.Helper()
	folder := must.Get(resume.Open(dir, resume.Options{Every: -1}))(t)
	defer func() { must.Do(t, folder.Close()) }()
	r := must.Get(folder.Run(t.Context(), "rows", resume.Identity{What: "the run of a test"}))(t)
	stages := must.Get(r.Stages(t.Context(), nil))(t)
	var space stream.Scratch = stream.InMemory{}
	if files {
		disk := scratch.New(scratch.Options{Dir: dir})
		defer func() { must.Do(t, disk.Close()) }()
		space = disk
	}
	b := &breaking{Stages: stages, left: pass}
	return run(Place{Stages: b, Scratch: space, Block: b.block})
}

// breaking breaks a run off in its passes.
type breaking struct {
	stream.Stages
	left   int  // passes until then
	source bool // the pass is one over the source
}

func (b *breaking) block(_, block int) error {
	if block == 1 {
		b.left--
		b.source = b.left == 0
	}
	if block == 2 && b.source {
		return errBroken
	}
	return nil
}

func (b *breaking) Stage(name string, space stream.Scratch) stream.Stage {
	return breakingStage{b.Stages.Stage(name, space), b}
}

type breakingStage struct {
	stream.Stage
	in *breaking
}

func (s breakingStage) Make(name string, total int64, record int) (stream.ScratchFile, error) {
	f, err := s.Stage.Make(name, total, record)
	return breakingFile{f, s.in}, err
}

// Save breaks off behind a save, as a pass.
func (s breakingStage) Save(ctx context.Context, step int, values ...any) error {
	err := s.Stage.Save(ctx, step, values...)
	if s.in.left--; s.in.left == 0 {
		return errBroken
	}
	return err
}

type breakingFile struct {
	stream.ScratchFile
	in *breaking
}

func (f breakingFile) Pass(mode stream.ScratchMode) stream.ScratchPass {
	p := f.ScratchFile.Pass(mode)
	if f.in.left--; f.in.left != 0 {
		return p
	}
	return &breakingPass{ScratchPass: p}
}

// breakingPass breaks off at its second record.
type breakingPass struct {
	stream.ScratchPass
	begun bool
}

func (p *breakingPass) Next() ([]byte, error) {
	if p.begun {
		return nil, errBroken
	}
	p.begun = true
	return p.ScratchPass.Next()
}

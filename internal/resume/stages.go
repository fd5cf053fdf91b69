package resume

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// dataSuffix ends the names of the scratch files of stages.
const dataSuffix = ".data" + Suffix

// assumedDiskSpeed, in bytes per second, is used to estimate the duration of a stage's first save, which writes all
// files. A stage that has run for a short time is not saved yet. Without the estimate, saving would take too large a
// part of a short run: a first save of 480 MB to a virtual disk took 4 % of the CPU time of 13 s.
const assumedDiskSpeed = 200e6

// An interrupted run still finishes its current step if steps take at most maxStepWait.
const maxStepWait = 5 * time.Second

// Stages are the stages of a run: computations whose progress is saved in the run's folder after some of their steps.
// They implement [stream.Stages]. One stage may be used by one goroutine only; several stages may be used concurrently.
type Stages struct {
	mu           sync.Mutex
	run          *Run
	onResume     func(step int)
	memoryCopies *scratch.Space  // makes the files to which scratch in memory is copied
	interrupted  <-chan struct{} // closed at an interruption; nil without DelayCancel
	lastStepTime atomic.Int64    // duration of the last step in nanoseconds; 0 before a step has ended
}

// OpenStages opens the stages of the run. onResume, if not nil, is called for each stage that continues from a saved
// state, with the last step in this state.
func (r *Run) OpenStages(onResume func(step int)) *Stages {
	return &Stages{run: r, onResume: onResume, memoryCopies: scratch.New(scratch.Options{Dir: r.folder.path})}
}

// DelayCancel returns a context that ends when ctx ends or, if steps are short, a little later: when the current step
// has been saved. Call DelayCancel before any stage begins.
func (s *Stages) DelayCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	s.interrupted = ctx.Done()
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var timer *time.Timer
	var mu sync.Mutex
	stop := context.AfterFunc(ctx, func() {
		if step := time.Duration(s.lastStepTime.Load()); step == 0 || step > maxStepWait {
			cancel()
			return
		}
		mu.Lock()
		defer mu.Unlock()
		timer = time.AfterFunc(2*maxStepWait, cancel)
	})
	return inner, func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		if timer != nil {
			timer.Stop()
		}
		cancel()
	}
}

// ScratchBytes returns the size of the scratch files of stages in the folder at path. A run that continues from these
// files needs no other space for them.
func ScratchBytes(path string) (total int64) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), dataSuffix) {
			total += fi.Size()
		}
	}
	return total
}

// Stage implements [stream.Stages]: it returns the stage with this name. The name must consist of letters and digits.
func (s *Stages) Stage(name string, space stream.Scratch) stream.Stage {
	now := s.run.folder.now()
	return &stage{Scratch: space, stages: s, name: name, beginTime: now, lastSave: now, lastStep: now}
}

// stage implements [stream.Stage]: it saves the values and scratch files of a computation after some of its steps.
type stage struct {
	stream.Scratch
	stages         *Stages
	name           string
	steps          int        // steps made so far
	loadedPath     string     // path of the loaded state
	loadedFiles    []fileMark // files of the loaded state that Make has not opened yet
	isResumed      bool       // the stage continues from a state
	hasSavedState  bool       // the folder has a state of this stage
	nextFileNumber int        // for the name of the next file
	files          []*stageFile

	beginTime, lastSave, lastStep time.Time     // lastSave and lastStep: ends of the last save and step
	saveCost                      time.Duration // duration of the last save
}

const (
	stepsMark = "steps" // mark of a state: its number of steps
	endedMark = "ended" // mark of the state of a finished stage

	valuesSection = "values"
	placesSection = "places"
)

// fileMark describes a stage's scratch file.
type fileMark struct {
	Name   string `json:"name"`
	File   string `json:"file"` // name in the folder
	Bytes  int64  `json:"bytes"`
	Record int    `json:"record"`

	state scratch.State
}

func (st *stage) isSaveDue(now time.Time) bool {
	st.stages.mu.Lock()
	defer st.stages.mu.Unlock()
	f, cost := st.stages.run.folder, st.saveCost
	if cost == 0 { // never saved
		for _, file := range st.files {
			cost += time.Duration(float64(file.mark.Bytes) / assumedDiskSpeed * float64(time.Second))
		}
	}
	return !f.savingDisabled && f.opt.isSaveDue(now.Sub(st.lastSave), cost)
}

// Save implements [stream.Stage]: it saves the values and files after a step if it is time.
func (st *stage) Save(ctx context.Context, step int, values ...any) error {
	st.steps = step
	now := st.stages.run.folder.now()
	st.stages.lastStepTime.Store(int64(max(now.Sub(st.lastStep), 1)))
	st.lastStep = now
	ending := false
	select {
	case <-st.stages.interrupted:
		ending = true
	default:
	}
	if ending || st.isSaveDue(now) {
		if err := st.saveState(ctx, false, values); err != nil {
			return err
		}
	}
	if ending {
		return context.Canceled
	}
	return nil
}

// End implements [stream.Stage]: it saves the result, unless the stage took less time than the interval between saves.
func (st *stage) End(ctx context.Context, values ...any) error {
	if !st.hasSavedState && !st.isSaveDue(st.stages.run.folder.now()) {
		return nil
	}
	return st.saveState(ctx, true, values)
}

func (st *stage) saveState(ctx context.Context, ended bool, list []any) error {
	begin := st.stages.run.folder.now()
	err := st.writeState(ctx, ended, list)
	st.lastSave = st.stages.run.folder.now()
	st.saveCost = st.lastSave.Sub(begin)
	return err
}

func (st *stage) writeState(ctx context.Context, ended bool, list []any) error {
	saved := savedState{Name: st.name, Marks: map[string]string{stepsMark: strconv.Itoa(st.steps)}}
	if ended {
		saved.Marks[endedMark] = "true"
	}
	var places stageValues
	if !ended {
		for _, f := range st.files {
			state, err := f.durableState()
			if err != nil {
				return st.stages.disableSaving(err)
			}
			saved.Scratch = append(saved.Scratch, f.mark)
			places = append(places, state.Places, state.Sums)
		}
	}
	return st.stages.replaceState(ctx, st, saved, stageValues(list), places)
}

// disableSaving is Run.asSaveError. If it stops saving, the open scratch files in the folder lose their names, but can
// still be used.
func (s *Stages) disableSaving(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.asSaveError(err)
}

// replaceState writes the state of a stage. The state lists the files of the stage, unless the stage has ended.
func (s *Stages) replaceState(ctx context.Context, st *stage, saved savedState, list, places stageValues) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sections := []chunkio.Section{{Name: valuesSection, Body: list}, {Name: placesSection, Body: places}}
	if err := s.run.saveState(ctx, saved, sections); err != nil || s.run.folder.savingDisabled {
		return err
	}
	st.hasSavedState = true
	for _, f := range st.files {
		f.setInSavedState(saved.Marks[endedMark] == "")
	}
	return nil
}

func (st *stage) Load(ctx context.Context, list ...any) (stream.Progress, error) {
	st.stages.mu.Lock()
	defer st.stages.mu.Unlock()
	s, err := st.stages.run.Load(ctx, st.name)
	if s == nil || err != nil {
		return stream.StageNew, err
	}
	defer s.Close()
	if st.steps, err = strconv.Atoi(s.Marks[stepsMark]); err != nil || st.steps < 0 {
		return stream.StageNew, ErrDamaged(s.Path, stream.Errorf("it does not record its number of steps"))
	}
	st.loadedPath, st.loadedFiles = s.Path, slices.Clone(s.Scratch)
	var places stageValues
	for i := range st.loadedFiles {
		f := &st.loadedFiles[i]
		places = append(places, &f.state.Places, &f.state.Sums)
	}
	if err := s.Read(valuesSection, stageValues(list)); err != nil {
		return stream.StageNew, err
	}
	if err := s.Read(placesSection, places); err != nil {
		return stream.StageNew, err
	}
	st.hasSavedState = true
	if s.Marks[endedMark] != "" {
		return stream.StageEnded, nil
	}
	if st.isResumed = true; st.stages.onResume != nil {
		st.stages.onResume(st.steps)
	}
	return stream.StageBegun, nil
}

func (st *stage) takeLoadedFile(name string) (fileMark, bool) {
	i := slices.IndexFunc(st.loadedFiles, func(f fileMark) bool { return f.Name == name })
	if i < 0 {
		return fileMark{}, false
	}
	f := st.loadedFiles[i]
	st.loadedFiles = slices.Delete(st.loadedFiles, i, i+1)
	return f, true
}

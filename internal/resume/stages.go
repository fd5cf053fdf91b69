package resume

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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

// bytesPerSecond is how fast a disk is taken to be before anything was saved. The first save writes all
// files, and those of a run of a minute would take more than its share: of 480 MB on a virtual
// disk 4 % of 13 s of CPU time.
const bytesPerSecond = 200e6

// patience is how long a run that is to end goes on with a step that will soon be done.
const patience = 5 * time.Second

// Stages are the stages of a run in its folder: [stream.Stages]. A stage may be used from one
// goroutine, several stages side by side.
type Stages struct {
	mu    sync.Mutex
	run   *Run
	told  func(step int)
	dumps *scratch.Space  // files that stand for memory
	end   <-chan struct{} // closed where the run is to end; nil for never
	step  atomic.Int64    // nanoseconds that the last step took; 0: none has ended
}

// Stages opens the stages of the run, and removes the scratch files that killed runs have
// left there. told, which may be nil, is called for each stage that goes on behind a step.
func (r *Run) Stages(ctx context.Context, told func(step int)) (*Stages, error) {
	named := make(map[string]bool)
	all := r.folder.list(r.part + ".")
	for _, name := range all {
		if strings.HasSuffix(name, dataSuffix) || name == r.name(identityEntry) {
			continue
		}
		path := filepath.Join(r.folder.path, name)
		h, err := chunkio.ReadStatsHeader(ctx, path, r.folder.reading())
		if err != nil {
			return nil, Damaged(path, err)
		}
		files, err := filesOf(h.Options[markPrefix+filesMark])
		if err != nil {
			return nil, Damaged(path, err)
		}
		for _, f := range files {
			named[f.File] = true
		}
	}
	for _, name := range all {
		if strings.HasSuffix(name, dataSuffix) && !named[name] {
			if err := r.folder.remove(name); err != nil {
				return nil, err
			}
		}
	}
	return &Stages{run: r, told: told, dumps: scratch.New(scratch.Options{Dir: r.folder.path})}, nil
}

// Delay is a context that ends after ctx: where steps are short, once the one under way has
// been saved. Call it before any stage begins.
func (s *Stages) Delay(ctx context.Context) (context.Context, context.CancelFunc) {
	s.end = ctx.Done()
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var timer *time.Timer
	var mu sync.Mutex
	stop := context.AfterFunc(ctx, func() {
		if step := time.Duration(s.step.Load()); step == 0 || step > patience {
			cancel()
			return
		}
		mu.Lock()
		defer mu.Unlock()
		timer = time.AfterFunc(2*patience, cancel)
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

// Bytes is what the scratch files of stages in the folder at path take: a run that goes on
// from there needs no other room for them.
func Bytes(path string) (total int64) {
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

// Stage implements [stream.Stages]. The name is of letters and digits.
func (s *Stages) Stage(name string, space stream.Scratch) stream.Stage {
	now := s.run.folder.now()
	return &stage{Scratch: space, in: s, name: name, begun: now, last: now, stepped: now}
}

// stage is a stage under way.
type stage struct {
	stream.Scratch
	in    *Stages
	name  string
	steps int        // made so far
	stood []fileMark // files of the state it went on from, until they are made
	found bool       // it goes on from a state
	kept  bool       // the folder has a state of it
	made  int        // number of the next file
	files []*stageFile

	begun, last, stepped time.Time     // when it began, was saved last, and made its last step
	cost                 time.Duration // of the last save
}

const (
	stepsMark = "steps"
	endedMark = "ended"
	filesMark = "files"

	valuesSection = "values"
	placesSection = "places"
)

// fileMark says which file is a stage's scratch file.
type fileMark struct {
	Name   string `json:"name"`
	File   string `json:"file"` // in the folder
	Bytes  int64  `json:"bytes"`
	Record int    `json:"record"`

	state scratch.State
}

func filesOf(mark string) (files []fileMark, err error) {
	if mark == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(mark), &files); err != nil {
		return nil, stream.Errorf("it does not say which scratch files it has")
	}
	for _, f := range files {
		if f.Bytes < 1 || f.Record < 1 || f.File != filepath.Base(f.File) || !strings.HasSuffix(f.File, dataSuffix) {
			return nil, stream.Errorf("it names a scratch file that cannot be, %q", f.File)
		}
	}
	return files, nil
}

// due says that it is time to save.
func (st *stage) due(now time.Time) bool {
	st.in.mu.Lock()
	defer st.in.mu.Unlock()
	f, cost := st.in.run.folder, st.cost
	if cost == 0 { // never saved
		for _, file := range st.files {
			cost += time.Duration(float64(file.mark.Bytes) / bytesPerSecond * float64(time.Second))
		}
	}
	return !f.off && f.opt.due(now.Sub(st.last), cost)
}

// Save implements [stream.Stage].
func (st *stage) Save(ctx context.Context, step int, values ...any) error {
	st.steps = step
	now := st.in.run.folder.now()
	st.in.step.Store(int64(max(now.Sub(st.stepped), 1)))
	st.stepped = now
	ending := false
	select {
	case <-st.in.end:
		ending = true
	default:
	}
	if ending || st.due(now) {
		if err := st.save(ctx, false, values); err != nil {
			return err
		}
	}
	if ending {
		return context.Canceled
	}
	return nil
}

// End implements [stream.Stage]. What took less time than lies between two saves is not
// worth one.
func (st *stage) End(ctx context.Context, values ...any) error {
	if !st.kept && !st.due(st.in.run.folder.now()) {
		return nil
	}
	return st.save(ctx, true, values)
}

// save replaces the state of the stage.
func (st *stage) save(ctx context.Context, ended bool, list []any) error {
	begin := st.in.run.folder.now()
	err := st.write(ctx, ended, list)
	st.last = st.in.run.folder.now()
	st.cost = st.last.Sub(begin)
	return err
}

func (st *stage) write(ctx context.Context, ended bool, list []any) error {
	marks := map[string]string{}
	if ended {
		marks[endedMark] = "true"
	}
	var files []fileMark
	if !ended {
		for _, f := range st.files {
			state, err := f.state()
			if err != nil {
				return st.in.giveUp(err)
			}
			m := f.mark
			m.state = state
			files = append(files, m)
		}
	}
	text, err := json.Marshal(files)
	if err != nil {
		return err
	}
	marks[filesMark] = string(text)
	var places values
	for i := range files {
		places = append(places, files[i].state.Places, files[i].state.Sums)
	}
	return st.in.replace(ctx, st, marks, ended, values(list), places)
}

// giveUp is err, but of a folder that nobody has asked for: that is written to no more. Scratch files
// that are open lose their names there, and go on.
func (s *Stages) giveUp(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.run.folder
	if !f.opt.Unasked {
		return stream.Errorf("checkpoint: %w", err)
	}
	s.run.known, s.run.stands = false, false
	f.giveUp(err)
	return nil
}

// replace writes a state, and from then on the files hold to it.
func (s *Stages) replace(ctx context.Context, st *stage, marks map[string]string, ended bool, list, places values) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	marks[stepsMark] = stepsText(st.steps)
	if err := s.run.Save(ctx, st.name, marks, chunkio.Section{Name: valuesSection, Body: list}, chunkio.Section{Name: placesSection, Body: places}); err != nil || s.run.folder.off {
		return err
	}
	st.kept = true
	for _, f := range st.files {
		f.settle(!ended)
	}
	return nil
}

// Load implements [stream.Stage].
func (st *stage) Load(ctx context.Context, list ...any) (stream.Progress, error) {
	st.in.mu.Lock()
	defer st.in.mu.Unlock()
	run := st.in.run
	s, err := run.Load(ctx, st.name)
	if s == nil || err != nil {
		return stream.StageNew, err
	}
	defer s.Close()
	if st.stood, err = filesOf(s.Marks[filesMark]); err != nil {
		return stream.StageNew, Damaged(s.Path, err)
	}
	for _, f := range st.stood {
		if _, err := run.folder.root.Lstat(f.File); os.IsNotExist(err) {
			run.folder.note("%s has lost a file of the checkpoint, %s: that part is made again", run.folder.path, f.File)
			st.stood = nil
			return stream.StageNew, run.Drop(st.name)
		}
	}
	if st.steps, err = stepsOf(s.Marks[stepsMark]); err != nil {
		return stream.StageNew, Damaged(s.Path, err)
	}
	if err := s.Read(valuesSection, values(list)); err != nil {
		return stream.StageNew, err
	}
	var places values
	for i := range st.stood {
		f := &st.stood[i]
		places = append(places, &f.state.Places, &f.state.Sums)
	}
	if err := s.Read(placesSection, places); err != nil {
		return stream.StageNew, err
	}
	st.kept = true
	if s.Marks[endedMark] != "" {
		return stream.StageEnded, nil
	}
	if st.found = true; st.in.told != nil {
		st.in.told(st.steps)
	}
	return stream.StageBegun, nil
}

// take is the file that the state has under a name.
func (st *stage) take(name string) (fileMark, bool) {
	i := slices.IndexFunc(st.stood, func(f fileMark) bool { return f.Name == name })
	if i < 0 {
		return fileMark{}, false
	}
	f := st.stood[i]
	st.stood = slices.Delete(st.stood, i, i+1)
	return f, true
}

package eufs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/internal/resume/resumetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// A run that was broken off goes on to the same bits, wherever that was.
func TestGoesOnToTheSameBits(t *testing.T) {
	const n, d, k = 75, 8, 2
	x := grouped(n, d, k, 21)
	for _, c := range []struct {
		kind  GraphKind
		start Start
		opt   Options
	}{
		{GraphAnchor, StartKMeans, Options{Beta: Weight{Value: 0.1}}},
		{GraphKNN, StartSoft, Options{Beta: Weight{Value: 0.1}, Float32: true}},
		{GraphNone, StartKMeans, Options{Method: HUFS, Tree: someTree(d)}},
	} {
		t.Run(fmt.Sprint(c.opt.Method, c.kind), func(t *testing.T) {
			c.opt.Alpha, c.opt.Mu, c.opt.MaxIter, c.opt.Tol, c.opt.Threads = Weight{Value: 0.02}, 0.5, 2, -1, 2
			type result struct {
				*Result
				passes int
			}
			resumetest.CheckResume(t, func(at resumetest.Storage) (result, error) {
				src := serve(x, 30)
				std := standardizer(t, src, gram.ScaleUnit)
				src.Block = at.Block
				p, err := Prepare(t.Context(), src, std, Setup{Clusters: k, Start: c.start, Graph: c.kind, Anchors: 12, Seed: 3, Threads: 2,
					Scratch: at.Scratch, Stages: at.Stages, blockRows: 25})
				if err != nil {
					return result{}, err
				}
				r, err := p.Solve(t.Context(), c.opt)
				return result{r, p.Passes()}, errors.Join(err, p.Close())
			}, func(what string, got, want result) {
				if bits(t, what, got.Result, want.Result); got.passes != want.passes || got.Converged != want.Converged {
					t.Errorf("%s: %d passes, want %d", what, got.passes, want.passes)
				}
			})
		})
	}
}

// A process that was killed, three times in the middle of its iterations, leaves what another goes
// on from to the same bits, and nothing that the last one does not remove.
func TestGoesOnAfterKill(t *testing.T) {
	const victim = "EUFS_TEST_VICTIM"
	const n, d, k = 75, 8, 2
	run := func(dir string, every time.Duration) *Result {
		src := serve(grouped(n, d, k, 21), 30)
		s := Setup{Clusters: k, Graph: GraphAnchor, Anchors: 12, Seed: 3, Threads: 2, blockRows: 25}
		if dir != "" {
			folder := must.Get(resume.Open(dir, resume.Options{Every: every}))(t)
			defer func() { must.Do(t, folder.Close()) }()
			states := must.Get(folder.OpenRun("rows", resume.Identity{What: "the run of a test"}))(t)
			s.Stages = states.OpenStages(nil)
			space := scratch.New(scratch.Options{Dir: dir})
			defer func() { must.Do(t, space.Close()) }()
			s.Scratch = space
		}
		p := must.Get(Prepare(t.Context(), src, standardizer(t, src, gram.ScaleUnit), s))(t)
		defer func() { must.Do(t, p.Close()) }()
		return mustSolve(t, p, Options{Alpha: Weight{Value: 0.02}, Beta: Weight{Value: 0.1}, Mu: 0.5, Rho: 1.001, MaxIter: 2000, Tol: -1, Threads: 2})
	}
	if dir := os.Getenv(victim); dir != "" {
		run(dir, -1)
		return
	}
	dir := t.TempDir()
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGoesOnAfterKill$")
		cmd.Env = append(os.Environ(), victim+"="+dir)
		must.Do(t, cmd.Start())
		begun := time.Now()
		for saved, looks := false, 0; !saved; looks++ {
			if time.Sleep(time.Millisecond); looks == 20_000 {
				t.Fatal("it saves nothing")
			}
			states, err := filepath.Glob(filepath.Join(dir, "rows.solve*.[01]"+resume.Suffix))
			must.Do(t, err)
			for _, state := range states {
				fi, err := os.Stat(state)
				saved = saved || err == nil && fi.ModTime().After(begun)
			}
		}
		must.Do(t, cmd.Process.Kill())
		if err := cmd.Wait(); err == nil {
			t.Fatal("it ended before it was killed")
		}
	}
	want := run("", 0)
	bits(t, "killed three times", run(dir, 0), want)
	bits(t, "when all is done", run(dir, 0), want)
	left := must.Get(filepath.Glob(filepath.Join(dir, "*.data"+resume.Suffix)))(t)
	if len(left) != 3 { // the rows, the labels and the graph, which are not forgotten yet
		t.Errorf("left behind: %v", left)
	}
}

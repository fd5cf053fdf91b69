package ufs

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestTimingParts: greedy has no anchors to search, graph methods have; and the parts fit into the
// times that they are parts of.
func TestTimingParts(t *testing.T) {
	path := faces(600, 40, 3).write(t)
	for _, threads := range []int{1, 2} {
		for name, graph := range map[string]bool{"greedy": false, "sfufs": true} {
			q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: name, K: 4}, Limits: Limits{Threads: threads}}
			if graph {
				q.Choice.Options = method.Settings{"clusters": 3, "anchors": 30}
			}
			checkParts(t, selected(t, q).Timing, graph, float64(threads))
		}
	}
}

func checkParts(t *testing.T, timing stream.Timing, graph bool, threads float64) {
	t.Helper()
	p := timing.Parts
	if p.Read <= 0 || p.Decode <= 0 || p.Convert <= 0 || p.Gram <= 0 || (p.Search > 0) != graph || (p.Scatter > 0) != graph || p.Search < 0 || p.Scatter < 0 {
		t.Errorf("parts %+v, graph %v", p, graph)
	}
	const rounding = 1 + 1e-12
	if p.Read+p.Decode > timing.Read*rounding {
		t.Errorf("reading and decoding take %v s of %v", p.Read+p.Decode, timing.Read)
	}
	if added := p.Gram + p.Search + p.Scatter; added > threads*timing.Accumulate*rounding {
		t.Errorf("gram, search and scatter take %v s of %v threads in %v", added, threads, timing.Accumulate)
	}
	if sum := p.Read + p.Decode + p.Convert + p.Gram + p.Search + p.Scatter; sum > (timing.Read+threads*timing.Accumulate)*rounding {
		t.Errorf("all parts take %v s, more than %+v on %v threads", sum, timing, threads)
	}
	// Decoders go on while the statistics are added up, each on as many threads.
	if most := threads * timing.Wall * rounding; timing.Read > most || timing.Accumulate > timing.Wall*rounding {
		t.Errorf("%+v on %v threads", timing, threads)
	}
}

// TestTimingPartsOfARun: a run's parts are its own even if the meter already counted an earlier run.
func TestTimingPartsOfARun(t *testing.T) {
	q := Request{Input: Input{Paths: []string{faces(600, 40, 3).write(t)}}, Choice: Choice{K: 4, Method: "sfufs", Options: method.Settings{"clusters": 3, "anchors": 30}}, Limits: Limits{Threads: 1}, Hooks: Hooks{Meter: new(stream.Meter)}}
	selected(t, q)
	q.Choice.Method, q.Choice.Options = "greedy", nil
	checkParts(t, selected(t, q).Timing, false, 1)
}

package ufs

import (
	"runtime"
	"testing"
	"weak"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

// TestFootersMakeRoom: if the rows are not read again, nothing holds the input while the method works on the
// gathered statistics: its planned memory does not count the footers.
func TestFootersMakeRoom(t *testing.T) {
	r := must.Get(settled.NewRun(t.Context(), Request{Input: Input{Paths: []string{noiseFile(t, 60, 20, 3)}}, Choice: Choice{Method: "greedy", K: 2}, Limits: Limits{Threads: 1}}))(t)
	end := must.Get(budget.ApplyLimits(t.Context(), &r.Request))(t)
	defer end()
	g, e, err := gathering.GatherForSelection(t.Context(), settled.Attempts{r})
	must.Do(t, err)
	input := weak.Make(e.Input.(*chunkio.Dataset))
	must.Do(t, e.Close())
	if runtime.GC(); input.Value() != nil {
		t.Error("the input is held")
	}
	runtime.KeepAlive(g)
	runtime.KeepAlive(e)
}

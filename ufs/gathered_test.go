package ufs

import (
	"runtime"
	"testing"
	"weak"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/must"
)

// TestFootersMakeRoom: if the rows are not read again, nothing holds the input while the method works on the
// gathered statistics: its planned memory does not count the footers.
func TestFootersMakeRoom(t *testing.T) {
	r := must.Get(Request{Inputs: []string{noiseFile(t, 60, 20, 3)}, Method: "greedy", K: 2, Threads: 1}.newRun(t.Context()))(t)
	end := must.Get(r.applyLimits(t.Context()))(t)
	defer end()
	g, e, err := r.gatherForSelection(t.Context())
	must.Do(t, err)
	input := weak.Make(e.input.(*chunkio.Dataset))
	must.Do(t, e.close())
	if runtime.GC(); input.Value() != nil {
		t.Error("the input is held")
	}
	runtime.KeepAlive(g)
	runtime.KeepAlive(e)
}

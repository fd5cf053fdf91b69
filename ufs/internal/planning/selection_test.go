package planning_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// TestPlansChangeNothing: a plan for a method of any kind, within any limit, leaves the runs as they are. A second plan
// is the same.
func TestPlansChangeNothing(t *testing.T) {
	const rows, columns = 340, 330 // so many columns that the rules for their number do not always run
	var text strings.Builder
	for j := range columns {
		fmt.Fprintf(&text, "c%d,", j)
	}
	text.WriteString("last\n")
	for i := range rows {
		for j := range columns {
			fmt.Fprintf(&text, "%d,", (i*7919+j*104729)%1009)
		}
		fmt.Fprintf(&text, "%d\n", i%7)
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	must.Do(t, os.WriteFile(path, []byte(text.String()), 0o600))
	usesDefault := map[bool]int{}
	for _, name := range []string{"", "greedy", "sfufs", "laplacian", "variance", "eufs"} {
		smallest := planTwice(t, path, name, 1<<31)
		for _, limit := range []int64{smallest.Smallest - 1, smallest.Smallest, smallest.AutoK - 1, smallest.AutoK} {
			if limit > 0 {
				usesDefault[planTwice(t, path, name, limit).DefaultSize.Format != ""]++
			}
		}
	}
	if usesDefault[true] == 0 || usesDefault[false] == 0 {
		t.Errorf("plans for the default number of features, and others: %v; both kinds must be tested", usesDefault)
	}
}

func planTwice(t *testing.T, path, name string, limit int64) budget.Budget {
	t.Helper()
	q := request.Request{Input: request.Input{Paths: []string{path}}, Choice: request.Choice{Method: name}, Limits: request.Limits{Memory: limit, Threads: 2}}
	attempts := must.Get(settled.NewAttempts(t.Context(), q))(t)
	attempts.SettleSize()
	opt := attempts[0].ReadOptions()
	opt.Memory = 1 << 30
	ds := must.Get(settled.OpenDataset(t.Context(), []string{path}, opt))(t)
	defer ds.Close()
	describe := func() (all string) {
		for _, r := range attempts {
			all += fmt.Sprintf("%+v\n", *r)
		}
		return all
	}
	before, plan := describe(), planning.SelectionPlanner(attempts[1:])
	b, err := plan(attempts[0], ds)
	again, errAgain := plan(attempts[0], ds)
	if fmt.Sprint(b, err) != fmt.Sprint(again, errAgain) {
		t.Errorf("method %q within %d bytes: two plans differ: %v, %v; %v, %v", name, limit, b, err, again, errAgain)
	}
	if after := describe(); after != before {
		t.Errorf("method %q within %d bytes: planning changed the runs from %s to %s", name, limit, before, after)
	}
	return b
}

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestMergeOfAPlan: the parts of a plan from the command line: a missing one is named with the
// command that makes it, --partial does without, and whoever selects from that is warned.
func TestMergeOfAPlan(t *testing.T) {
	in, _ := plant(t, 900, 2)
	at := folder(t)
	plan, parts := at("job.plan.json"), at("parts")+"/"
	must(t, "plan", in, "-o", plan)
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		must(t, "scan", "--plan", plan, "--shard", shard, "-o", parts)
	}
	must(t, "merge", parts, "-o", at("all.ufs"))
	must(t, "scan", in, "-o", at("one.ufs"))
	if got, want := names(selection(t, "--stats", at("all.ufs"), "-k", "6")), names(selection(t, in, "-k", "6", "--method", "greedy")); len(got) != 6 || got[5] != want[5] {
		t.Errorf("selected %v, want %v", got, want)
	}
	if err := os.Remove(parts + "part-00002-of-00003.ufs"); err != nil {
		t.Fatalf("removing a file: %v", err)
	}
	ends(t, exit.Data, "ufs-stream scan --plan JOB.plan.json --shard 2/3 -o "+parts, "merge", parts, "-o", at("x.ufs"))
	ends(t, exit.Data, "with --partial", "merge", parts, "-o", at("x.ufs"))
	ends(t, exit.Usage, "both hold shard 1", "merge", parts, at("all.ufs"), "-o", at("x.ufs"))
	ends(t, exit.Usage, "--window and --decay are for", "merge", parts, "--window", "2", "-o", at("x.ufs"))
	must(t, "merge", parts, "--partial", "-o", at("some.ufs"))
	if r := invoke("select", "--stats", at("some.ufs"), "-k", "3"); r.code != exit.Done || !strings.Contains(r.err, "2 of the 3 shards of a plan: 2 is missing") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	must(t, "scan", "--plan", plan, "--shard", "2/3", "-o", parts)
	must(t, "merge", at("some.ufs"), parts+"part-00002-of-00003.ufs", "-o", at("whole.ufs"))
}

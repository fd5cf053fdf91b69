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

// TestMergeMinus: what is left after a subtraction serves all verbs that take statistics, and says what it lacks.
func TestMergeMinus(t *testing.T) {
	in, _ := plant(t, 900, 2)
	at := folder(t)
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		must(t, "scan", in, "--shard", shard, "-o", at("day"+shard[:1]+".ufs"))
	}
	must(t, "merge", at("day*.ufs"), "-o", at("all.ufs"))
	must(t, "merge", at("day1.ufs"), at("day3.ufs"), "-o", at("two.ufs"))
	r := invoke("merge", at("all.ufs"), "--minus", at("day2.ufs"), "-o", at("rest.ufs"), "-v")
	if r.code != exit.Done || !strings.Contains(r.err, "250 rows were subtracted: minima, maxima") || !strings.Contains(r.err, "a sample of rows does not allow") || !strings.Contains(r.err, "650 rows") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	for _, verb := range [][]string{
		{"select", "-k", "5", "--method", "greedy", "--format", "names"},
		{"path", "-k", "5", "--method", "greedy"},
		{"redundancy"},
	} {
		got := strings.ReplaceAll(must(t, append(verb, "--stats", at("rest.ufs"))...), at("rest.ufs"), at("two.ufs"))
		if want := must(t, append(verb, "--stats", at("two.ufs"))...); got != want {
			t.Errorf("%v: got\n%s\nwant\n%s", verb, got, want)
		}
	}
	must(t, "select", "--stats", at("rest.ufs"), "-k", "5", "--method", "greedy", "-o", at("rest.json"))
	must(t, "select", "--stats", at("all.ufs"), "-k", "5", "--method", "greedy", "-o", at("all.json"))
	must(t, "explain", "x003", "--stats", at("rest.ufs"), "--selection", at("rest.json"))
	must(t, "diff", at("all.json"), at("rest.json"))
	ends(t, exit.Usage, "--minus does not go with --window, --decay or --partial", "merge", at("all.ufs"), "--minus", at("day2.ufs"), "--window", "2", "-o", at("x.ufs"))
	ends(t, exit.Usage, "want 1 or more", "merge", at("all.ufs"), "--min-rows", "0", "-o", at("x.ufs"))
	ends(t, exit.Usage, "day2.ufs; leave these out", "merge", at("day*.ufs"), "--min-rows", "301", "-o", at("x.ufs"))
}

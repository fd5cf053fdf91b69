package main

import (
	"os"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestShardAuto: a scheduler's variables choose the shard of this process, which is the one that
// I/N chooses, to the last bit; and nothing is scanned where they are wrong.
func TestShardAuto(t *testing.T) {
	for _, name := range []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX"} {
		t.Setenv(name, "") // whatever runs this test
	}
	in, _ := plant(t, 600, 3)
	at := folder(t)
	must(t, "plan", in, "-o", at("job.plan.json"))
	scan := func(shard, out string) []string {
		return []string{"scan", "--plan", at("job.plan.json"), "--shard", shard, "-o", out}
	}
	must(t, scan("2/3", at("want.ufs"))...)
	t.Setenv("JOB_COMPLETION_INDEX", "1")
	must(t, scan("auto/3", at("parts")+"/")...)
	sameFile(t, at("parts/part-00002-of-00003.ufs"), at("want.ufs"))
	t.Setenv("JOB_COMPLETIONS", "3")
	must(t, scan("auto", at("again.ufs"))...)
	sameFile(t, at("again.ufs"), at("want.ufs"))
	t.Setenv("SLURM_ARRAY_TASK_ID", "1")
	ends(t, exit.Usage, "--shard auto: SLURM_ARRAY_TASK_ID (Slurm) and JOB_COMPLETION_INDEX (Kubernetes) are set", scan("auto", at("never.ufs"))...)
	if _, err := os.Stat(at("never.ufs")); err == nil {
		t.Error("something was scanned")
	}
}

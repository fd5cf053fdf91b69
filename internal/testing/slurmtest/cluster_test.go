package slurmtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Two clusters run side by side and do not see each other; tasks of an array run at the same
// time, which they tell by waiting for each other; one that asks for it runs again, with its
// count; and a job that depends on all of them runs after them.
func TestSchedulersStart(t *testing.T) {
	long.SkipTest(t) // it waits for a quarter of a minute
	c, other := StartCluster(t, 4), StartCluster(t, 1)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, os.WriteFile(at("task"), []byte(`#!/usr/bin/env bash
set -eu
touch "began-$SLURM_ARRAY_TASK_ID"
until [ -e began-1 ] && [ -e began-2 ] && [ -e began-3 ]; do sleep 0.1; done
if [ "$SLURM_ARRAY_TASK_ID" = 2 ] && [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then
	scontrol requeue "$SLURM_JOB_ID"
	sleep 600
fi
echo "${SLURM_RESTART_COUNT:-0}" >"ended-$SLURM_ARRAY_TASK_ID"
`), 0o755))
	submit := func(c *Cluster, args ...string) string {
		cmd := c.newCommand("sbatch", append([]string{"--parsable", "--output=" + at("log-%j")}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("running %v: %v\n%s", cmd.Args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	id := submit(c, "--array=1-3", at("task"))
	submit(c, "--wait", "--dependency=afterok:"+id, "--wrap", "cat ended-* >all")
	if got := string(must.Get(os.ReadFile(at("all")))(t)); got != "0\n1\n0\n" {
		t.Errorf("restarts of the tasks: %q", got)
	}
	if got := submit(other, "--wait", "--wrap", "true"); got != "1" {
		t.Errorf("the other cluster's first job is number %s", got)
	}
	// What is left at the end of a test is killed then.
	submit(other, "--wrap", "sleep 600")
}

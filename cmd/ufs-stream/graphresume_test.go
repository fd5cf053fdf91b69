package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestGraphResume is TestResume for the statistics of a graph.
func TestGraphResume(t *testing.T) {
	for _, missing := range []string{"error", "mean", "drop-row"} {
		t.Run(missing, func(t *testing.T) {
			var table stream.Source = planted.New(planted.Options{Rows: 6000, GroupRow: 100})
			if missing != "error" {
				table = holed(table)
			}
			in, _ := plantSource(t, table, 2)
			dir := t.TempDir()
			want, got, state := filepath.Join(dir, "want.ufs"), filepath.Join(dir, "got.ufs"), filepath.Join(dir, "state")
			shape := []string{"scan", in, "--missing", missing, "--method", "sfufs", "--anchors", "50"}
			if missing == "drop-row" { // a shard, with a profile of all shards
				profile := filepath.Join(dir, "profile.ufs")
				must(t, append(shape, "--profile-only", "-o", profile)...)
				shape = append(shape, "--profile", profile, "--shard", "2/2")
			}
			must(t, append(shape, "-o", want)...)
			args := slices.Concat(shape, []string{"-o", got, "--checkpoint", state, "--checkpoint-every", "1ms"})
			interruptUntilDone(t, 20, 15, state, args)
			sameFile(t, got, want)
		})
	}
}

// TestGraphForeignCheckpoint: a run neither uses nor overwrites the state of a run with
// another graph; the state of a run with the same graph serves any method.
func TestGraphForeignCheckpoint(t *testing.T) {
	in, paths := plant(t, 6000, 3)
	file := anchorsFile(t, paths[0])
	state := t.TempDir()
	interruptMidway(t, 60, 6, "select", in, "--method", "sfufs", "--anchors-file", file, "--checkpoint", state)
	for _, args := range []string{
		"--method sfufs --anchors 300", "--method greedy", "--method fufs --neighbors 4 --anchors-file " + file,
		"--method fufs --scale unit --anchors-file " + file, "--method mcfs --exclude x000 --anchors-file " + file,
	} {
		r := invoke(slices.Concat([]string{"select", in, "--checkpoint", state}, strings.Fields(args))...)
		if r.code != exit.Usage || !strings.Contains(r.err, "checkpoint of another run") {
			t.Errorf("%s: exit code %d: %s", args, r.code, r.err)
		}
	}
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := []string{"select", in, "--method", "mcfs", "--anchors-file", file, "--checkpoint", state, "-k", "3"}
	anchorsFile(t, paths[1], file) // other rows under the same name
	if r := invoke(again...); r.code != exit.Usage || !strings.Contains(r.err, "other anchors") {
		t.Errorf("other anchors: exit code %d: %s", r.code, r.err)
	}
	if err := os.WriteFile(file, saved, 0o666); err != nil {
		t.Fatal(err)
	}
	must(t, again...)
}

// anchorsFile copies a file of rows, so that they serve as anchors.
func anchorsFile(t *testing.T, from string, to ...string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if to = append(to, filepath.Join(t.TempDir(), "anchors.parquet")); os.WriteFile(to[0], b, 0o666) != nil {
		t.Fatal("cannot write")
	}
	return to[0]
}

// TestGraphResumeAfterKill is TestGraphResume with kill -9 instead of interruptions.
func TestGraphResumeAfterKill(t *testing.T) {
	in, _ := plant(t, 12000, 1)
	dir := t.TempDir()
	want, got, state := filepath.Join(dir, "want.ufs"), filepath.Join(dir, "got.ufs"), filepath.Join(dir, "state")
	shape := []string{"scan", in, "--method", "graphgreedy", "--anchors", "100"}
	must(t, append(shape, "-o", want)...)
	args := slices.Concat(shape, []string{"-o", got, "--checkpoint", state, "--checkpoint-every", "1ns"})
	for range 2 {
		killAfterCheckpoint(t, 20*time.Millisecond, state, args)
	}
	must(t, args...)
	sameFile(t, got, want)
}

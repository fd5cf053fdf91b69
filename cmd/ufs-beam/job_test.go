package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Groups are neighbours, cover every shard once, and neither level merges more than about √N
// files: that is what bounds the time of a merge.
func TestGroups(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 9, 10, 99, 100, 101, 10000} {
		j := &job{Shards: n}
		members := map[int]int{}
		last := 1
		for shard := 1; shard <= n; shard++ {
			g := j.groupOf(shard)
			if g != last && g != last+1 {
				t.Fatalf("%d shards: shard %d is in group %d, the one before in %d", n, shard, g, last)
			}
			last = g
			members[g]++
		}
		if last != j.groupCount() || j.groupCount() > j.groupWidth() || (j.groupWidth()-1)*(j.groupWidth()-1) >= n {
			t.Errorf("%d shards: %d groups, the last is %d, of up to %d", n, j.groupCount(), last, j.groupWidth())
		}
		for g, count := range members {
			if count != j.groupSize(g) || count > j.groupWidth() {
				t.Errorf("%d shards: %d in group %d, want %d of at most %d", n, count, g, j.groupSize(g), j.groupWidth())
			}
		}
	}
}

func iterate(pieces []Piece) func(*Piece) bool {
	return func(p *Piece) bool {
		if len(pieces) == 0 {
			return false
		}
		*p, pieces = pieces[0], pieces[1:]
		return true
	}
}

// However a runner orders pieces, they are merged in the order of their numbers, and never without
// one of them or with one twice.
func TestCollect(t *testing.T) {
	piece := func(n int) Piece { return Piece{Number: n, Name: fmt.Sprint(n)} }
	files, err := collectNames(&Piece{}, iterate([]Piece{piece(12), piece(10), piece(11)}), 10, 3)
	if want := []string{"10", "11", "12"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("collected %v (%v), want %v", files, err, want)
	}
	for _, pieces := range [][]Piece{
		nil, {piece(10), piece(11)}, {piece(10), piece(10), piece(12)}, {piece(9), piece(10), piece(11)},
		{piece(10), piece(11), piece(12), piece(12)}, {piece(10), piece(11), piece(12), piece(13)},
	} {
		_, err := collectNames(&Piece{Name: "all.ufs"}, iterate(pieces), 10, 3)
		if err == nil || exit.CodeOf(err) != exit.Fault || !strings.Contains(err.Error(), "all.ufs") {
			t.Errorf("collected %v for 10 to 12: %v", pieces, err)
		}
	}
}

// A job reports the faults of few shards in full, and counts further ones.
func TestFaultsJoin(t *testing.T) {
	const shards = 23
	var all Piece
	for group := range 5 {
		var g Piece
		for shard := group * 5; shard < min((group+1)*5, shards); shard++ {
			g.addFaultsOf(Piece{Number: shard, Code: exit.Data, Failed: []string{fmt.Sprintf("shard %d", shard)}})
			g.addFaultsOf(Piece{Number: shard, Name: "there"})
		}
		all.addFaultsOf(g)
	}
	if all.Code != exit.Data || len(all.Failed) != maxFaultsShown || len(all.Failed)+all.More != shards {
		t.Errorf("%d shards failed, and of them came through: %+v", shards, all)
	}
	if text := all.faultText(); !strings.HasPrefix(text, "shard 0; shard 1;") || !strings.HasSuffix(text, "and 18 more shards failed") {
		t.Errorf("told as %q", text)
	}
}

// A worker's error is found again in whatever text a runner wraps it in.
func TestFindFailure(t *testing.T) {
	want := &failure{exit.Memory, errorLine(&stream.MemoryError{What: "merging two of these files", Need: 3 << 30, Limit: 2 << 30})}
	if !strings.Contains(want.text, "--memory-limit") {
		t.Errorf("no flag is named in %q", want.text)
	}
	runner := fmt.Errorf("job go-job-1 failed:\nbundle inst004 failed:process bundle failed\n\tcaused by:\n%w\nsource failed", want)
	if got := findFailure(errors.New(runner.Error())); got == nil || *got != *want || exit.CodeOf(got) != exit.Memory {
		t.Errorf("found %+v, want %+v", got, want)
	}
	if got := findFailure(errors.New("SDK worker disconnected")); got != nil {
		t.Errorf("found %+v where there is none", got)
	}
}

// One scan runs at a time in a process, and one that waits gives up with its context.
func TestTurn(t *testing.T) {
	type result struct{}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := runInTurn(t.Context(), func() (result, error) {
		cancel()
		return runInTurn(ctx, func() (result, error) {
			t.Error("two had their turn")
			return result{}, nil
		})
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the one that waited ended with %v", err)
	}
	if _, err := runInTurn(t.Context(), func() (result, error) { return result{}, io.EOF }); !errors.Is(err, io.EOF) {
		t.Errorf("after that: %v", err)
	}
}

// All that is missing or wrong is said at once, and what a worker is given needs no folder to
// start from.
func TestValidate(t *testing.T) {
	err := (&job{Threads: -1, SampleRows: -1}).validate()
	for _, want := range []string{"--plan", "--parts", "--output", "--shards", "--threads", "--sample-rows"} {
		if exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named: %v", want, err)
		}
	}
	j := &job{Plan: "a/b.plan.json", Parts: "s3://lake/parts?region=eu-west-1", Output: "all.ufs", Shards: 8}
	if err := errors.Join(j.validate(), j.makePathsAbsolute()); err != nil {
		t.Fatalf("validating the job: %v", err)
	}
	if !strings.HasPrefix(j.Plan, "/") || !strings.HasSuffix(j.Plan, "/a/b.plan.json") || !strings.HasSuffix(j.Output, "/all.ufs") {
		t.Errorf("the worker is given %+v", j)
	}
	if got, want := j.partName(profileRound, 3), "s3://lake/parts/profile/part-00003-of-00008.ufs?region=eu-west-1"; got != want {
		t.Errorf("part 3 is %s, want %s", got, want)
	}
}

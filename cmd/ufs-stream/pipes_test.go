//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestPipesThatNobodyServes: whatever a pipe without a writer is given as, the run refuses it or ends when
// it is interrupted.
func TestPipesThatNobodyServes(t *testing.T) {
	in, sel := labelled(t, 60)
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.parquet")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatalf("making a pipe: %v", err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"select @PIPE", exit.Interrupted, "interrupted"},
		{"select PIPE", exit.Data, "not a regular file"},
		{"select DIR", exit.Data, "not a regular file"},
		{"inspect DIR/*.parquet", exit.Data, "not a regular file"},
		{"inspect PIPE", exit.Data, "not a regular file"},
		{"select IN --stats PIPE", exit.Usage, "not both"},
		{"select --stats PIPE", exit.Interrupted, ""},
		{"select IN --groups PIPE", exit.Interrupted, ""},
		{"select IN --costs PIPE", exit.Interrupted, ""},
		{"select IN --method sfufs --anchors-file PIPE", exit.Data, "not a regular file"},
		{"select IN --method hufs --tree PIPE", exit.Data, "is a pipe"},
		{"select IN --config PIPE", exit.Interrupted, ""},
		{"select IN --plan PIPE", exit.Usage, "leave INPUT out"},
		{"scan --plan PIPE -o x.ufs --shard 1/2", exit.Interrupted, ""},
		{"select IN -k 2 --format json -o PIPE", exit.Interrupted, ""},
		{"apply IN --selection PIPE -o DIR/a.parquet", exit.Interrupted, ""},
		{"apply @PIPE --selection SEL -o DIR/a.parquet", exit.Interrupted, ""},
		{"convert PIPE -o DIR/a.parquet", exit.Data, "not a regular file"},
		{"eval IN --selection PIPE --label label", exit.Interrupted, ""},
		{"eval IN --selection x=PIPE --label label", exit.Interrupted, ""},
		{"merge PIPE -o DIR/m.ufs", exit.Interrupted, ""},
		{"report PIPE -o DIR/page.html", exit.Interrupted, ""},
		{"diff PIPE SEL", exit.Interrupted, ""},
		{"check --selection SEL --stats PIPE", exit.Interrupted, ""},
		{"explain x --selection PIPE", exit.Interrupted, ""},
		{"redundancy PIPE", exit.Data, "not a regular file"},
		{"tree IN --tree PIPE", exit.Data, "is a pipe"},
		{"select delta://PIPE", exit.Data, ""},
	} {
		args := strings.Fields(strings.NewReplacer("PIPE", pipe, "DIR", dir, "IN", in, "SEL", sel).Replace(c.args))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan int, 1)
		var errw bytes.Buffer
		go func() { done <- run(ctx, args, nil, new(bytes.Buffer), &errw) }()
		if c.code == exit.Interrupted {
			time.Sleep(10 * time.Millisecond) // let it wait; too short would only make the test easier
			cancel()
		}
		select {
		case code := <-done:
			if code != c.code || !strings.Contains(errw.String(), c.says) {
				t.Errorf("%s: exit code %d, want %d and something of %q: %s", c.args, code, c.code, c.says, errw.String())
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: it does not end", c.args)
		}
		cancel()
	}
	entries, err := os.ReadDir(dir)
	if fmt.Sprint(len(entries), err) != "1 <nil>" {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

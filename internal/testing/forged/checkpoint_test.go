package forged_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// endingContext ends when it was asked so often whether it has.
type endingContext struct {
	context.Context
	left atomic.Int64
	once sync.Once
	done chan struct{}
}

func (c *endingContext) Done() <-chan struct{} { return c.done }

func (c *endingContext) Err() error {
	if c.left.Add(-1) > 0 {
		return nil
	}
	c.once.Do(func() { close(c.done) })
	return context.Canceled
}

// TestForgedCheckpoint: a run that finds its checkpoint empty, cut or changed in a byte names the file
// and advises to remove it, and continues once that is done.
func TestForgedCheckpoint(t *testing.T) {
	dir := t.TempDir()
	csv := rows(t, dir)
	text := must.Get(os.ReadFile(csv))(t)
	head, body, _ := bytes.Cut(text, []byte("\n"))
	must.Do(t, os.WriteFile(csv, append(append(head, '\n'), bytes.Repeat(body, 200)...), 0o600))
	data := filepath.Join(dir, "rows.parquet")
	must.Get(ufs.Convert(t.Context(), ufs.ConvertRequest{Input: ufs.Input{Paths: []string{csv}}, Output: data}))(t)
	folder := filepath.Join(dir, "state")
	scan := func(ctx context.Context) error {
		q := ufs.ScanRequest{Request: bounds(ufs.Request{Input: ufs.Input{Paths: []string{data}}, Columns: ufs.Columns{Missing: "mean"}, Checkpoint: ufs.Checkpoint{Folder: folder, Every: 1}, Output: filepath.Join(dir, "all.ufs")})}
		_, err := ufs.Scan(ctx, q)
		return err
	}
	states := func() (list []string) {
		for _, e := range must.Get(os.ReadDir(folder))(t) {
			if !strings.HasPrefix(e.Name(), "lock") {
				list = append(list, filepath.Join(folder, e.Name()))
			}
		}
		return list
	}
	for n := int64(1); ; n++ {
		ctx := &endingContext{Context: t.Context(), done: make(chan struct{})}
		ctx.left.Store(n)
		if err := scan(ctx); err == nil {
			t.Fatalf("never broken off with a checkpoint, %d times", n)
		}
		if _, err := os.Stat(folder); err == nil && len(states()) > 0 {
			break
		}
	}
	sound := make(map[string][]byte)
	for _, path := range states() {
		sound[path] = must.Get(os.ReadFile(path))(t)
	}
	try := func(path, what string, content []byte) {
		t.Helper()
		for other, text := range sound {
			must.Do(t, os.WriteFile(other, text, 0o600))
		}
		must.Do(t, os.WriteFile(path, content, 0o600))
		err := scan(t.Context())
		switch code := exit.CodeOf(err); {
		case code == exit.Done: // the change is in an unused part
		case code == exit.Usage && strings.Contains(err.Error(), "checkpoint of another run"):
		case code != exit.Data || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove it") || goText.MatchString(err.Error()):
			t.Errorf("%s %s: exit code %d: %v", filepath.Base(path), what, code, err)
		}
	}
	for path, text := range sound {
		try(path, "empty", nil)
		try(path, "cut", text[:len(text)/2])
		for at := 0; at < len(text); at += 1 + len(text)/40 {
			changed := bytes.Clone(text)
			changed[at] ^= 1 << (at % 8)
			try(path, fmt.Sprintf("with another byte %d", at), changed)
		}
		must.Do(t, os.WriteFile(path, nil, 0o600))
		must.Do(t, os.Remove(path))
	}
	must.Do(t, scan(t.Context()))
}

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxRemovals is the number of objects that are removed at the same time. A store needs about 50 ms for each, and there
// may be 10,000.
const maxRemovals = 16

// removeParts removes all files that the job made except its output. It does not remove other files in the folders.
func (j *job) removeParts(ctx context.Context, rounds []round) error {
	client := store.New(store.Options{})
	var mu sync.Mutex
	var failed []error
	var g errgroup.Group
	g.SetLimit(maxRemovals)
	for _, name := range j.partFiles(rounds) {
		g.Go(func() error {
			if err := removeFile(ctx, client, name); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}
			return nil
		})
	}
	_ = g.Wait() // failed holds all errors
	if len(failed) > 0 {
		return &stream.OutputError{Path: place.DisplayName(j.Parts), Remedy: stream.PlainText("the statistics are complete: remove the parts by hand"),
			Err: stream.Errorf("%d part files could not be removed: %w", len(failed), failed[0])}
	}
	for _, r := range rounds {
		for _, folder := range []string{"/groups", ""} {
			if name := place.JoinBelow(j.Parts, string(r)+folder); !place.IsURL(name) {
				_ = os.Remove(name) // fails if the folder contains other files
			}
		}
	}
	return nil
}

func (j *job) partFiles(rounds []round) (names []string) {
	for _, r := range rounds {
		for shard := range j.Shards {
			names = append(names, j.partName(r, shard+1))
		}
		for group := range j.groupCount() {
			names = append(names, j.groupName(r, group+1))
		}
	}
	if len(rounds) > 1 {
		names = append(names, j.profileName())
	}
	return names
}

func removeFile(ctx context.Context, client *store.Client, name string) error {
	if place.IsURL(name) {
		l, err := store.Parse(name)
		if err != nil {
			return err
		}
		return client.Delete(ctx, l)
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

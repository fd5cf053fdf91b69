package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// removeParts removes the files that the job made on the way to its output, by their names:
// whatever else lies in the folder stays.
func (j *job) removeParts(ctx context.Context, rounds []round) error {
	client := store.New(store.Options{})
	var failed []error
	remove := func(name string) {
		if err := removeFile(ctx, client, name); err != nil {
			failed = append(failed, err)
		}
	}
	for _, r := range rounds {
		for shard := range j.Shards {
			remove(j.partName(r, shard+1))
		}
		for group := range j.groups() {
			remove(j.groupName(r, group+1))
		}
	}
	if len(rounds) > 1 {
		remove(j.profileName())
	}
	if len(failed) > 0 {
		return &stream.OutputError{Path: place.Name(j.Parts), Remedy: stream.PlainText("the statistics are complete: remove the parts by hand"),
			Err: stream.Errorf("%d part files could not be removed: %w", len(failed), failed[0])}
	}
	return nil
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

package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// wholeMark is the object that is put into a folder last, empty: its files appear one by
// one, and who waits for all of them waits for this one, as behind Spark's writers.
// Readers skip names that begin with _. A folder without it is of a run that was killed.
const wholeMark = "_SUCCESS"

const (
	// The objects of a failed run are not deleted further after so long without a success:
	// the user has pressed Ctrl-C, or the store is ill.
	removePatience = 10 * time.Second
	removeAtOnce   = 16 // one by one, a thousand at 50 ms would take a minute
)

// objectDir is a folder in a store: keys with one beginning. Its files are there as soon as
// each is committed, because a store renames nothing, and are deleted where the run fails.
type objectDir struct {
	client   *store.Client
	at       store.Location   // the key ends in /, unless it is empty: the whole bucket
	uploaded []store.Location // to be deleted if the run fails
	doubtful []store.Location // uploads that failed, or are under way: seldom there
}

// createObjectDir refuses a folder that any object lies in.
func createObjectDir(ctx context.Context, path string) (*objectDir, error) {
	l, err := locate(path)
	if err != nil {
		return nil, err
	}
	l = l.WithKey(place.Folder(l.Key))
	o := &objectDir{client: store.New(store.Options{}), at: l}
	for found, err := range o.client.List(ctx, l) {
		if err != nil {
			return nil, outputOf(l.Name(), err)
		}
		if found.Key == l.Key { // web consoles make an object of this name for a new folder
			continue
		}
		return nil, &stream.OutputError{Path: l.Name(), Err: stream.Errorf("the folder is not empty: %s lies in it", found.Name()),
			Remedy: stream.PlainText("name a new folder, or delete that one (without " + wholeMark + " it is of a run that was killed)")}
	}
	return o, o.client.CanUpload(ctx, l.WithKey(l.Key+wholeMark))
}

// outputOf turns what went wrong while an output was looked at into an error about it.
func outputOf(name string, err error) error {
	var data *stream.DataError
	if !errors.As(err, &data) {
		return err
	}
	return &stream.OutputError{Path: name, Err: data.Err, Remedy: data.Remedy}
}

func (o *objectDir) create(ctx context.Context, rel string) (*File, error) {
	l := o.at.WithKey(o.at.Key + filepath.ToSlash(rel))
	return createObject(ctx, o.client, l, func() { o.doubtful = append(o.doubtful, l) }, func() {
		o.doubtful = o.doubtful[:len(o.doubtful)-1]
		o.uploaded = append(o.uploaded, l)
	})
}

// finish marks the folder as whole.
func (o *objectDir) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	mark := o.at.WithKey(o.at.Key + wholeMark)
	o.doubtful = append(o.doubtful, mark)
	_, err := o.client.Upload(ctx, mark, strings.NewReader(""), 0)
	return err
}

// remove deletes what was uploaded, also where the run was interrupted. An upload that
// failed may be there all the same if only its answer was lost; that it cannot be deleted
// is no news where nothing else tells that it is there.
func (o *objectDir) remove(ctx context.Context) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	patience := time.AfterFunc(removePatience, cancel)
	defer patience.Stop()
	failed := make([]error, len(o.uploaded))
	var g errgroup.Group
	g.SetLimit(removeAtOnce)
	for i, l := range o.uploaded {
		g.Go(func() error {
			if failed[i] = o.client.Delete(ctx, l); failed[i] == nil {
				patience.Reset(removePatience)
			}
			return nil
		})
	}
	for _, l := range o.doubtful {
		g.Go(func() error {
			_ = o.client.Delete(ctx, l)
			return nil
		})
	}
	_ = g.Wait()
	var left []string
	var first error
	for i, l := range o.uploaded {
		if failed[i] != nil {
			left = append(left, l.Name())
			if first == nil {
				first = failed[i]
			}
		}
	}
	if left == nil {
		return nil
	}
	if ctx.Err() != nil { // ours: it must not pass for the run's
		first = fmt.Errorf("the store did not answer within %v", removePatience)
	}
	if data := (*stream.DataError)(nil); errors.As(first, &data) {
		first = data.Err // its object is named below
	}
	const few = 3
	names := strings.Join(left[:min(few, len(left))], ", ")
	if n := len(left) - few; n > 0 {
		names = fmt.Sprintf("%s and %d more", names, n)
	}
	// Not wrapped: a folder that is not empty is refused also when the store is there again.
	return &stream.OutputError{Path: o.at.Name(), Err: stream.Errorf("the run failed, and what it had uploaded could not be deleted: %s: %v", names, first),
		Remedy: stream.PlainText("delete it")}
}

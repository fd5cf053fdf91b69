package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// wholeMark is the empty object that completes a folder: its files appear one by one, and readers that need all
// of them wait for this one, as with Spark's writers. Readers skip names that begin with _. A folder without it
// belongs to a run that was killed.
const wholeMark = "_SUCCESS"

const (
	// The deletion of a failed run's objects stops after this time without a success: the user has pressed
	// Ctrl-C, or the store is ill.
	removePatience  = 10 * time.Second
	parallelDeletes = 16 // one by one, a thousand at 50 ms would take a minute
)

// objectDir is a folder in a store: keys with a common prefix. Each file exists as soon as it is committed,
// because a store cannot rename, and is deleted if the run fails.
type objectDir struct {
	client        *store.Client
	location      store.Location           // the key ends in /, unless it is empty: the whole bucket
	objects       map[string]createdObject // by key: those to be deleted if the run fails
	doubtful      []store.Location         // uploads under way or failed, usually none
	list          *objectList              // of ResumeDir; else nil
	foreignWriter bool                     // another run writes here: nothing is deleted
}

// createdObject is kept small, as a folder may have a hundred thousand.
type createdObject struct {
	size      int64
	version   string // from its store; may be empty
	unchanged bool   // whether the last listing showed it as it was made
}

func newObjectDir(path string) (*objectDir, error) {
	l, err := parseOutputURL(path)
	if err != nil {
		return nil, err
	}
	return &objectDir{client: store.New(store.Options{}), location: l.WithKey(place.FolderPrefix(l.Key)), objects: map[string]createdObject{}}, nil
}

func (o *objectDir) locationOf(rel string) store.Location {
	return o.location.WithKey(o.location.Key + rel)
}

func (o *objectDir) listObjects(ctx context.Context) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		for found, err := range o.client.List(ctx, o.location) {
			// Web consoles create an object of this name for a new folder.
			if err == nil && strings.HasSuffix(found.Key, "/") {
				continue
			}
			if !yield(found, asOutputError(o.location.PublicName(), err)) {
				return
			}
		}
	}
}

func createObjectDir(ctx context.Context, path string) (*objectDir, error) {
	o, err := newObjectDir(path)
	if err != nil {
		return nil, err
	}
	for found, err := range o.listObjects(ctx) {
		if err == nil {
			err = o.errNotEmpty(found)
		}
		return nil, err
	}
	return o, o.client.CanUpload(ctx, o.locationOf(wholeMark))
}

func (o *objectDir) errNotEmpty(found store.Object) error {
	return &stream.OutputError{Path: o.location.PublicName(), Err: stream.Errorf("the folder is not empty: %s lies in it", found.PublicName()),
		Remedy: stream.PlainText("name a new folder, or delete that one (without " + wholeMark + " it is of a run that was killed)")}
}

func asOutputError(name string, err error) error {
	var data *stream.DataError
	if !errors.As(err, &data) {
		return err
	}
	return &stream.OutputError{Path: name, Err: data.Err, Remedy: data.Remedy}
}

func (o *objectDir) createFile(ctx context.Context, rel string) (*File, error) {
	l := o.locationOf(rel)
	return createObject(ctx, o.client, l, func() { o.doubtful = append(o.doubtful, l) }, func(uploaded store.Object) {
		o.doubtful = o.doubtful[:len(o.doubtful)-1]
		o.objects[l.Key] = createdObject{size: uploaded.Size, version: uploaded.Version}
	})
}

func (o *objectDir) markWhole(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := o.checkContents(ctx); err != nil {
		return err
	}
	mark := o.locationOf(wholeMark)
	o.doubtful = append(o.doubtful, mark)
	if _, err := o.client.Upload(ctx, mark, strings.NewReader(""), 0); err != nil {
		return err
	}
	o.removeList(ctx)
	return nil
}

// removeUploads deletes the uploaded objects, also if the run was interrupted. A failed upload may exist all
// the same if only its answer was lost; a failure to delete it is not reported, as nothing else indicates that
// it exists.
func (o *objectDir) removeUploads(ctx context.Context) error {
	if o.foreignWriter {
		return nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	patience := time.AfterFunc(removePatience, cancel)
	defer patience.Stop()
	left := slices.Sorted(maps.Keys(o.objects))
	first := o.checkOwner(ctx) // a superseded run deletes nothing
	if o.foreignWriter {
		return first
	}
	if first == nil {
		left, first = o.deleteAll(ctx, left, func() { patience.Reset(removePatience) })
	}
	if first == nil && o.list != nil {
		first = o.list.claim.Remove(ctx)
	}
	if first == nil {
		return nil
	}
	if o.list != nil { // the list is put before the first file and stays as long as one does
		left = append(left, o.location.Key+listName)
	}
	if ctx.Err() != nil { // our own cancellation: it must not pass for the run's
		first = silentStoreError{}
	}
	return o.errNotDeleted(left, first)
}

// deleteAll deletes the objects with these keys and the doubtful ones, and returns the keys that are left and
// the error of the first. It calls progress after each deletion.
func (o *objectDir) deleteAll(ctx context.Context, keys []string, progress func()) (left []string, first error) {
	failed := make([]error, len(keys))
	var g errgroup.Group
	g.SetLimit(parallelDeletes)
	for i, key := range keys {
		g.Go(func() error {
			if failed[i] = o.client.Delete(ctx, o.location.WithKey(key)); failed[i] == nil {
				progress()
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
	for i, key := range keys {
		if failed[i] == nil {
			continue
		}
		if left = append(left, key); first == nil {
			first = failed[i]
		}
	}
	return left, first
}

func (o *objectDir) errNotDeleted(keys []string, err error) error {
	if data := (*stream.DataError)(nil); errors.As(err, &data) {
		err = data.Err // its object is named below
	}
	var left []string
	for _, key := range keys {
		left = append(left, o.location.WithKey(key).PublicName())
	}
	const few = 3
	names := strings.Join(left[:min(few, len(left))], ", ")
	if n := len(left) - few; n > 0 {
		names = fmt.Sprintf("%s and %d more", names, n)
	}
	remedy := stream.PlainText("run the same command again, which goes on with it, or delete it")
	if o.list == nil { // a folder that is not empty is also refused when the store answers again
		err, remedy = errors.New(err.Error()), stream.PlainText("delete it")
	}
	return &stream.OutputError{Path: o.location.PublicName(), Err: stream.Errorf("the run failed, and its uploads could not be deleted: %s: %w", names, err), Remedy: remedy}
}

// silentStoreError is the error for a store that does not answer deletions.
type silentStoreError struct{}

func (silentStoreError) Error() string {
	return fmt.Sprintf("the store did not answer within %v", removePatience)
}

func (silentStoreError) Is(target error) bool { return target == stream.ErrTemporary } //nolint:errorlint // errors.Is unwraps by itself

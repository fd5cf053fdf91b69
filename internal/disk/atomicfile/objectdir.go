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

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// wholeMark is an empty object whose presence means that a folder is complete. The files of the folder appear one by
// one, so readers that need all files wait for this object, as Spark's readers do. Readers skip names that begin with
// _. A folder without this object belongs to a run that is unfinished or was killed.
const wholeMark = "_SUCCESS"

const (
	// removePatience is the time after which the deletion of the objects of a failed run stops if no deletion succeeds:
	// the user has pressed Ctrl-C, or the store does not work.
	removePatience  = 10 * time.Second
	parallelDeletes = 16 // number of deletions at a time; one by one, a thousand of 50 ms each would take a minute
)

// objectDir builds a folder in a store, i.e. objects whose keys have a common prefix. A store cannot rename, so each
// file exists as soon as it is committed. If the run fails, the files are deleted.
type objectDir struct {
	client        *store.Client
	location      store.Location           // its key ends in a slash, or is empty if the folder is the whole bucket
	objects       map[string]createdObject // by key: the objects to delete if the run fails
	doubtful      []store.Location         // objects whose upload has begun or failed; usually none
	list          *objectList              // set by ResumeDir; else nil
	foreignWriter bool                     // another run writes to this folder, so nothing is deleted
}

// createdObject describes an object that was uploaded. It is small, because a folder may have a hundred thousand.
type createdObject struct {
	size      int64
	version   string // from its store; may be empty
	unchanged bool   // the last listing showed the object as it was uploaded
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
		Remedy: stream.PlainText("name a new folder, or delete that one (without " + wholeMark + " it was left by a killed run)")}
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

func (o *objectDir) putWholeMark(ctx context.Context) error {
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

// removeUploads deletes the uploaded objects, even after an interruption. If only the store's answer was lost, a failed
// upload may have made its object nevertheless, and this object is also deleted. A failure to delete such an object is
// not reported, because nothing else shows that it exists.
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
	if o.list != nil { // the list exists before the first file, and as long as any file
		left = append(left, o.location.Key+listName)
	}
	if ctx.Err() != nil { // removePatience ended ctx, not the run
		first = silentStoreError{}
	}
	return o.errNotDeleted(left, first)
}

// deleteAll deletes the objects with these keys and the doubtful objects. It returns the keys that could not be
// deleted, and the first error. It calls progress after each deletion.
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
		err = data.Err // the objects are named below
	}
	left := convert.Each(keys, func(key string) string { return o.location.WithKey(key).PublicName() })
	const few = 3
	names := strings.Join(left[:min(few, len(left))], ", ")
	if n := len(left) - few; n > 0 {
		names = fmt.Sprintf("%s and %d more", names, n)
	}
	remedy := stream.PlainText("run the same command again to continue, or delete it")
	if o.list == nil { // not a temporary error, because a second run refuses a folder that is not empty
		err, remedy = errors.New(err.Error()), stream.PlainText("delete it")
	}
	return &stream.OutputError{Path: o.location.PublicName(), Err: stream.Errorf("the run failed, and its uploads could not be deleted: %s: %w", names, err), Remedy: remedy}
}

// silentStoreError is the error of a store that does not respond to deletions.
type silentStoreError struct{}

func (silentStoreError) Error() string {
	return fmt.Sprintf("the store did not answer within %v", removePatience)
}

func (silentStoreError) Is(target error) bool { return target == stream.ErrTemporary } //nolint:errorlint // errors.Is unwraps by itself

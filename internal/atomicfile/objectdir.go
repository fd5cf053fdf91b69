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
	objects  map[string]made  // by key: those to be deleted if the run fails
	doubtful []store.Location // uploads that failed, or are under way: seldom there
	list     *objectList      // of ResumeDir; else nil
	foreign  bool             // another run writes here: nothing is deleted
}

// made is what is remembered of an object: there may be a hundred thousand.
type made struct {
	size    int64
	version string // that its store tells, which may be none
	found   bool   // as it was made, when the folder was looked through
}

func newObjectDir(path string) (*objectDir, error) {
	l, err := locate(path)
	if err != nil {
		return nil, err
	}
	return &objectDir{client: store.New(store.Options{}), at: l.WithKey(place.Folder(l.Key)), objects: map[string]made{}}, nil
}

// in is the place of what is called rel in the folder.
func (o *objectDir) in(rel string) store.Location { return o.at.WithKey(o.at.Key + rel) }

// files yields what lies in the folder.
func (o *objectDir) files(ctx context.Context) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		for found, err := range o.client.List(ctx, o.at) {
			// Web consoles make an object of this name for a new folder.
			if err == nil && strings.HasSuffix(found.Key, "/") {
				continue
			}
			if !yield(found, outputOf(o.at.Name(), err)) {
				return
			}
		}
	}
}

// createObjectDir refuses a folder that any object lies in.
func createObjectDir(ctx context.Context, path string) (*objectDir, error) {
	o, err := newObjectDir(path)
	if err != nil {
		return nil, err
	}
	for found, err := range o.files(ctx) {
		if err == nil {
			err = o.notEmpty(found)
		}
		return nil, err
	}
	return o, o.client.CanUpload(ctx, o.in(wholeMark))
}

func (o *objectDir) notEmpty(found store.Object) error {
	return &stream.OutputError{Path: o.at.Name(), Err: stream.Errorf("the folder is not empty: %s lies in it", found.Name()),
		Remedy: stream.PlainText("name a new folder, or delete that one (without " + wholeMark + " it is of a run that was killed)")}
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
	l := o.in(rel)
	return createObject(ctx, o.client, l, func() { o.doubtful = append(o.doubtful, l) }, func(there store.Object) {
		o.doubtful = o.doubtful[:len(o.doubtful)-1]
		o.objects[l.Key] = made{size: there.Size, version: there.Version}
	})
}

// finish marks the folder as whole.
func (o *objectDir) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := o.confirm(ctx); err != nil {
		return err
	}
	mark := o.in(wholeMark)
	o.doubtful = append(o.doubtful, mark)
	if _, err := o.client.Upload(ctx, mark, strings.NewReader(""), 0); err != nil {
		return err
	}
	o.forget(ctx)
	return nil
}

// remove deletes what was uploaded, also where the run was interrupted. An upload that
// failed may be there all the same if only its answer was lost; that it cannot be deleted
// is no news where nothing else tells that it is there.
func (o *objectDir) remove(ctx context.Context) error {
	if o.foreign {
		return nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	patience := time.AfterFunc(removePatience, cancel)
	defer patience.Stop()
	left := slices.Sorted(maps.Keys(o.objects))
	first := o.own(ctx) // what was superseded deletes nothing
	if o.foreign {
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
	if o.list != nil { // which was put before the first file, and is there as long as one is
		left = append(left, o.at.Key+listName)
	}
	if ctx.Err() != nil { // ours: it must not pass for the run's
		first = silence{}
	}
	return o.stillThere(left, first)
}

// deleteAll deletes the objects with these keys and those that are doubtful, and tells which are
// left and why the first is. It calls progress where one is gone.
func (o *objectDir) deleteAll(ctx context.Context, keys []string, progress func()) (left []string, first error) {
	failed := make([]error, len(keys))
	var g errgroup.Group
	g.SetLimit(removeAtOnce)
	for i, key := range keys {
		g.Go(func() error {
			if failed[i] = o.client.Delete(ctx, o.at.WithKey(key)); failed[i] == nil {
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

// stillThere is the error of objects that were to be deleted.
func (o *objectDir) stillThere(keys []string, err error) error {
	if data := (*stream.DataError)(nil); errors.As(err, &data) {
		err = data.Err // its object is named below
	}
	var left []string
	for _, key := range keys {
		left = append(left, o.at.WithKey(key).Name())
	}
	const few = 3
	names := strings.Join(left[:min(few, len(left))], ", ")
	if n := len(left) - few; n > 0 {
		names = fmt.Sprintf("%s and %d more", names, n)
	}
	remedy := stream.PlainText("run the same command again, which goes on with it, or delete it")
	if o.list == nil { // a folder that is not empty is refused also when the store is there again
		err, remedy = errors.New(err.Error()), stream.PlainText("delete it")
	}
	return &stream.OutputError{Path: o.at.Name(), Err: stream.Errorf("the run failed, and what it had uploaded could not be deleted: %s: %w", names, err), Remedy: remedy}
}

// silence is the error of a store that does not answer while something is to be deleted.
type silence struct{}

func (silence) Error() string {
	return fmt.Sprintf("the store did not answer within %v", removePatience)
}

func (silence) Is(target error) bool { return target == stream.ErrTemporary } //nolint:errorlint // errors.Is unwraps by itself

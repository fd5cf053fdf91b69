package atomicfile

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/claim"
	"github.com/ufs-stream/ufs-stream/stream"
)

// resumeObjectDir takes over the folder of an earlier run. If that is impossible, it changes nothing in the
// folder; an error while it deletes unwanted objects may leave some of them.
func resumeObjectDir(ctx context.Context, name string, wanted func(rel string) bool) (*objectDir, error) {
	o, err := newObjectDir(name)
	if err != nil {
		return nil, err
	}
	o.list = newObjectList(claim.New(o.client, o.locationOf(listName), listTitle))
	unwanted, err := o.adoptWanted(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := o.saveList(ctx); err != nil { // this also tests whether the folder can be written
		return nil, err
	}
	if left, err := o.deleteAll(ctx, unwanted, func() {}); left != nil {
		return nil, asOutputError(o.location.WithKey(left[0]).PublicName(), err)
	}
	return o, nil
}

func (o *objectDir) adoptWanted(ctx context.Context, wanted func(rel string) bool) (unwanted []string, err error) {
	var recorded map[string]FinishedFile // read at the first object; shows which objects an earlier run made
	for found, err := range o.listObjects(ctx) {
		if err == nil && recorded == nil {
			recorded, err = o.readList(ctx, found)
		}
		if err != nil {
			return nil, err
		}
		rel := strings.TrimPrefix(found.Key, o.location.Key)
		_, finished := recorded[rel]
		switch {
		case rel == listName:
		case rel == wholeMark: // the folder is complete: its run was killed before it removed the list
			return nil, o.errNotEmpty(found)
		case wanted(rel):
			o.objects[found.Key] = createdObject{size: found.Size, version: found.Version}
		case finished:
			unwanted = append(unwanted, found.Key)
		default:
			return nil, &stream.OutputError{Path: o.location.PublicName(), Err: stream.Errorf("an interrupted run left the folder, and %s is not one of its files", found.PublicName()),
				Remedy: stream.PlainText("delete that object, or name a new folder")}
		}
	}
	o.adoptFinished(recorded)
	return unwanted, nil
}

// adoptFinished copies the records whose objects were found to a new map. Deleting the other records from the old map
// would not free their memory.
func (o *objectDir) adoptFinished(recorded map[string]FinishedFile) {
	for rel, f := range recorded {
		if _, found := o.objects[o.location.Key+rel]; found {
			o.list.byPlace[rel] = f
		}
	}
}

func (o *objectDir) matchesFinished(ctx context.Context, finished FinishedFile) bool {
	l := o.locationOf(finished.Place)
	found, ok := o.objects[l.Key]
	switch {
	case !ok || found.size != finished.Bytes || finished.Version == "":
		return false
	case found.version == finished.Version:
		return true
	}
	same, err := o.isUnchanged(ctx, l, createdObject{size: finished.Bytes, version: finished.Version})
	return same && err == nil
}

// isUnchanged reports whether an object still exists as it was uploaded. It requests the object itself, because in some
// stores a listing is out of date, or shows another version for encrypted objects.
func (o *objectDir) isUnchanged(ctx context.Context, l store.Location, was createdObject) (bool, error) {
	now, err := o.client.Stat(ctx, l)
	if errors.Is(err, store.ErrNotExist) {
		return false, nil
	}
	return was.matchesObject(now), asOutputError(l.PublicName(), err)
}

func (m createdObject) matchesObject(now store.Object) bool {
	return now.Size == m.size && (m.version == "" || now.Version == m.version)
}

func (o *objectDir) leaveForResume(ctx context.Context) bool {
	if o.foreignWriter || o.list == nil || len(o.list.byPlace) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removePatience)
	defer cancel()
	if err := o.saveList(ctx); err != nil {
		return !o.foreignWriter && o.list.savedCount > 0 // a later run makes the files that the saved list lacks
	}
	_, _ = o.deleteAll(ctx, nil, func() {}) // wholeMark may be one of the doubtful objects, and must not stay
	return true
}

// checkContents checks that the folder belongs to this run, and that it contains exactly the objects that this run has
// made or taken over, apart from names that readers skip. The check is needed because a run that was superseded may
// have written since. A superseded run notices that it was superseded only when it saves its list, and never if the
// store has no conditional writes.
func (o *objectDir) checkContents(ctx context.Context) error {
	if o.list == nil {
		return nil
	}
	if err := o.saveList(ctx); err != nil {
		return err
	}
	for key, was := range o.objects { // discard the results of an earlier listing
		was.unchanged = false
		o.objects[key] = was
	}
	for found, err := range o.listObjects(ctx) {
		if err != nil {
			return err
		}
		was, ok := o.objects[found.Key]
		switch base := path.Base(found.Key); {
		case ok && was.matchesObject(found):
			was.unchanged = true
			o.objects[found.Key] = was
		case !ok && !strings.HasPrefix(base, "_") && !strings.HasPrefix(base, "."):
			return o.errForeignWrite("another program has written %s in the meantime", found.Location, "delete that object")
		}
	}
	return o.checkUnlistedObjects(ctx)
}

// parallelChecks is the number of objects that are requested at the same time. One by one, a hundred thousand objects
// that a listing shows with another version would take more than an hour, at 50 ms each.
const parallelChecks = 16

// checkUnlistedObjects requests the objects that the listing lacks or shows with another version. If objects have
// changed, the error names the first of them in the order of keys.
func (o *objectDir) checkUnlistedObjects(ctx context.Context) error {
	keys := slices.Sorted(maps.Keys(o.objects))
	keys = slices.DeleteFunc(keys, func(key string) bool { return o.objects[key].unchanged })
	for chunk := range slices.Chunk(keys, parallelChecks) {
		var same [parallelChecks]bool
		var failed [parallelChecks]error
		var g errgroup.Group
		for i, key := range chunk {
			g.Go(func() error {
				same[i], failed[i] = o.isUnchanged(ctx, o.location.WithKey(key), o.objects[key])
				return nil
			})
		}
		_ = g.Wait()
		for i, key := range chunk {
			if failed[i] != nil {
				return failed[i]
			}
			if !same[i] {
				return o.errForeignWrite("another program has changed or removed %s in the meantime", o.location.WithKey(key), "see that no other run writes there")
			}
		}
	}
	return nil
}

func (o *objectDir) errForeignWrite(format string, object store.Location, remedy string) error {
	o.foreignWriter = true
	return &stream.OutputError{Path: o.location.PublicName(), Err: stream.Errorf(format, object.PublicName()),
		Remedy: stream.PlainText(remedy + ", and run the same command again: it continues with the rest")}
}

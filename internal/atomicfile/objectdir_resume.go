package atomicfile

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/internal/store/claim"
	"github.com/ufs-stream/ufs-stream/stream"
)

// resumeObjectDir takes over what an earlier run has left of the folder; it changes nothing in a
// folder that is not to be taken over.
func resumeObjectDir(ctx context.Context, name string, wanted func(rel string) bool) (*objectDir, error) {
	o, err := newObjectDir(name)
	if err != nil {
		return nil, err
	}
	o.list = newObjectList(claim.New(o.client, o.in(listName), listTitle))
	unwanted, err := o.takeUp(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := o.save(ctx); err != nil { // which tells as well whether the folder can be written
		return nil, err
	}
	if left, err := o.deleteAll(ctx, unwanted, func() {}); left != nil {
		return nil, outputOf(o.at.WithKey(left[0]).Name(), err)
	}
	return o, nil
}

// takeUp looks at what lies in the folder: the files that are wanted, and the keys of those that an
// earlier run has made and that are not.
func (o *objectDir) takeUp(ctx context.Context, wanted func(rel string) bool) (unwanted []string, err error) {
	var of map[string]Finished // nil until an object is found, of which the list says whose it is
	for found, err := range o.files(ctx) {
		if err == nil && of == nil {
			of, err = o.readList(ctx, found)
		}
		if err != nil {
			return nil, err
		}
		rel := strings.TrimPrefix(found.Key, o.at.Key)
		_, finished := of[rel]
		switch {
		case rel == listName:
		case rel == wholeMark: // its run was killed before it removed the list
			return nil, o.notEmpty(found)
		case wanted(rel):
			o.objects[found.Key] = made{size: found.Size, version: found.Version}
		case finished:
			unwanted = append(unwanted, found.Key)
		default:
			return nil, &stream.OutputError{Path: o.at.Name(), Err: stream.Errorf("a run that was broken off has left the folder, and %s is none of its files", found.Name()),
				Remedy: stream.PlainText("delete that object, or name a new folder")}
		}
	}
	o.takeOver(of)
	return unwanted, nil
}

// takeOver takes those files of an earlier list whose objects were found. The others would keep their places in
// memory if they were deleted from of.
func (o *objectDir) takeOver(of map[string]Finished) {
	for rel, f := range of {
		if _, found := o.objects[o.at.Key+rel]; found {
			o.list.of[rel] = f
		}
	}
}

// same reports whether the object that f tells of is there as it was uploaded.
func (o *objectDir) same(ctx context.Context, f Finished) bool {
	l := o.in(f.Place)
	found, ok := o.objects[l.Key]
	switch {
	case !ok || found.size != f.Bytes || f.Version == "":
		return false
	case found.version == f.Version:
		return true
	}
	same, err := o.unchanged(ctx, l, made{size: f.Bytes, version: f.Version})
	return same && err == nil
}

// unchanged reports whether an object is there as it was uploaded. It asks for the object itself:
// with some stores a listing is late, or has another tag of encrypted objects.
func (o *objectDir) unchanged(ctx context.Context, l store.Location, was made) (bool, error) {
	now, err := o.client.Stat(ctx, l)
	if errors.Is(err, store.ErrNotExist) {
		return false, nil
	}
	return was.like(now), outputOf(l.Name(), err)
}

// like compares what an upload has told, which may be no version, with the object.
func (m made) like(now store.Object) bool {
	return now.Size == m.size && (m.version == "" || now.Version == m.version)
}

// leave leaves the folder to a later run.
func (o *objectDir) leave(ctx context.Context) bool {
	if o.foreign || o.list == nil || len(o.list.of) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removePatience)
	defer cancel()
	if err := o.save(ctx); err != nil {
		return !o.foreign && o.list.saved > 0 // the files behind those are made again
	}
	_, _ = o.deleteAll(ctx, nil, func() {}) // of those that are doubtful the mark must not stay
	return true
}

// confirm makes sure that the folder is this run's, and that it holds what this run has made, or
// has found and taken as it is, and nothing else that readers would read. A run that this one has
// superseded may have written in the meantime: it hears of that only when it puts the list, and
// never from a store that knows no conditions.
func (o *objectDir) confirm(ctx context.Context) error {
	if o.list == nil {
		return nil
	}
	if err := o.save(ctx); err != nil {
		return err
	}
	for key, was := range o.objects { // of an earlier look
		was.found = false
		o.objects[key] = was
	}
	for found, err := range o.files(ctx) {
		if err != nil {
			return err
		}
		was, ok := o.objects[found.Key]
		switch base := path.Base(found.Key); {
		case ok && was.like(found):
			was.found = true
			o.objects[found.Key] = was
		case !ok && !strings.HasPrefix(base, "_") && !strings.HasPrefix(base, "."):
			return o.disturbed("another has written %s meanwhile", found.Location, "delete that object")
		}
	}
	return o.askMissing(ctx)
}

// askAtOnce objects are asked for together: one by one, a hundred thousand that a store lists with another
// tag would take hours at 50 ms.
const askAtOnce = 16

// askMissing asks for the objects that the listing has not, or has otherwise. The first one in their order
// that is not as it was made is the error.
func (o *objectDir) askMissing(ctx context.Context) error {
	keys := slices.Sorted(maps.Keys(o.objects))
	keys = slices.DeleteFunc(keys, func(key string) bool { return o.objects[key].found })
	for some := range slices.Chunk(keys, askAtOnce) {
		var same [askAtOnce]bool
		var failed [askAtOnce]error
		var g errgroup.Group
		for i, key := range some {
			g.Go(func() error {
				same[i], failed[i] = o.unchanged(ctx, o.at.WithKey(key), o.objects[key])
				return nil
			})
		}
		_ = g.Wait()
		for i, key := range some {
			if failed[i] != nil {
				return failed[i]
			}
			if !same[i] {
				return o.disturbed("another has changed or removed %s meanwhile", o.at.WithKey(key), "see that no other run writes there")
			}
		}
	}
	return nil
}

func (o *objectDir) disturbed(what string, object store.Location, remedy string) error {
	o.foreign = true
	return &stream.OutputError{Path: o.at.Name(), Err: stream.Errorf(what, object.Name()),
		Remedy: stream.PlainText(remedy + ", and run the same command again, which goes on with the rest")}
}

package atomicfile

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
	o.list = &objectList{claim: claim.New(o.client, o.in(listName), listTitle), of: map[string]Finished{}}
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
		case wanted(filepath.FromSlash(rel)):
			o.objects[found.Key] = found
		case finished:
			unwanted = append(unwanted, found.Key)
		default:
			return nil, &stream.OutputError{Path: o.at.Name(), Err: stream.Errorf("a run that was broken off has left the folder, and %s is none of its files", found.Name()),
				Remedy: stream.PlainText("delete that object, or name a new folder")}
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(of)) {
		if _, found := o.objects[o.at.Key+rel]; !found {
			continue
		}
		if err := o.list.add(of[rel]); err != nil {
			return nil, &stream.OutputError{Path: o.at.Name(), Err: err}
		}
	}
	return unwanted, nil
}

// same reports whether the object that f tells of is there as it was uploaded.
func (o *objectDir) same(ctx context.Context, f Finished) bool {
	made := store.Object{Location: o.in(f.Place), Size: f.Bytes, Version: f.Version}
	found, ok := o.objects[made.Key]
	switch {
	case !ok || found.Size != made.Size || made.Version == "":
		return false
	case found.Version == made.Version:
		return true
	}
	same, err := o.unchanged(ctx, made)
	return same && err == nil
}

// unchanged reports whether an object is there as it was uploaded. It asks for the object itself:
// with some stores a listing is late, or has another tag of encrypted objects.
func (o *objectDir) unchanged(ctx context.Context, made store.Object) (bool, error) {
	now, err := o.client.Stat(ctx, made.Location)
	if errors.Is(err, store.ErrNotExist) {
		return false, nil
	}
	return alike(now, made), outputOf(made.Name(), err)
}

// alike compares an object with what its upload has told, which may be no version.
func alike(now, made store.Object) bool {
	return now.Size == made.Size && (made.Version == "" || now.Version == made.Version)
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
	missing := maps.Clone(o.objects)
	for found, err := range o.files(ctx) {
		if err != nil {
			return err
		}
		made, ok := o.objects[found.Key]
		switch base := path.Base(found.Key); {
		case ok && alike(found, made):
			delete(missing, found.Key)
		case !ok && !strings.HasPrefix(base, "_") && !strings.HasPrefix(base, "."):
			return o.disturbed("another has written %s meanwhile", found, "delete that object")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(missing)) {
		same, err := o.unchanged(ctx, missing[key])
		if err != nil {
			return err
		}
		if !same {
			return o.disturbed("another has changed or removed %s meanwhile", missing[key], "see that no other run writes there")
		}
	}
	return nil
}

func (o *objectDir) disturbed(what string, object store.Object, remedy string) error {
	o.foreign = true
	return &stream.OutputError{Path: o.at.Name(), Err: stream.Errorf(what, object.Name()),
		Remedy: stream.PlainText(remedy + ", and run the same command again, which goes on with the rest")}
}

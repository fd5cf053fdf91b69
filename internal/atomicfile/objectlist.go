package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/internal/store/claim"
	"github.com/ufs-stream/ufs-stream/stream"
)

// listName is the object that lists the whole files of a folder while it is built. Readers skip names that
// begin with _.
const listName = "_ufs_finished"

const listTitle = "These files are whole. The command that was broken off goes on with them. Written by run"

const (
	// The list is saved this often: a kill loses the work of these seconds. GCS allows one write of an object
	// per second.
	saveInterval = 2 * time.Second
	// Saving may take 1/saveTimeShare of the time. A list of a few kilobytes takes 20 to 50 ms; one of a
	// hundred thousand files has 30 MB.
	saveTimeShare = 50
)

// objectList lists the whole files of a folder in a store. The folder belongs to the run that saved it last.
type objectList struct {
	claim      *claim.Object
	byPlace    map[string]FinishedFile // by FinishedFile.Place, with slashes: of this run and of earlier runs
	savedCount int                     // number of files in the last saved list
	nextSave   time.Time               // time of the next save, at the earliest
}

func newObjectList(object *claim.Object) *objectList {
	return &objectList{claim: object, byPlace: map[string]FinishedFile{}}
}

func (l *objectList) encodeText() ([]byte, error) {
	text := l.claim.TitleLine()
	for _, place := range slices.Sorted(maps.Keys(l.byPlace)) {
		line, err := l.byPlace[place].encodeLine()
		if err != nil {
			return nil, err
		}
		text = append(text, line...)
	}
	return text, nil
}

func (o *objectDir) readList(ctx context.Context, found store.Object) (map[string]FinishedFile, error) {
	text, exists, err := o.list.claim.Read(ctx)
	if err != nil {
		return nil, asOutputError(o.location.PublicName(), err)
	}
	if !exists {
		return nil, o.errNotEmpty(found)
	}
	byPlace, _, err := readFinished(bytes.NewReader(text))
	return byPlace, err
}

func (o *objectDir) recordFinished(ctx context.Context, f FinishedFile) error {
	if o.list == nil {
		return nil
	}
	o.list.byPlace[f.Place] = f
	if time.Now().Before(o.list.nextSave) {
		return nil
	}
	return o.saveList(ctx)
}

// saveList saves the list. If that succeeds, the folder belongs to this run.
func (o *objectDir) saveList(ctx context.Context) error {
	if o.list == nil {
		return nil
	}
	began := time.Now()
	text, err := o.list.encodeText()
	if err == nil {
		err = o.list.claim.Write(ctx, text)
	}
	now := time.Now()
	o.list.nextSave = now.Add(max(saveInterval, saveTimeShare*now.Sub(began)))
	switch {
	case errors.Is(err, claim.ErrTaken):
		return o.errSuperseded()
	case err != nil:
		return asOutputError(o.location.PublicName(), err)
	}
	o.list.savedCount = len(o.list.byPlace)
	return nil
}

func (o *objectDir) checkOwner(ctx context.Context) error {
	if o.list == nil {
		return nil
	}
	isOwner, err := o.list.claim.IsOwned(ctx)
	if err == nil && !isOwner {
		return o.errSuperseded()
	}
	return err
}

func (o *objectDir) errSuperseded() error {
	o.foreignWriter = true
	return &stream.OutputError{Path: o.location.PublicName(), Err: errors.New("another run is building it, so this one has stopped and left what is there"),
		Remedy: stream.PlainText("wait until that has ended, or name another output")}
}

// removeList removes the list of a whole folder. A run that is killed before this leaves both the list and the
// mark: readers skip the list, and the mark shows the next run that the folder is complete. If the list were
// removed before the mark is put, nobody could resume the folder. A failure to remove it is therefore ignored.
func (o *objectDir) removeList(ctx context.Context) {
	if o.list == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removePatience)
	defer cancel()
	_ = o.list.claim.Remove(ctx)
}

const (
	// Memory of a file in addition to its name: objectFileBytes for a created object (an entry of a half-filled
	// map, a version, its sorted key) and for its line of about 300 bytes while the text moves to a buffer of
	// 1¼ its size; finishedFileBytes for a record of a whole file, with recipe and version.
	objectFileBytes   = 210 + 9*300/4
	finishedFileBytes = 400
)

// heldBytes is HeldBytes of a folder in a store. It counts a list entry for each file, whole already or not: a
// limit that suffices for a first run suffices to resume it.
func (o *objectDir) heldBytes(places iter.Seq[string]) (n int64) {
	for rel := range places {
		n += objectFileBytes + int64(len(o.location.Key)+5*len(rel))
		if o.list != nil {
			n += finishedFileBytes
		}
	}
	return n
}

package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/claim"
	"github.com/ufs-stream/ufs-stream/internal/disk/journal"
	"github.com/ufs-stream/ufs-stream/stream"
)

// listName is the object that lists the complete files of a folder while it is built. Readers skip names that begin
// with _.
const listName = "_ufs_finished"

const listTitle = "These files are whole. The command that was broken off goes on with them. Written by run"

const (
	// saveInterval is the time between saves of the list. If the run is killed, the files since the last save are made
	// again. GCS allows one write of an object per second.
	saveInterval = 2 * time.Second
	// saveTimeShare bounds the time for saving the list to 1/saveTimeShare of the run. Saving a list of a few kilobytes
	// takes 20 to 50 ms; a list of a hundred thousand files has 30 MB.
	saveTimeShare = 50
)

// objectList lists the complete files of a folder in a store. The folder belongs to the run that saved the list last.
type objectList struct {
	claim      *claim.Object
	byPlace    map[string]FinishedFile // by FinishedFile.Place: files of this run and of earlier runs
	savedCount int                     // number of files in the last saved list
	nextSave   time.Time               // earliest time of the next save
}

func newObjectList(object *claim.Object) *objectList {
	return &objectList{claim: object, byPlace: map[string]FinishedFile{}}
}

func (l *objectList) encodeList() ([]byte, error) {
	text := l.claim.TitleLine()
	for _, place := range slices.Sorted(maps.Keys(l.byPlace)) {
		var err error
		if text, err = journal.AppendLine(text, l.byPlace[place]); err != nil {
			return nil, err
		}
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
	return parseObjectList(text)
}

func parseObjectList(lines []byte) (map[string]FinishedFile, error) {
	byPlace := map[string]FinishedFile{}
	_, err := journal.ReadRecords(bytes.NewReader(lines), func(f FinishedFile, _ journal.Body) (bool, error) {
		ok, err := isInFolder(f)
		if ok {
			byPlace[f.Place] = f
		}
		return ok, err
	})
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
	text, err := o.list.encodeList()
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
	return &stream.OutputError{Path: o.location.PublicName(), Err: errors.New("another run is building it, so this one stopped and left its files alone"),
		Remedy: stream.PlainText("wait until that has ended, or name another output")}
}

// removeList removes the list of a complete folder. It must be called after wholeMark is uploaded. A run that is killed
// while the folder has neither the list nor wholeMark cannot be resumed. A run that is killed in between leaves a
// folder with both: readers skip the list, and wholeMark shows the next run that the folder is complete. So a failure
// to remove the list is ignored.
func (o *objectDir) removeList(ctx context.Context) {
	if o.list == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removePatience)
	defer cancel()
	_ = o.list.claim.Remove(ctx)
}

const (
	// objectFileBytes and finishedFileBytes are the memory of a file in addition to its name. objectFileBytes is for a
	// created object (an entry of a half-filled map, its version and its sorted key) and for its line of the list, of
	// about 300 bytes. When the list is copied to a larger buffer, both buffers together need 2¼ times the memory of
	// the list. finishedFileBytes is for the record of a complete file, with recipe and version.
	objectFileBytes   = 210 + 9*300/4
	finishedFileBytes = 400
)

// heldBytes is HeldBytes for a folder in a store. It counts a record for each file, even if the file is not complete
// yet, so that a memory limit that suffices for a first run also suffices to resume it.
func (o *objectDir) heldBytes(places iter.Seq[string]) (n int64) {
	for rel := range places {
		n += objectFileBytes + int64(len(o.location.Key)+5*len(rel))
		if o.list != nil {
			n += finishedFileBytes
		}
	}
	return n
}

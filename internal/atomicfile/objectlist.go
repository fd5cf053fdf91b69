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

// listName is the object that lists the files of a folder that are whole while the folder is
// built. Readers skip names that begin with _.
const listName = "_ufs_finished"

const listTitle = "These files are whole. The command that was broken off goes on with them. Written by run"

const (
	// The list is put anew after so long: what a kill takes is the work of these seconds. GCS
	// wants an object to be written once a second at most.
	saveEvery = 2 * time.Second
	// To make it and to put it may take one part in so many of the time. One of a few kilobytes takes some
	// 20 to 50 ms; a list of a hundred thousand files has 30 MB.
	saveShare = 50
)

// objectList is the list of the files of a folder in a store that are whole. It belongs to the
// run that has put it last.
type objectList struct {
	claim *claim.Object
	of    map[string]Finished // by their places, with slashes: of this run and of earlier ones
	saved int                 // files of which the store was told
	next  time.Time           // to put it, from then on
}

func newObjectList(of *claim.Object) *objectList {
	return &objectList{claim: of, of: map[string]Finished{}}
}

// text is the list as it is to be put: the claim's title, and a line for each file.
func (l *objectList) text() ([]byte, error) {
	text := l.claim.Title()
	for _, place := range slices.Sorted(maps.Keys(l.of)) {
		line, err := l.of[place].line()
		if err != nil {
			return nil, err
		}
		text = append(text, line...)
	}
	return text, nil
}

// readList reads the list of a folder that found lies in.
func (o *objectDir) readList(ctx context.Context, found store.Object) (map[string]Finished, error) {
	text, there, err := o.list.claim.Read(ctx)
	if err != nil {
		return nil, outputOf(o.at.Name(), err)
	}
	if !there {
		return nil, o.notEmpty(found)
	}
	of, _, err := readFinished(bytes.NewReader(text))
	return of, err
}

// keep notes a file that is whole, and puts the list if it is time.
func (o *objectDir) keep(ctx context.Context, f Finished) error {
	if o.list == nil {
		return nil
	}
	o.list.of[f.Place] = f
	if time.Now().Before(o.list.next) {
		return nil
	}
	return o.save(ctx)
}

// save puts the list. That it succeeds means that the folder is this run's.
func (o *objectDir) save(ctx context.Context) error {
	if o.list == nil {
		return nil
	}
	began := time.Now()
	text, err := o.list.text()
	if err == nil {
		err = o.list.claim.Write(ctx, text)
	}
	now := time.Now()
	o.list.next = now.Add(max(saveEvery, saveShare*now.Sub(began)))
	switch {
	case errors.Is(err, claim.ErrTaken):
		return o.superseded()
	case err != nil:
		return outputOf(o.at.Name(), err)
	}
	o.list.saved = len(o.list.of)
	return nil
}

// own makes sure that the folder is this run's, and writes nothing.
func (o *objectDir) own(ctx context.Context) error {
	if o.list == nil {
		return nil
	}
	own, err := o.list.claim.Owned(ctx)
	if err == nil && !own {
		return o.superseded()
	}
	return err
}

func (o *objectDir) superseded() error {
	o.foreign = true
	return &stream.OutputError{Path: o.at.Name(), Err: errors.New("another run is building it, so this one has stopped and left what is there"),
		Remedy: stream.PlainText("wait until that has ended, or name another output")}
}

// forget removes the list of a folder that is whole. A run that is killed before leaves both it and
// the mark: readers skip it, and the next run sees by the mark that there is nothing to go on with.
// Removed before the mark is put, it would leave a folder that nobody could go on with. That it
// cannot be removed is no failure therefore.
func (o *objectDir) forget(ctx context.Context) {
	if o.list == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removePatience)
	defer cancel()
	_ = o.list.claim.Remove(ctx)
}

const (
	// What a file takes in memory, beside its name: as an object that was made (an entry of a map that
	// is filled by half, a version, its key sorted), and its line of about 300 bytes while the text is
	// moved to a place of 1¼ its size; and as an entry of those that are whole, with recipe and version.
	objectFileBytes   = 210 + 9*300/4
	finishedFileBytes = 400
)

// heldBytes is HeldBytes of a folder in a store. An entry of a list is counted whether the file is whole
// already or not: a limit that suffices for a first run suffices for one that goes on.
func (o *objectDir) heldBytes(places iter.Seq[string]) (n int64) {
	for rel := range places {
		n += objectFileBytes + int64(len(o.at.Key)+5*len(rel))
		if o.list != nil {
			n += finishedFileBytes
		}
	}
	return n
}

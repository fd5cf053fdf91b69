package resume

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// stageFile is a scratch file of a stage, a computation whose progress is saved step by step. It is either a file in
// the folder, or it is in memory and is copied to such a file when the stage is saved.
type stageFile struct {
	stream.ScratchFile // the file in the folder, or memory
	stage              *stage
	mark               fileMark
	inMemory           bool
	diskFile           *scratch.Kept // the file in the folder; nil for memory that was not saved yet
	inSavedState       bool          // the last saved state of the stage lists the file
}

// Make implements [stream.Stage]: it makes a scratch file, or opens the file of this name in the loaded state.
func (st *stage) Make(name string, total int64, record int) (stream.ScratchFile, error) {
	f := &stageFile{stage: st, mark: fileMark{Name: name, Bytes: total, Record: record}}
	var state *scratch.State
	if st.isResumed {
		mark, ok := st.takeLoadedFile(name)
		if !ok || mark.Bytes != total || mark.Record != record {
			return nil, ErrDamaged(st.loadedPath, stream.Errorf("%s is not as this run needs it", name))
		}
		f.mark, state = mark, &mark.state
		f.inSavedState = true
	} else {
		f.mark.File = st.nextUnusedFileName()
	}
	var err error
	if disk, ok := st.Scratch.(*scratch.Space); ok {
		if err := f.openDiskFile(disk, state); err != nil {
			return nil, err
		}
		f.ScratchFile = f.diskFile
	} else {
		f.inMemory = true
		if f.ScratchFile, err = st.Scratch.Make(name, total, record); err != nil {
			return nil, err
		}
		if state != nil {
			if err := f.loadIntoMemory(state); err != nil {
				return nil, errors.Join(err, f.Close())
			}
		}
	}
	st.files = append(st.files, f)
	return f, nil
}

func (st *stage) nextUnusedFileName() string {
	for {
		name := fmt.Sprintf("%s.%s.%d%s", st.stages.run.part, st.name, st.nextFileNumber, dataSuffix)
		st.nextFileNumber++
		if _, err := st.stages.run.folder.dir.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
	}
}

func (f *stageFile) forEachRecord(mode stream.ScratchMode, visit func(i int, record []byte) error) (err error) {
	p := f.Pass(mode)
	defer func() { err = errors.Join(err, p.Close()) }()
	for i := range int((f.mark.Bytes + int64(f.mark.Record) - 1) / int64(f.mark.Record)) {
		record, err := p.Next()
		if err != nil {
			return err
		}
		if err := visit(i, record); err != nil {
			return err
		}
	}
	return nil
}

func (f *stageFile) openDiskFile(space *scratch.Space, state *scratch.State) (err error) {
	f.diskFile, err = space.Keep(f.stage.stages.run.folder.dir, f.mark.File, f.mark.Name, f.mark.Bytes, f.mark.Record, state)
	return err
}

func (f *stageFile) loadIntoMemory(state *scratch.State) error {
	if err := f.openDiskFile(f.stage.stages.memoryCopies, state); err != nil {
		return err
	}
	return f.forEachRecord(stream.ScratchWrite, f.diskFile.Read)
}

// durableState writes the contents of the file to the disk, and returns, for each record, which of the record's two
// places is valid.
func (f *stageFile) durableState() (s scratch.State, err error) {
	if f.inMemory {
		if f.diskFile == nil {
			if err := f.openDiskFile(f.stage.stages.memoryCopies, nil); err != nil {
				return s, err
			}
		}
		if err := f.forEachRecord(stream.ScratchRead, f.diskFile.Write); err != nil {
			return s, err
		}
	}
	return f.diskFile.State()
}

func (f *stageFile) setInSavedState(isIn bool) {
	if f.inSavedState = isIn; isIn {
		f.diskFile.Settle()
	}
}

// Close implements [stream.ScratchFile]. It removes the file from the folder if no saved state lists it.
func (f *stageFile) Close() error {
	st := f.stage
	st.files = slices.DeleteFunc(st.files, func(o *stageFile) bool { return o == f })
	err := f.ScratchFile.Close()
	if f.inMemory && f.diskFile != nil {
		err = errors.Join(err, f.diskFile.Close())
	}
	if !f.inSavedState {
		err = errors.Join(err, st.stages.run.folder.removeFile(f.mark.File))
	}
	return err
}

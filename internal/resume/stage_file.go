package resume

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// stageFile is a scratch file of a stage: a named one, or one that stands for memory, which is
// copied to a named file when the stage is saved.
type stageFile struct {
	stream.ScratchFile // the named file itself, or memory
	of                 *stage
	mark               fileMark
	memory             bool
	named              *scratch.Kept // nil for memory that was not saved yet
	holds              bool          // a state in the folder names it
}

// Make implements [stream.Stage].
func (st *stage) Make(name string, total int64, record int) (stream.ScratchFile, error) {
	f := &stageFile{of: st, mark: fileMark{Name: name, Bytes: total, Record: record}}
	var state *scratch.State
	if st.found {
		own, ok := st.take(name)
		if !ok || own.Bytes != total || own.Record != record {
			path := st.in.run.file(st.name)
			return nil, Damaged(path, stream.Errorf("%s is not as this run needs it", name))
		}
		f.mark, state = own, &own.state
		f.holds = true
	} else {
		f.mark.File = st.newName()
	}
	var err error
	if disk, ok := st.Scratch.(*scratch.Space); ok {
		if f.named, err = disk.Keep(st.in.run.folder.root, f.mark.File, name, total, record, state); err != nil {
			return nil, err
		}
		f.ScratchFile = f.named
	} else {
		f.memory = true
		if f.ScratchFile, err = st.Scratch.Make(name, total, record); err != nil {
			return nil, err
		}
		if state != nil {
			if err := f.restore(state); err != nil {
				return nil, errors.Join(err, f.Close())
			}
		}
	}
	st.files = append(st.files, f)
	return f, nil
}

// newName is a file that is not there.
func (st *stage) newName() string {
	for {
		name := fmt.Sprintf("%s.%s.%d%s", st.in.run.part, st.name, st.made, dataSuffix)
		st.made++
		if _, err := st.in.run.folder.root.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
	}
}

// records goes through the records of memory.
func (f *stageFile) records(mode stream.ScratchMode, do func(i int, record []byte) error) (err error) {
	p := f.Pass(mode)
	defer func() { err = errors.Join(err, p.Close()) }()
	for i := range int((f.mark.Bytes + int64(f.mark.Record) - 1) / int64(f.mark.Record)) {
		record, err := p.Next()
		if err != nil {
			return err
		}
		if err := do(i, record); err != nil {
			return err
		}
	}
	return nil
}

// restore fills memory from its named file.
func (f *stageFile) restore(state *scratch.State) (err error) {
	if f.named, err = f.of.in.dumps.Keep(f.of.in.run.folder.root, f.mark.File, f.mark.Name, f.mark.Bytes, f.mark.Record, state); err != nil {
		return err
	}
	return f.records(stream.ScratchWrite, f.named.Read)
}

// state makes durable what the file holds.
func (f *stageFile) state() (s scratch.State, err error) {
	if f.memory {
		if f.named == nil {
			if f.named, err = f.of.in.dumps.Keep(f.of.in.run.folder.root, f.mark.File, f.mark.Name, f.mark.Bytes, f.mark.Record, nil); err != nil {
				return s, err
			}
		}
		if err := f.records(stream.ScratchRead, f.named.Write); err != nil {
			return s, err
		}
	}
	return f.named.State()
}

// settle says whether the state in the folder names the file.
func (f *stageFile) settle(holds bool) {
	if f.holds = holds; holds {
		f.named.Settle()
	}
}

// Close implements [stream.ScratchFile]: what no state names is removed.
func (f *stageFile) Close() error {
	st := f.of
	st.files = slices.DeleteFunc(st.files, func(o *stageFile) bool { return o == f })
	err := f.ScratchFile.Close()
	if f.memory && f.named != nil {
		err = errors.Join(err, f.named.Close())
	}
	if !f.holds {
		err = errors.Join(err, st.in.run.folder.remove(f.mark.File))
	}
	return err
}

func stepsText(steps int) string { return strconv.Itoa(steps) }

func stepsOf(mark string) (int, error) {
	n, err := strconv.Atoi(mark)
	if err != nil || n < 0 {
		return 0, stream.Errorf("it does not say how many steps were made")
	}
	return n, nil
}

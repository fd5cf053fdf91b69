package resume

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// stateLog is a file to which states are appended, such as the results of finished passes. A state in it is never
// replaced. It survives a kill of the process as soon as it is written, and reaches the disk with the next sync. Syncs
// are delayed, because a sync after every pass could take as long as the pass, which may last only a fraction of a
// second. To save time, states are also not compressed: writing 4 MiB takes 2 ms, and 60 ms if it is compressed and
// synced. All numbers are little-endian:
//
//	magic "ufslog 1", digest of the Identity of the run (64 bytes)
//	for each state: length of its head uint32, length of its numbers in bytes uint64, head (JSON), numbers,
//	         xxhash64 of all of this
//
// The log is read up to the first state that is cut off or does not match its checksum. This state and all states after
// it are computed again.
type stateLog struct {
	file   *os.File
	states map[string]loggedState
	end    int64 // offset after the last state
	synced int64 // offset up to which everything is on the disk
}

type loggedState struct {
	head          logHead
	numbersOffset int64 // offset of its numbers in the file
}

type logHead struct {
	Name    string            `json:"name"`
	Marks   map[string]string `json:"marks,omitempty"`
	Lengths []int             `json:"lengths"` // lengths of the slices of numbers
}

// matchesBytes reports whether slices with the lengths in h together have the given number of bytes.
func (h *logHead) matchesBytes(bytes int64) bool {
	for _, n := range h.Lengths {
		if n < 0 || int64(n) > bytes/8 {
			return false
		}
		bytes -= 8 * int64(n)
	}
	return bytes == 0
}

const (
	logMagic     = "ufslog 1"
	logPrefix    = 4 + 8
	maxHeadBytes = 1 << 20 // largest length of a JSON head
	logStateName = "log"
)

func (r *Run) openLog() (*stateLog, error) {
	if r.log != nil {
		return r.log, nil
	}
	path := r.filePath(logStateName)
	file, err := ownfile.Open(r.folder.dir, r.fileName(logStateName), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = ownfile.CreateNew(r.folder.dir, r.fileName(logStateName), 0o600)
	}
	if err != nil {
		return nil, err
	}
	l := &stateLog{file: file, states: make(map[string]loggedState)}
	if err := l.readStates(r.digest); err != nil {
		file.Close()
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.Size() > l.end {
		if l.end > 0 {
			r.folder.addRemark("the end of %s is damaged: its contents are computed again", path)
		}
		if err := file.Truncate(l.end); err != nil {
			file.Close()
			return nil, err
		}
	}
	r.log = l
	return l, nil
}

func (l *stateLog) readStates(digest string) error {
	from := bufio.NewReaderSize(l.file, 1<<18)
	head := make([]byte, len(logMagic)+len(digest))
	if _, err := io.ReadFull(from, head); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil // nothing was written, or only a part of the beginning
	} else if err != nil {
		return err
	}
	if string(head) != logMagic+digest {
		return ErrDamaged(l.file.Name(), stream.Errorf("it belongs to another run than its folder"))
	}
	l.end = int64(len(head))
	for {
		state, size, err := readLoggedState(from, l.end)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, errStateDamaged):
			l.synced = l.end
			return nil
		case err != nil:
			return err
		}
		l.states[state.head.Name] = state
		l.end += size
	}
}

var errStateDamaged = errors.New("it is not as it was written")

// readLoggedState reads the head of the state at the offset `at` of the file, and skips its numbers. size is the length
// of the whole state in bytes.
func readLoggedState(from io.Reader, at int64) (state loggedState, size int64, err error) {
	sum := xxhash.New()
	both := io.TeeReader(from, sum)
	cut := func(err error) error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errStateDamaged
		}
		return err
	}
	prefix := make([]byte, logPrefix)
	if _, err := io.ReadFull(both, prefix); err != nil {
		return state, 0, cut(err)
	}
	head, body := int64(binary.LittleEndian.Uint32(prefix)), int64(binary.LittleEndian.Uint64(prefix[4:]))
	if head > maxHeadBytes || body < 0 {
		return state, 0, errStateDamaged
	}
	text := make([]byte, head)
	if _, err := io.ReadFull(both, text); err != nil {
		return state, 0, cut(err)
	}
	if n, err := io.CopyN(sum, from, body); n < body {
		return state, 0, cut(err)
	}
	tail := make([]byte, 8)
	if _, err := io.ReadFull(from, tail); err != nil {
		return state, 0, cut(err)
	}
	if sum.Sum64() != binary.LittleEndian.Uint64(tail) || json.Unmarshal(text, &state.head) != nil || !state.head.matchesBytes(body) {
		return state, 0, errStateDamaged
	}
	state.numbersOffset = at + logPrefix + head
	return state, logPrefix + head + body + 8, nil
}

// appendState writes a state after the last one. On error the log is unchanged.
func (l *stateLog) appendState(digest string, head logHead, numbers [][]float64) (err error) {
	defer func() {
		if err != nil {
			_ = l.file.Truncate(l.end) // if this fails, readers recognize the incomplete state by its checksum
		}
	}()
	at := l.end
	if at == 0 {
		if _, err := l.file.WriteAt([]byte(logMagic+digest), 0); err != nil {
			return err
		}
		at = int64(len(logMagic) + len(digest))
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if len(text) > maxHeadBytes {
		return fmt.Errorf("a state of %d bytes of marks", len(text))
	}
	body := int64(0)
	for _, n := range head.Lengths {
		body += 8 * int64(n)
	}
	sum := xxhash.New()
	to := bufio.NewWriterSize(io.MultiWriter(io.NewOffsetWriter(l.file, at), sum), 1<<16)
	prefix := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	prefix = binary.LittleEndian.AppendUint64(prefix, uint64(body))
	if _, err := to.Write(append(prefix, text...)); err != nil {
		return err
	}
	for _, x := range numbers {
		if _, err := rawFloats(x).WriteTo(to); err != nil {
			return err
		}
	}
	if err := to.Flush(); err != nil {
		return err
	}
	size := logPrefix + int64(len(text)) + body
	if _, err := l.file.WriteAt(binary.LittleEndian.AppendUint64(nil, sum.Sum64()), at+size); err != nil {
		return err
	}
	l.states[head.Name] = loggedState{head, at + logPrefix + int64(len(text))}
	l.end = at + size + 8
	return nil
}

func (l *stateLog) syncToDisk() error {
	if l == nil || l.synced == l.end {
		return nil
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.synced = l.end
	return nil
}

func (r *Run) closeLog() {
	if r.log != nil {
		r.log.file.Close() // everything is written
		r.log = nil
	}
}

// Append implements stream.Checkpoint.
func (n Numbers) Append(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	if n.Run == nil || n.folder.savingDisabled {
		return nil
	}
	begin := n.folder.now()
	head := logHead{name, marks, make([]int, len(numbers))}
	for i, x := range numbers {
		head.Lengths[i] = len(x)
	}
	err := n.saveIdentity(context.WithoutCancel(ctx))
	if err == nil {
		var l *stateLog
		if l, err = n.openLog(); err == nil {
			err = l.appendState(n.digest, head, numbers)
		}
	}
	if err != nil {
		return n.asSaveError(err)
	}
	n.hasStates, n.folder.hasOwnStates = true, true
	if !n.Due() {
		return nil
	}
	if err := n.log.syncToDisk(); err != nil {
		return n.asSaveError(err)
	}
	n.folder.recordSave(begin)
	return nil
}

func (n Numbers) loadFromLog(name string, numbers [][]float64) (marks map[string]string, ok bool, err error) {
	if n.Run == nil || !n.isIdentified || n.folder.savingDisabled {
		return nil, false, nil
	}
	if _, err := n.folder.dir.Lstat(n.fileName(logStateName)); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	l, err := n.openLog()
	if err != nil {
		return nil, false, err
	}
	state, ok := l.states[name]
	if !ok {
		return nil, false, nil
	}
	lengths := make([]int, len(numbers))
	total := int64(0)
	for i, x := range numbers {
		lengths[i] = len(x)
		total += 8 * int64(len(x))
	}
	if !slices.Equal(lengths, state.head.Lengths) {
		return nil, false, ErrDamaged(l.file.Name(), stream.Errorf("%s has %d numbers instead of %d", name, state.head.Lengths, lengths))
	}
	from := bufio.NewReaderSize(io.NewSectionReader(l.file, state.numbersOffset, total), 1<<16)
	for _, x := range numbers {
		if _, err := rawFloats(x).ReadFrom(from); err != nil {
			return nil, false, ErrDamaged(l.file.Name(), err)
		}
	}
	return state.head.Marks, true, nil
}

// asSaveError turns an error of saving into an error about the checkpoint. If the user has not named the folder
// (Options.Implicit), it disables saving and returns nil.
func (r *Run) asSaveError(err error) error {
	if r.folder.opt.Implicit {
		r.isIdentified, r.hasStates = false, false
		r.folder.disableSaving(err)
		return nil
	}
	if !errors.As(err, new(*stream.OutputError)) && !errors.As(err, new(*stream.DataError)) {
		err = &stream.OutputError{Path: r.folder.path, Err: stripPathError(err), Remedy: atomicfile.RemedyFor(err)}
	}
	return stream.Errorf("checkpoint: %w", err)
}

package chunkio

import (
	"context"
	"encoding/binary"
	"io"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// object is an object in a store as an Input: its end, with the footer, is in memory, what
// fetch was told of is fetched ahead, and anything else is a request of its own.
type object struct {
	ctx    context.Context // of all reading: io.ReaderAt has none
	client *store.Client
	object store.Object

	mu      sync.RWMutex
	opening bool   // until the footer is known
	tail    []byte // the last bytes of the object
	fetched []*fetched
	near    []byte // around the last request of its own
	nearAt  int64
}

// firstTail is fetched of an object of which nothing is known: the footer of some 600
// columns in one row group. Most footers of a lake are as long as the one before.
const firstTail = 64 << 10

// nearby is the least that a request of its own brings along: small reads in a row, as of
// the metadata of record batches, come from one.
const nearby = 64 << 10

// openObject opens an object and fetches its end, in one request where the footer is not
// longer than the last one's by more than an eighth.
func (a *access) openObject(ctx context.Context, e fileEntry, memory int64) (*object, error) {
	loc, err := store.Parse(e.path)
	if err != nil {
		return nil, err
	}
	o := &object{ctx: ctx, client: a.client, opening: true, object: store.Object{Location: loc, Size: e.size, Version: e.version}}
	if e.version == "" {
		if o.object, err = a.client.Stat(ctx, loc); err != nil {
			return nil, err
		}
	}
	if o.object.Size == 0 {
		return nil, stream.Dataf(o.Name(), "is empty (0 bytes)")
	}
	if o.tail = a.tails.take(o.entry()); o.tail == nil {
		n := a.footer.Load()
		if n == 0 {
			n = firstTail
		}
		o.tail = make([]byte, min(n+n/8, max(memory/4, firstTail), o.object.Size))
		if err := o.client.Read(ctx, o.object, o.tail, o.object.Size-int64(len(o.tail))); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// keepFooter gives up what the tail has in front of the footer, and remembers the footer for
// the next pass, where there is room.
func (a *access) keepFooter(o *object) error {
	start, err := footerStart(o)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	length := o.object.Size - start
	a.footer.Store(length)
	if extra := int64(len(o.tail)) - length; extra > 0 {
		o.tail = append([]byte(nil), o.tail[extra:]...)
	}
	if o.object.Version != "" { // else another footer may stand there at the next pass
		a.tails.put(o.entry(), o.tail)
	}
	o.opening = false
	return nil
}

// entry is this version of the object.
func (o *object) entry() fileEntry {
	return fileEntry{path: o.object.String(), size: o.object.Size, version: o.object.Version}
}

// Name implements Input.
func (o *object) Name() string { return o.object.Name() }

// Size implements Input.
func (o *object) Size() int64 { return o.object.Size }

// Far implements format.Far.
func (o *object) Far() bool { return true }

// Close implements Input.
func (o *object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail, o.near = nil, nil
	return nil
}

// fingerprint tells this version of the object from all others.
func (o *object) fingerprint(footer uint64) uint64 {
	b := binary.LittleEndian.AppendUint64(nil, uint64(o.object.Size))
	b = binary.LittleEndian.AppendUint64(b, footer)
	return xxhash.Sum64(append(b, o.object.Version...))
}

// ReadAt implements io.ReaderAt.
func (o *object) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at > o.object.Size || int64(len(p)) > o.object.Size-at {
		return shortRead(o, p, at)
	}
	for done := 0; done < len(p); {
		n, err := o.readSome(p[done:], at+int64(done))
		if err != nil {
			return done, err
		}
		done += n
	}
	return len(p), nil
}

// readSome reads as much of p as one place has.
func (o *object) readSome(p []byte, at int64) (int, error) {
	o.mu.RLock()
	tailAt := o.object.Size - int64(len(o.tail))
	if at >= tailAt {
		n := copy(p, o.tail[at-tailAt:])
		o.mu.RUnlock()
		return n, nil
	}
	if i := at - o.nearAt; i >= 0 && i < int64(len(o.near)) {
		n := copy(p, o.near[i:])
		o.mu.RUnlock()
		return n, nil
	}
	opening := o.opening
	var part *part
	for _, f := range o.fetched {
		if part = f.find(at); part != nil {
			break
		}
	}
	o.mu.RUnlock()
	if part != nil {
		return part.read(o.ctx, p, at)
	}
	p = p[:min(int64(len(p)), tailAt-at)]
	switch {
	case opening && at+int64(len(p)) == tailAt: // more of a footer than was fetched
		return len(p), o.extendTail(p, at)
	case len(p) >= nearby:
		return len(p), o.client.Read(o.ctx, o.object, p, at)
	}
	near := make([]byte, min(nearby, tailAt-at))
	if err := o.client.Read(o.ctx, o.object, near, at); err != nil {
		return 0, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.near, o.nearAt = near, at
	return copy(p, near), nil
}

// extendTail fetches p, which ends where the tail begins, and keeps it.
func (o *object) extendTail(p []byte, at int64) error {
	if err := o.client.Read(o.ctx, o.object, p, at); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if at+int64(len(p)) == o.object.Size-int64(len(o.tail)) {
		o.tail = append(append([]byte(nil), p...), o.tail...)
	}
	return nil
}

// shortRead is a ReadAt that ends behind the object.
func shortRead(o *object, p []byte, at int64) (int, error) {
	if at < 0 || at >= o.object.Size {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := o.ReadAt(p[:o.object.Size-at], at)
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// tailCache remembers the footers of objects from one pass to the next: without it every
// pass would ask for each once more.
type tailCache struct {
	mu    sync.Mutex
	tails map[fileEntry][]byte
	held  int64
}

// tailsMost bounds the footers that are remembered; they count as part of the catalog.
const tailsMost = 8 << 20

func (t *tailCache) put(e fileEntry, tail []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.tails[e]; known || t.held+int64(len(tail)) > tailsMost {
		return
	}
	if t.tails == nil {
		t.tails = make(map[fileEntry][]byte)
	}
	t.tails[e] = tail
	t.held += int64(len(tail))
}

// take returns the footer of this version of the object; nil where it is not remembered.
func (t *tailCache) take(e fileEntry) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tails[e]
}

func (t *tailCache) bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held
}

package chunkio

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"slices"
	"sort"
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
	opening bool // until what is to be known of the file is
	known
	fetched []*fetched
	near    []byte // around the last request of its own
	nearAt  int64

	headBytes, headsMost int64 // of heads, all that were read and as many as may be kept
}

// known is what was read of an object to open it, and is remembered for the next pass.
type known struct {
	tail  []byte    // the last bytes of the object, with the footer
	heads []excerpt // by offset: the metadata of an Arrow file's batches
}

// excerpt is some bytes of an object.
type excerpt struct {
	at   int64
	data []byte
}

func (k *known) bytes() int64 {
	n := int64(len(k.tail))
	for _, h := range k.heads {
		n += int64(len(h.data)) + 32
	}
	return n
}

// head is what there is from an offset on in front of the tail.
func (k *known) head(at int64) []byte {
	i := sort.Search(len(k.heads), func(i int) bool { return k.heads[i].at > at }) - 1
	if i < 0 || at >= k.heads[i].at+int64(len(k.heads[i].data)) {
		return nil
	}
	return k.heads[i].data[at-k.heads[i].at:]
}

// addHead remembers bytes that were read while the object was opened.
func (k *known) addHead(at int64, data []byte) {
	i := sort.Search(len(k.heads), func(i int) bool { return k.heads[i].at > at })
	k.heads = slices.Insert(k.heads, i, excerpt{at, bytes.Clone(data)})
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
	o := &object{ctx: ctx, client: a.client, opening: true, headsMost: a.tails.most, object: store.Object{Location: loc, Size: e.size, Version: e.version}}
	if e.version == "" {
		if o.object, err = a.client.Stat(ctx, loc); err != nil {
			return nil, err
		}
	}
	if o.object.Size == 0 {
		return nil, stream.Dataf(o.Name(), "is empty (0 bytes)")
	}
	if o.known = a.tails.take(o.entry()); o.tail == nil {
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
	// Of an object without a version another footer may stand there at the next pass.
	if o.object.Version == "" || !a.tails.put(o.entry(), o.known) {
		o.heads = nil
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
	o.known, o.near = known{}, nil
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
	if head := o.head(at); head != nil {
		o.mu.RUnlock()
		return copy(p, head), nil
	}
	opening := o.opening
	if i := at - o.nearAt; i >= 0 && i < int64(len(o.near)) {
		n := copy(p, o.near[i:])
		o.mu.RUnlock()
		if opening {
			o.keepHead(at, p[:n])
		}
		return n, nil
	}
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
		if err := o.client.Read(o.ctx, o.object, p, at); err != nil {
			return 0, err
		}
	default:
		near := make([]byte, min(nearby, tailAt-at))
		if err := o.client.Read(o.ctx, o.object, near, at); err != nil {
			return 0, err
		}
		copy(p, near)
		o.mu.Lock()
		o.near, o.nearAt = near, at
		o.mu.Unlock()
	}
	if opening {
		o.keepHead(at, p)
	}
	return len(p), nil
}

// keepHead remembers what opening read, as far as there may be room for it.
func (o *object) keepHead(at int64, p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.headBytes += int64(len(p)); o.headBytes <= o.headsMost {
		o.addHead(at, p)
	} else {
		o.heads = nil
	}
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

// tailCache remembers from one pass to the next what was read to open objects: without it
// every pass would ask for each footer once more, and for each batch of an Arrow file.
type tailCache struct {
	most int64 // bytes

	mu    sync.Mutex
	known map[fileEntry]known
	held  int64
}

// tailsMost bounds what is remembered, as an eighth of the memory does; it counts as part of
// the catalog.
const tailsMost = 8 << 20

// put remembers as much as there is room for, and reports whether that is with the heads.
func (t *tailCache) put(e fileEntry, k known) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before, ok := t.known[e]; ok {
		return before.heads != nil
	}
	if t.held+k.bytes() > t.most {
		k.heads = nil
	}
	if t.held+k.bytes() > t.most {
		return false
	}
	if t.known == nil {
		t.known = make(map[fileEntry]known)
	}
	t.known[e] = k
	t.held += k.bytes()
	return k.heads != nil
}

// take returns what is remembered of this version of the object.
func (t *tailCache) take(e fileEntry) known {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known[e]
}

func (t *tailCache) bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held
}

package storage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Object is an object in a store, which is read as an Input. Its end, with the footer, is in memory. The extents passed
// to StartFetch are fetched ahead. Any other read is a separate request.
type Object struct {
	ctx    context.Context // context of all reads, because io.ReaderAt has none
	client *store.Client
	Object store.Object

	mu        sync.RWMutex
	isOpening bool // true until its openingData is complete
	openingData
	fetches    []*GroupFetch
	lastRead   []byte // bytes of the last separate request
	lastReadAt int64

	headBytes, MaxHeadBytes int64 // bytes of all heads read so far; if they exceed maxHeadBytes, none is kept
}

// openingData contains the bytes that were read to open an object, kept for the next pass.
type openingData struct {
	Tail  []byte    // the last bytes of the object, with the footer
	heads []excerpt // by offset: the metadata of an Arrow file's batches
}

type excerpt struct {
	offset int64
	data   []byte
}

func (k *openingData) memoryBytes() int64 {
	n := int64(len(k.Tail))
	for _, h := range k.heads {
		n += int64(len(h.data)) + 32
	}
	return n
}

func (k *openingData) keptBytesFrom(offset int64) []byte {
	i := sort.Search(len(k.heads), func(i int) bool { return k.heads[i].offset > offset }) - 1
	if i < 0 || offset >= k.heads[i].offset+int64(len(k.heads[i].data)) {
		return nil
	}
	return k.heads[i].data[offset-k.heads[i].offset:]
}

func (k *openingData) keepBytesRead(offset int64, data []byte) {
	i := sort.Search(len(k.heads), func(i int) bool { return k.heads[i].offset > offset })
	k.heads = slices.Insert(k.heads, i, excerpt{offset, bytes.Clone(data)})
}

// firstTailBytes is the number of bytes fetched from the end of the first object: enough for the footer of about 600
// columns in one row group. For every further object, the previous footer is the estimate: in a data lake most footers
// are equally long.
const firstTailBytes = 64 << 10

// LeastRequest is the smallest size of a separate request, so that consecutive small reads, such as the metadata of
// record batches, share one request.
const LeastRequest = 64 << 10

// ObjectStore opens objects, and keeps the bytes that were read to open them for the next pass.
type ObjectStore struct {
	Client          *store.Client
	LastFooterBytes atomic.Int64 // footer length of the last opened object, an estimate for the next one
	Tails           TailCache
}

// NewObjectStore returns a store that keeps opening data of at most an eighth of the memory.
func NewObjectStore(opt store.Options, memory int64) *ObjectStore {
	return &ObjectStore{Client: store.New(opt), Tails: TailCache{limit: min(maxTailBytes, memory/8)}}
}

// OpenObject opens an object and fetches its end. One request suffices if its footer is at most an eighth longer than
// the footer of the object opened before it.
func (s *ObjectStore) OpenObject(ctx context.Context, e Entry, memory int64) (*Object, error) {
	loc, err := store.Parse(e.Path)
	if err != nil {
		return nil, err
	}
	o := &Object{ctx: ctx, client: s.Client, isOpening: true, MaxHeadBytes: s.Tails.limit, Object: store.Object{Location: loc, Size: e.Size, Version: e.Version}}
	if e.Version == "" && e.InLog && e.Size > 0 { // no request needs to look the object up
		o.Tail = s.newTail(o, memory)
		if err := o.client.ReadEnd(ctx, &o.Object, o.Tail); err == nil {
			return o, nil
		} else if !errors.Is(err, store.ErrChanged) {
			return nil, err
		}
		o.Object.Version = ""
	}
	if o.Object.Version == "" {
		if o.Object, err = s.Client.Stat(ctx, loc); err != nil {
			return nil, err
		}
	}
	if o.Object.Size == 0 {
		return nil, stream.Dataf(o.Name(), "is empty (0 bytes)")
	}
	if o.openingData = s.Tails.openingDataOf(o.urlAndVersion()); o.Tail == nil {
		o.Tail = s.newTail(o, memory)
		if err := o.client.Read(ctx, o.Object, o.Tail, o.Object.Size-int64(len(o.Tail))); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (s *ObjectStore) newTail(o *Object, memory int64) []byte {
	n := cmp.Or(s.LastFooterBytes.Load(), firstTailBytes)
	return make([]byte, min(n+n/8, max(memory/4, firstTailBytes), o.Object.Size))
}

// KeepFooter drops the bytes of the tail in front of the footer, and keeps the footer if the cache has room.
func (s *ObjectStore) KeepFooter(o *Object) error {
	start, err := ReadFooterStart(o)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	length := o.Object.Size - start
	s.LastFooterBytes.Store(length)
	if extra := int64(len(o.Tail)) - length; extra > 0 {
		o.Tail = append([]byte(nil), o.Tail[extra:]...)
	}
	// If an object has no version, its footer may be another one at the next pass, so its opening data are not kept.
	if o.Object.Version == "" || !s.Tails.storeOpening(o.urlAndVersion(), o.openingData) {
		o.heads = nil
	}
	o.isOpening = false
	return nil
}

func (o *Object) urlAndVersion() objectVersion {
	return objectVersion{o.Object.String(), o.Object.Version}
}

// Name implements Input.
func (o *Object) Name() string { return o.Object.PublicName() }

// Size implements Input.
func (o *Object) Size() int64 { return o.Object.Size }

// Far implements format.Far: it reports whether every read is a request to an object store.
func (o *Object) Far() bool { return true }

// Close implements Input.
func (o *Object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.openingData, o.lastRead = openingData{}, nil
	return nil
}

func (o *Object) fingerprintOfVersion(footer uint64) uint64 {
	b := binary.LittleEndian.AppendUint64(nil, uint64(o.Object.Size))
	b = binary.LittleEndian.AppendUint64(b, footer)
	return xxhash.Sum64(append(b, o.Object.Version...))
}

// ReadAt implements io.ReaderAt.
func (o *Object) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at > o.Object.Size || int64(len(p)) > o.Object.Size-at {
		return readUpToEndOfObject(o, p, at)
	}
	for done := 0; done < len(p); {
		n, err := o.readAvailable(p[done:], at+int64(done))
		if err != nil {
			return done, err
		}
		done += n
	}
	return len(p), nil
}

func (o *Object) readAvailable(p []byte, at int64) (int, error) {
	o.mu.RLock()
	tailAt := o.Object.Size - int64(len(o.Tail))
	if at >= tailAt {
		n := copy(p, o.Tail[at-tailAt:])
		o.mu.RUnlock()
		return n, nil
	}
	if head := o.keptBytesFrom(at); head != nil {
		o.mu.RUnlock()
		return copy(p, head), nil
	}
	opening := o.isOpening
	if i := at - o.lastReadAt; i >= 0 && i < int64(len(o.lastRead)) {
		n := copy(p, o.lastRead[i:])
		o.mu.RUnlock()
		if opening {
			o.keepOpeningBytes(at, p[:n])
		}
		return n, nil
	}
	var part *rangeRequest
	for _, f := range o.fetches {
		if part = f.findRequest(at); part != nil {
			break
		}
	}
	o.mu.RUnlock()
	if part != nil {
		return part.readWhenDone(o.ctx, p, at)
	}
	p = p[:min(int64(len(p)), tailAt-at)]
	switch {
	case opening && at+int64(len(p)) == tailAt: // the read needs more of the footer
		return len(p), o.fetchIntoTail(p, at)
	case len(p) >= LeastRequest:
		if err := o.client.Read(o.ctx, o.Object, p, at); err != nil {
			return 0, err
		}
	default:
		near := make([]byte, min(LeastRequest, tailAt-at))
		if err := o.client.Read(o.ctx, o.Object, near, at); err != nil {
			return 0, err
		}
		copy(p, near)
		o.mu.Lock()
		o.lastRead, o.lastReadAt = near, at
		o.mu.Unlock()
	}
	if opening {
		o.keepOpeningBytes(at, p)
	}
	return len(p), nil
}

func (o *Object) keepOpeningBytes(offset int64, read []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.headBytes += int64(len(read)); o.headBytes <= o.MaxHeadBytes {
		o.keepBytesRead(offset, read)
	} else {
		o.heads = nil
	}
}

func (o *Object) fetchIntoTail(p []byte, at int64) error {
	if err := o.client.Read(o.ctx, o.Object, p, at); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if at+int64(len(p)) == o.Object.Size-int64(len(o.Tail)) {
		o.Tail = append(append([]byte(nil), p...), o.Tail...)
	}
	return nil
}

func readUpToEndOfObject(o *Object, p []byte, at int64) (int, error) {
	if at < 0 || at >= o.Object.Size {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := o.ReadAt(p[:o.Object.Size-at], at)
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// TailCache keeps, for the next pass, the bytes that were read to open objects. Without it every pass would request
// each footer again, and the metadata of each batch of an Arrow file.
type TailCache struct {
	limit int64 // bytes

	mu        sync.Mutex
	byVersion map[objectVersion]openingData
	heldBytes int64
}

// objectVersion identifies the bytes of an object.
type objectVersion struct{ url, version string }

// maxTailBytes bounds the bytes that a TailCache keeps; another bound is an eighth of the memory. The kept bytes count
// as memory of the catalog.
const maxTailBytes = 8 << 20

// storeOpening stores the opening data of an object: with its heads, without them, or not at all, depending on the room
// in the cache. It reports whether the heads are stored.
func (t *TailCache) storeOpening(v objectVersion, k openingData) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before, ok := t.byVersion[v]; ok {
		return before.heads != nil
	}
	if t.heldBytes+k.memoryBytes() > t.limit {
		k.heads = nil
	}
	if t.heldBytes+k.memoryBytes() > t.limit {
		return false
	}
	if t.byVersion == nil {
		t.byVersion = make(map[objectVersion]openingData)
	}
	t.byVersion[v] = k
	t.heldBytes += k.memoryBytes()
	return k.heads != nil
}

func (t *TailCache) openingDataOf(v objectVersion) openingData {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byVersion[v]
}

// MemoryBytes returns the memory of the kept bytes.
func (t *TailCache) MemoryBytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heldBytes
}

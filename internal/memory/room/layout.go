package room

import (
	"math"
	"math/bits"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"unsafe"
)

// Layout declares the memory of an operation in one place, which both allocates and measures it. A function that takes
// a Layout takes every buffer of an operation from it, for given shapes:
//
//	func (s *Solver) layOut(l *room.Layout, order, columns int) {
//		s.factor = room.Slice[float64](l, order*order)
//		s.solution = room.Slice[float64](l, order*columns)
//	}
//
// Called with a nil Layout, it allocates the buffers. Within [Measure] it only adds up their sizes, so all slices are
// nil and the function must not use their elements.
type Layout struct{ held, most int64 }

// Slice returns n elements of T, all 0, or nil if l only measures. It frees garbage first, like [MakeSlice].
func Slice[T any](l *Layout, n int) []T {
	if l == nil {
		return MakeSlice[T](n)
	}
	var element T
	high, bytes := bits.Mul64(uint64(n), uint64(unsafe.Sizeof(element)))
	if high > 0 || bytes > math.MaxInt64 {
		bytes = math.MaxInt64
	}
	l.Add(int64(bytes))
	return nil
}

// Add counts bytes that are allocated elsewhere, for example by a library or by a slice that grows.
func (l *Layout) Add(bytes int64) {
	if l == nil {
		return
	}
	if l.held += bytes; l.held < 0 {
		l.held = math.MaxInt64
	}
	l.most = max(l.most, l.held)
}

// Phase calls declare, whose buffers are not used after Phase returns. So the buffers of several phases are counted as
// if they shared their memory.
func (l *Layout) Phase(declare func()) {
	if l == nil {
		declare()
		return
	}
	before := l.held
	declare()
	l.held = before
}

// Measure returns the largest number of bytes that declare holds at a time, or math.MaxInt64 if they exceed an int64.
func Measure(declare func(l *Layout)) int64 {
	l := new(Layout)
	declare(l)
	return l.most
}

// minBytes is the smallest allocation that EnsureFree checks. A smaller allocation may exceed the limit of the Go
// runtime, because this limit is always some MiB lower than the memory that the process may use.
const minBytes = 1 << 20

// EnsureFree runs the garbage collector if an allocation of the given size, added to the memory in use and the garbage,
// would exceed the memory limit of the Go runtime. A collection lasts milliseconds if the heap consists of few large
// buffers. A call without a collection lasts microseconds.
func EnsureFree(bytes int64) {
	if bytes >= minBytes && UsedBytes()+bytes > debug.SetMemoryLimit(-1) {
		runtime.GC()
	}
}

// MakeSlice returns make([]T, n). It calls EnsureFree first.
func MakeSlice[T any](n int) []T {
	EnsureFree(int64(n) * int64(reflect.TypeFor[T]().Size()))
	return make([]T, n)
}

// UsedBytes returns the bytes that the runtime counts against its limit. They include garbage. They do not include free
// pages, because a large allocation uses free pages or makes the runtime return them to the system.
func UsedBytes() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64()) - int64(samples[2].Value.Uint64())
}

package room

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

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

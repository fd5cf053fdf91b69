package room

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// minBytes is the smallest allocation that EnsureFree checks. Every limit has a margin for smaller ones.
const minBytes = 1 << 20

// EnsureFree runs the garbage collector now if the given bytes would exceed the memory limit together with the garbage.
// A collection lasts milliseconds for a heap of few large buffers. Otherwise the call lasts microseconds.
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

// UsedBytes returns the bytes that the runtime counts against its limit. They include garbage, but not free pages: a
// large allocation uses these, or makes the runtime return them to the system.
func UsedBytes() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64()) - int64(samples[2].Value.Uint64())
}

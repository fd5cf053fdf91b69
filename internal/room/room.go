package room

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// minBytes is the smallest allocation that For checks: smaller ones are within every margin.
const minBytes = 1 << 20

// EnsureFree collects garbage now if the given bytes would not fit into the memory limit together with it. If there is room
// this takes microseconds, else milliseconds for a heap of few large buffers.
func EnsureFree(bytes int64) {
	if bytes >= minBytes && UsedBytes()+bytes > debug.SetMemoryLimit(-1) {
		runtime.GC()
	}
}

// MakeSlice returns make([]T, n), after making room for it.
func MakeSlice[T any](n int) []T {
	EnsureFree(int64(n) * int64(reflect.TypeFor[T]().Size()))
	return make([]T, n)
}

// UsedBytes returns the bytes that the runtime counts against its limit. It includes garbage but not free pages, which a
// large allocation takes or has returned to the system.
func UsedBytes() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64()) - int64(samples[2].Value.Uint64())
}

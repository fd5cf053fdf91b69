package room

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// minBytes is the smallest allocation that For checks: smaller ones are within every margin.
const minBytes = 1 << 20

// For collects garbage now if the given bytes would not fit into the memory limit together with it. If there is room
// this takes microseconds, else milliseconds for a heap of few large buffers.
func For(bytes int64) {
	if bytes >= minBytes && Used()+bytes > debug.SetMemoryLimit(-1) {
		runtime.GC()
	}
}

// Make returns make([]T, n), after making room for it.
func Make[T any](n int) []T {
	For(int64(n) * int64(reflect.TypeFor[T]().Size()))
	return make([]T, n)
}

// Used returns the bytes that the runtime counts against its limit. It includes garbage but not free pages, which a
// large allocation takes or has returned to the system.
func Used() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64()) - int64(samples[2].Value.Uint64())
}

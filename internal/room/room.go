package room

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// minBytes is worth asking about: what is smaller is within every margin.
const minBytes = 1 << 20

// For collects garbage now, if so many bytes more would not fit beside it into the memory limit. With
// room enough it costs microseconds, else milliseconds for what lives in few large buffers.
func For(bytes int64) {
	if bytes >= minBytes && Used()+bytes > debug.SetMemoryLimit(-1) {
		runtime.GC()
	}
}

// Make is make([]T, n) with room made for it.
func Make[T any](n int) []T {
	For(int64(n) * int64(reflect.TypeFor[T]().Size()))
	return make([]T, n)
}

// Used is what the runtime counts against its limit, with garbage but without free pages, which a
// large allocation takes or has given back to the system.
func Used() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64()) - int64(samples[2].Value.Uint64())
}

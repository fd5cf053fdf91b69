package room

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// least is worth asking about: what is smaller is within every margin.
const least = 1 << 20

// For collects garbage now, if so many bytes more would not fit beside it into the memory limit. With
// room enough it costs microseconds, else milliseconds for what lives in few large buffers.
func For(bytes int64) {
	if bytes >= least && used()+bytes > debug.SetMemoryLimit(-1) {
		runtime.GC()
	}
}

// Make is make([]T, n) with room made for it.
func Make[T float64 | float32 | int32](n int) []T {
	const widest = 8
	For(widest * int64(n))
	return make([]T, n)
}

// used is what the runtime counts against its limit, with garbage but without free pages, which a
// large allocation takes or has given back to the system.
func used() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64()) - int64(samples[2].Value.Uint64())
}

// Package methods lists all methods of selection. A new method needs a line in All.
package methods

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ufs-stream/ufs-stream/eufs"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods/align"
	"github.com/ufs-stream/ufs-stream/methods/baseline"
	"github.com/ufs-stream/ufs-stream/methods/cdlfs"
	"github.com/ufs-stream/ufs-stream/methods/cpufs"
	"github.com/ufs-stream/ufs-stream/methods/fsfs"
	"github.com/ufs-stream/ufs-stream/methods/fspca"
	"github.com/ufs-stream/ufs-stream/methods/hvg"
	"github.com/ufs-stream/ufs-stream/methods/jelsr"
	"github.com/ufs-stream/ufs-stream/methods/pca"
	"github.com/ufs-stream/ufs-stream/methods/rsfs"
	"github.com/ufs-stream/ufs-stream/methods/rufs"
	"github.com/ufs-stream/ufs-stream/methods/socfs"
	"github.com/ufs-stream/ufs-stream/methods/sogfs"
	"github.com/ufs-stream/ufs-stream/methods/spcafs"
	"github.com/ufs-stream/ufs-stream/methods/spec"
	"github.com/ufs-stream/ufs-stream/methods/u2fs"
	"github.com/ufs-stream/ufs-stream/methods/udfs"
	"github.com/ufs-stream/ufs-stream/sfufs"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Recommended is the default method if it can be used: it was the best over the measured data sets (bench/results).
// Fallback is the default otherwise; it needs only the Gram matrix.
const (
	Recommended = "align"
	Fallback    = "greedy"
)

// All lists the specs of all methods of this program.
func All() []method.Spec { return slices.Clone(all()) }

var all = sync.OnceValue(func() []method.Spec {
	return slices.Concat(
		align.Specs(),
		greedy.Specs(),
		baseline.Specs(),
		hvg.Specs(),
		sfufs.Specs(),
		eufs.Specs(),
		cpufs.Specs(),
		spec.Specs(),
		jelsr.Specs(),
		fsfs.Specs(),
		fspca.Specs(),
		spcafs.Specs(),
		cdlfs.Specs(),
		socfs.Specs(),
		u2fs.Specs(),
		udfs.Specs(),
		rufs.Specs(),
		rsfs.Specs(),
		sogfs.Specs(),
		pca.Specs(),
	)
})

// Names returns the names of a list of methods.
func Names(list []method.Spec) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return names
}

// Find returns the method of the list with the name. If the name is unknown, the error is a *stream.UsageError.
func Find(list []method.Spec, name string) (method.Spec, error) {
	for _, s := range list {
		if s.Name == name {
			return s, nil
		}
	}
	names := Names(list)
	return method.Spec{}, stream.Usagef("unknown method %q (there are %s)%s", name, strings.Join(names, ", "), suggest.DidYouMean(name, names))
}

// Knowing returns the methods of the list that have an option with that name.
func Knowing(list []method.Spec, option string) []method.Spec {
	return slices.DeleteFunc(slices.Clone(list), func(s method.Spec) bool {
		return s.Declare().Options.Find(option) == nil
	})
}

// Bind finds a method and binds its settings. If an option in settings belongs only to other methods, the error is a
// *stream.UsageError that names these methods.
func Bind(list []method.Spec, name string, settings method.Settings) (*method.Bound, error) {
	spec, err := Find(list, name)
	if err != nil {
		return nil, err
	}
	declared := spec.Declare().Options
	for _, option := range slices.Sorted(maps.Keys(settings)) {
		if declared.Find(option) != nil {
			continue
		}
		switch others := Names(Knowing(list, option)); len(others) {
		case 0:
		case 1:
			return nil, stream.Usagef("%v is not for method %s but for {method %s} only", stream.Option(option), name, others[0])
		default:
			return nil, stream.Usagef("%v is not for method %s but for %s", stream.Option(option), name, strings.Join(others, ", "))
		}
		return nil, stream.Usagef("no method has an option %q", option)
	}
	return spec.Bind(settings)
}

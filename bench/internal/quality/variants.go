package quality

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// variant is a way to choose features: a method with settings.
type variant struct {
	name     string
	method   string
	scale    string // "" means the method's own default
	settings method.Settings
	// needsRunPerCount is true if every number of features needs a run, because a choice of few features is not the
	// beginning of a choice of many. findPerCountVariants detects most of these variants.
	needsRunPerCount bool
	baseline         string // the baseline of ufs.Eval that it represents: all or random
}

// namedVariants returns the variants that are measured in addition to every method with its defaults. If the method or
// option of a variant does not exist, the variant is left out. So a line may be added here before its option is merged.
func namedVariants() []variant {
	set := func(pairs ...string) method.Settings {
		s := make(method.Settings)
		for i := 0; i < len(pairs); i += 2 {
			s[pairs[i]] = pairs[i+1]
		}
		return s
	}
	return []variant{
		{name: "greedy:none", method: "greedy", scale: "none"},
		{name: "greedy:pareto", method: "greedy", scale: "pareto"},
		{name: "greedy:rank", method: "greedy", scale: "rank"},
		{name: "greedy:swap", method: "greedy", settings: set("refine", "swap"), needsRunPerCount: true},
		{name: "graphgreedy:none", method: "graphgreedy", scale: "none"},
		{name: "graphgreedy:spectral", method: "graphgreedy", settings: set("target", "spectral")},
		{name: "graphgreedy:scatter", method: "graphgreedy", settings: set("target", "scatter")},
		{name: "graphgreedy:auto", method: "graphgreedy", settings: set("smooth", "auto"), needsRunPerCount: true},
		{name: "sfufs:none", method: "sfufs", scale: "none"},
		{name: "sfufs:identity", method: "sfufs", settings: set("constraint", "identity")},
		{name: "mcfs:none", method: "mcfs", scale: "none", needsRunPerCount: true},
		{name: "align:none", method: "align", scale: "none"},
		{name: "align:standard", method: "align", scale: "standard"},
	}
}

func allVariants() []variant {
	list := []variant{{name: judge.All, method: judge.Random, baseline: judge.All}, {name: defaultVariant}}
	all := methods.All()
	for _, s := range all {
		v := variant{name: s.Name, method: s.Name, needsRunPerCount: s.Name == "mcfs"}
		if s.Name == ufs.RandomBaseline {
			v.baseline = judge.Random // the baseline draws other features in every run, the method only once
		}
		list = append(list, v)
	}
	for _, v := range namedVariants() {
		if variantExists(all, v) {
			list = append(list, v)
		}
	}
	return list
}

// defaultVariant is a run without --method, in which ufs-stream chooses the method.
const defaultVariant = "default"

func variantExists(all []method.Spec, v variant) bool {
	spec, err := methods.Find(all, v.method)
	if err != nil {
		return false
	}
	if _, err := gram.ParseScale(v.scale); v.scale != "" && err != nil {
		return false
	}
	_, err = spec.Bind(v.settings)
	return err == nil
}

func (o *options) chooseVariants() error {
	all := allVariants()
	var names []string
	for _, v := range all {
		names = append(names, v.name)
		if len(o.methods) == 0 || slices.Contains(o.methods, v.name) {
			o.variants = append(o.variants, v)
		}
	}
	for _, name := range o.methods {
		if !slices.Contains(names, name) {
			return stream.Usagef("quality: unknown variant %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

func (v variant) settingsText() string {
	parts := []string{"method=" + v.method}
	if v.scale != "" {
		parts = append(parts, "scale="+v.scale)
	}
	for _, name := range slices.Sorted(maps.Keys(v.settings)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, v.settings[name]))
	}
	if v.baseline != "" {
		parts = append(parts, "baseline="+v.baseline)
	}
	return strings.Join(parts, " ")
}

// sourcesDigest returns a digest of the source files of the package of v's method, without tests. Outside the project's
// folder it returns the release.
func (v variant) sourcesDigest() string {
	if v.name == defaultVariant {
		return filesDigest("methods/align/*.go", "greedy/*.go", "internal/rows/rowsample/*.go", "internal/numeric/spectral/*.go", "internal/judging/survey/*.go", "internal/judging/trust/*.go", "anchor/trust.go",
			"ufs/internal/gathering/graph.go", "ufs/internal/selecting/survey.go", "ufs/internal/settled/fallback.go")
	}
	spec, err := methods.Find(methods.All(), v.method)
	if err != nil {
		return ufs.Release
	}
	t := reflect.TypeOf(spec.New())
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return filesDigest(strings.TrimPrefix(t.PkgPath(), modulePath) + "/*.go")
}

// filesDigest returns a digest of the files that match the patterns below the working folder, without tests. It returns
// the release if no file matches.
func filesDigest(patterns ...string) string {
	h, found := sha256.New(), false
	for _, pattern := range patterns {
		files, _ := filepath.Glob(filepath.FromSlash(pattern))
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && !strings.HasSuffix(f, "_test.go") {
				h.Write(text)
				found = true
			}
		}
	}
	if !found {
		return ufs.Release
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}

const modulePath = "github.com/ufs-stream/ufs-stream/"

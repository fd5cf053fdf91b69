package quality

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
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
	ranges   map[string]string // with --tune: weights of which the name gives several values
	// needsRunPerCount is true if every number of features needs a run, because a choice of few features is not the
	// beginning of a choice of many. findPerCountVariants detects most of these variants.
	needsRunPerCount bool
	baseline         string                       // the baseline of ufs.Eval that it represents: all or random
	lists            map[string]*stream.Selection // of another tool: its selections, by the names of the sets
}

// variantSettings has the variants that are measured in addition to every method with its defaults. The word after the
// colon stands for the settings. If a method or an option does not exist, the variant is left out. So a line may be added
// here before its option is merged.
var variantSettings = []struct{ name, settings string }{
	{"greedy:none", "scale=none"},
	{"greedy:pareto", "scale=pareto"},
	{"greedy:rank", "scale=rank"},
	{"greedy:swap", "refine=swap"},
	{"graphgreedy:none", "scale=none"},
	{"graphgreedy:spectral", "target=spectral"},
	{"graphgreedy:scatter", "target=scatter"},
	{"graphgreedy:auto", "smooth=auto"},
	{"sfufs:none", "scale=none"},
	{"sfufs:identity", "constraint=identity"},
	{"mcfs:none", "scale=none"},
	{"align:none", "scale=none"},
	{"align:standard", "scale=standard"},
}

func knownVariants() []variant {
	list := []variant{{name: judge.All, method: judge.Random, baseline: judge.All}, {name: defaultVariant}}
	names := methods.Names(methods.All())
	for _, v := range variantSettings {
		names = append(names, v.name)
	}
	for _, name := range names {
		v, err := parseVariant(name, false)
		if err != nil {
			continue
		}
		if name == ufs.RandomBaseline {
			v.baseline = judge.Random // the baseline draws other features in every run, the method only once
		}
		list = append(list, v)
	}
	return list
}

// defaultVariant is a run without --method, in which ufs-stream chooses the method.
const defaultVariant = "default"

// parseVariant parses METHOD, or METHOD:SETTINGS with settings such as scale=none,alpha=0.1. A word without = stands for
// settings of variantSettings. If tunes is set, a weight may have several values, for a grid.
func parseVariant(name string, tunes bool) (variant, error) {
	methodName, text, hasSettings := strings.Cut(name, ":")
	v := variant{name: name, method: methodName, settings: make(method.Settings)}
	spec, err := methods.Find(methods.All(), methodName)
	if err != nil {
		return v, err
	}
	options := []string{"scale"}
	for _, option := range spec.Declare().Options.All() {
		options = append(options, option.Name)
	}
	for _, known := range variantSettings {
		if word, ok := strings.CutPrefix(known.name, methodName+":"); ok {
			options = append(options, word)
		}
	}
	for hasSettings {
		var setting string
		setting, text, hasSettings = strings.Cut(text, ",")
		for _, known := range variantSettings {
			if known.name == methodName+":"+setting {
				setting = known.settings
			}
		}
		option, value, _ := strings.Cut(setting, "=")
		switch {
		case !slices.Contains(options, option):
			return v, stream.Usagef("%s has no option %q%s", methodName, option, cmp.Or(suggest.DidYouMean(option, options).String(), "; it has "+strings.Join(options, ", ")))
		case value == "":
			return v, stream.Usagef("%s has no value; want %s=VALUE", option, option)
		case v.settings[option] != nil:
			return v, stream.Usagef("%s is given twice", option)
		}
		v.settings[option] = value
	}
	v.scale = v.settings.Text("scale")
	delete(v.settings, "scale")
	if _, err := gram.ParseScale(v.scale); v.scale != "" && err != nil {
		return v, err
	}
	bound, err := spec.Bind(v.settings)
	if err != nil {
		return v, err
	}
	v.needsRunPerCount = v.method == "mcfs" || v.settings.Text("refine") == "swap" || v.settings.Text("smooth") == "auto"
	if !tunes {
		return v, bound.Single(v.settings)
	}
	for option, value := range v.settings {
		if text := fmt.Sprint(value); strings.Contains(text, "..") && bound.Options.Find(option).Type == "NUMBERS" {
			if v.ranges == nil {
				v.ranges = make(map[string]string)
			}
			v.ranges[option] = text
			delete(v.settings, option)
		}
	}
	return v, nil
}

func (o *options) chooseVariants() error {
	known := knownVariants()
	if len(o.methods) == 0 {
		o.variants = known
		return nil
	}
	for _, name := range joinSettings(o.methods) {
		i := slices.IndexFunc(known, func(v variant) bool { return v.name == name })
		if i < 0 {
			v, err := parseVariant(name, o.tune != "")
			if err != nil {
				return stream.Usagef("quality: --methods %s: %w; --methods list gives the names", name, err)
			}
			i, known = len(known), append(known, v)
		}
		if !slices.ContainsFunc(o.variants, func(v variant) bool { return v.name == name }) {
			o.variants = append(o.variants, known[i])
		}
	}
	return nil
}

// joinSettings undoes the division of a flag at commas between the settings of a variant.
func joinSettings(parts []string) (names []string) {
	for _, part := range parts {
		if option, _, isSetting := strings.Cut(part, "="); isSetting && !strings.Contains(option, ":") && len(names) > 0 {
			names[len(names)-1] += "," + part
			continue
		}
		names = append(names, part)
	}
	return names
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
	for _, set := range slices.Sorted(maps.Keys(v.lists)) {
		names := sha256.New()
		for _, f := range v.lists[set].Selected {
			fmt.Fprintf(names, "%q", f.Name)
		}
		parts = append(parts, fmt.Sprintf("%s=%x", set, names.Sum(nil)[:8]))
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

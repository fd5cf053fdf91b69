package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
)

// flagGroup is a section in the help of a verb that has many flags.
type flagGroup struct {
	title string
	flags []string
}

// flagGroups lists the sections of the help in order, with their flags. Sections for method options that are not listed
// here come after these, one for each kind of method.
func flagGroups() []flagGroup {
	return []flagGroup{
		{"Everyday", []string{"k", "label", "columns", "exclude", "missing", "method", "scale", "output", "format"}},
		{"Input", []string{"stats", "plan", "where", "rows", "on-error", "union-by-name", "sparse", "header", "null-values", "text", "types", "as-of", "version", "anonymous", "allow",
			"shard", "profile", "profile-only", "sample-rows"}},
		{"Columns", []string{"weight", "max-missing", "auto-exclude", "categorical", "times", "missing-indicators"}},
		{"How many, and which", []string{"variance", "min-gain", "keep", "forbid", "groups", "group-most", "costs", "budget", "stability"}},
		{"Output", []string{"details", "dialect", "from", "machines", "cores", "rates"}},
		{"Limits and resuming", []string{"memory-limit", "threads", "seed", "temp-dir", "max-temp-size", "sketch", "passes", "checkpoint", "checkpoint-every"}},
		{"The graph of the rows", []string{"graph-rows", "diffusion", "anchors", "anchor-method", "anchors-file", "neighbors", "clusters"}},
		{"Iterations", []string{"max-iter", "tol", "require-converged", "sample"}},
	}
}

// ungroupedTitle is the title of the section for flags without a group. A test checks that this section is empty.
const ungroupedTitle = "More"

// groupFlags returns the flags of a verb by section. In a section the flags are in the order of flagGroups.
func groupFlags(cmd *cobra.Command) (groups []flagGroup) {
	placed := map[string]bool{"help": true}
	own := func(name string) bool {
		return cmd.LocalFlags().Lookup(name) != nil && cmd.InheritedFlags().Lookup(name) == nil
	}
	for _, g := range flagGroups() {
		here := flagGroup{title: g.title}
		for _, name := range g.flags {
			if placed[name] = true; own(name) {
				here.flags = append(here.flags, name)
			}
		}
		groups = append(groups, here)
	}
	families := []string{"Methods on the Gram matrix", "Methods on the anchor graph", "Methods that iterate over rows", "Methods of several kinds"}
	rest := make(map[string][]string)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if placed[f.Name] || !own(f.Name) {
			return
		}
		title := ungroupedTitle
		if _, ok := f.Value.(*optionFlag); ok {
			title = families[optionFamily(f.Name)]
		}
		rest[title] = append(rest[title], f.Name)
	})
	for _, title := range append(families, ungroupedTitle) {
		groups = append(groups, flagGroup{title, rest[title]})
	}
	return slices.DeleteFunc(groups, func(g flagGroup) bool { return len(g.flags) == 0 })
}

// optionFamily returns the number of the section for a method option: 0 for options of methods on the Gram matrix, 1
// for methods on the graph, 2 for methods on rows, and 3 for options of several kinds of methods.
func optionFamily(option string) int {
	family := -1
	for _, s := range methods.Knowing(methods.All(), option) {
		own := map[method.From]int{method.FromGraph: 1, method.FromRows: 2}[s.From]
		if family >= 0 && family != own {
			return 3
		}
		family = own
	}
	return max(family, 0)
}

// helpWidth is the number of characters in a line of a flag's description in the help.
const helpWidth = 110

// showFlagsInGroups changes the help of a verb so that it shows the flags in sections.
func showFlagsInGroups(cmd *cobra.Command) {
	cmd.Annotations = map[string]string{groupsAnnotation: ""}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		w := cmd.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
		for _, g := range groupFlags(cmd) {
			writeFlags(w, g.title, cmd.LocalFlags(), g.flags)
		}
		var global []string
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { global = append(global, f.Name) })
		writeFlags(w, "Every verb", cmd.InheritedFlags(), append(global, "help"))
		return nil
	})
}

const groupsAnnotation = "groups" // key of a verb's annotation

func hasGroupedHelp(cmd *cobra.Command) bool {
	_, grouped := cmd.Annotations[groupsAnnotation]
	return grouped
}

func writeFlags(w io.Writer, title string, all *pflag.FlagSet, names []string) {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	for _, name := range names {
		if f := all.Lookup(name); f != nil {
			some.AddFlag(f)
		}
	}
	fmt.Fprintf(w, "\n%s:\n%s", title, strings.TrimLeft(some.FlagUsagesWrapped(helpWidth), "\n"))
}

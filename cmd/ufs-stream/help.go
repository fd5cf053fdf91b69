package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// flagGroup is a section in the help of a verb that has many flags.
type flagGroup struct {
	title string
	flags []string
}

// flagGroups lists the sections of the help in order, with their flags: first the options of requests, then the flags
// of verbs. Sections for method options that are not listed here come after these, one for each kind of method.
func flagGroups() []flagGroup {
	groups := []flagGroup{
		{request.Everyday, []string{"output", "format"}},
		{request.Reading, []string{"shard", "since", "from-sums", "profile", "profile-only", "sample-rows"}},
		{request.Preparing, nil},
		{request.Choosing, nil},
		{"Output", []string{"details", "dialect", "from", "machines", "cores", "rates", "messages"}},
		{request.Limiting, nil},
		{"The graph of the rows", []string{"graph-rows", "diffusion", "anchors", "anchor-method", "anchors-file", "neighbors", "clusters"}},
		{"Iterations", []string{"max-iter", "tol", "require-converged", "sample"}},
		{"Judging", []string{"runs", "restarts", "starts", "clusterer", "damping", "spherical", "baselines", "folds", "resamples"}},
	}
	for i, g := range groups {
		groups[i].flags = append(request.ListSection(g.title), g.flags...)
	}
	return groups
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
			writeFlagSection(w, g.title, cmd.LocalFlags(), g.flags)
		}
		var global []string
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { global = append(global, f.Name) })
		writeFlagSection(w, "Every verb", cmd.InheritedFlags(), append(global, "help"))
		return nil
	})
}

const groupsAnnotation = "groups" // key of a verb's annotation

func hasGroupedHelp(cmd *cobra.Command) bool {
	_, grouped := cmd.Annotations[groupsAnnotation]
	return grouped
}

func writeFlagSection(w io.Writer, title string, all *pflag.FlagSet, names []string) {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	for _, name := range names {
		if f := all.Lookup(name); f != nil {
			some.AddFlag(f)
		}
	}
	fmt.Fprintf(w, "\n%s:\n%s", title, strings.TrimLeft(some.FlagUsagesWrapped(helpWidth), "\n"))
}

// newGuide returns the help topic about methods. It contains the descriptions that the methods themselves provide.
func newGuide(*cli) *cobra.Command {
	return &cobra.Command{
		Use:   "methods",
		Short: "Which method when: purpose and cost of each, and when random features do as well",
		Long:  guideText(),
	}
}

// methodKind is a section of the guide, for the methods that use the same statistics.
type methodKind struct {
	from  method.From
	title string
}

func guideText() string {
	var b strings.Builder
	fmt.Fprintf(&b, `Which method when. Without --method the program reads once and looks at a sample of the rows
(--graph-rows). If they have clusters that the covariances of the columns do not explain,
it takes %s. Else, and for fewer than 40 columns whose units differ, it takes %s. The scale
depends on whether the columns share a unit. The output names the choice and the reason.
docs/methods.md has the rules and their limits.

For a few columns that stand in for a table choose %[2]s; path shows what each further feature
is worth, and -k auto stops where chance begins.

Below, n rows, d features, k features chosen, and m anchors (all rows up to 2,000, else 2,000),
or for %[1]s the rows of its sample.
plan shows the cost of a method on your data. The statements on random features and on public
datasets were measured on labelled ones with k-means, at 2, 5 and 10 %% of the features:
bench/results/quality.md. If it can, select compares its choice on your data with chance, and warns.
`, methods.Recommended, methods.Fallback)
	for _, k := range []methodKind{
		{method.FromGram, "From the Gram matrix: one pass; d² numbers, or n·d of few rows"},
		{method.FromGraph, "From the anchor graph of the rows: two passes; d² + m·d + m² numbers, or n·d for the first"},
		{method.FromRows, "From the rows, again and again: a seeded sample of them (--sample) in memory, or scratch files"},
		{method.FromProfile, "From the spread of each column: one pass; a few numbers a column"},
	} {
		fmt.Fprintf(&b, "\n%s\n", k.title)
		for _, s := range methods.All() {
			if s.From == k.from {
				writeMethodGuide(&b, s)
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeMethodGuide(b *strings.Builder, s method.Spec) {
	fmt.Fprintf(b, "\n  %s: %s\n", s.Name, s.About)
	for _, part := range []struct{ what, text string }{{"when", s.Guide.When}, {"time", s.Guide.Time}, {"but", s.Guide.Caution}} {
		const indent = "         "
		line := fmt.Sprintf("    %-5s", part.what)
		for _, word := range strings.Fields(part.text) {
			if len([]rune(line))+1+len([]rune(word)) > 96 {
				b.WriteString(line + "\n")
				line = indent
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
}

// shortHelpExamples is the number of examples that -h shows.
const shortHelpExamples = 5

func setShortHelp(c *cli, root *cobra.Command) {
	showWholeHelp := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if slices.Contains(c.args, "-h") { // --help and the verb help show the whole
			writeShortHelp(cmd.OutOrStdout(), cmd)
		} else {
			showWholeHelp(cmd, args)
		}
	})
}

func writeShortHelp(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, "%s.\n\nUsage:\n  %s\n\nExamples:\n", cmd.Short, cmd.UseLine())
	examples := listExamples(cmd)
	for _, example := range examples[:min(len(examples), shortHelpExamples)] {
		fmt.Fprintln(w, example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\nVerbs:\n")
		for _, verb := range cmd.Commands() {
			if verb.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-*s %s\n", cmd.NamePadding(), verb.Name(), verb.Short)
			}
		}
	}
	flags, more := everydayFlags(cmd)
	writeFlagSection(w, "Flags", cmd.LocalFlags(), flags)
	if more > 0 {
		fmt.Fprintf(w, "\n%s --help shows %s, and explains everything.\n", cmd.CommandPath(), print.CountNoun(more, "more flag"))
	} else {
		fmt.Fprintf(w, "\n%s --help explains more.\n", cmd.CommandPath())
	}
}

func listExamples(cmd *cobra.Command) []string {
	return slices.DeleteFunc(strings.Split(cmd.Long, "\n"), func(line string) bool { return !strings.HasPrefix(line, "  ufs-stream ") })
}

// everydayFlags lists the flags that -h shows for a verb: its options of every day and its own flags. more counts the
// others.
func everydayFlags(cmd *cobra.Command) (flags []string, more int) {
	hidden := map[string]bool{"help": true}
	for _, g := range flagGroups() {
		for _, name := range g.flags {
			hidden[name] = g.title != request.Everyday
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		_, isOfMethod := f.Value.(*optionFlag)
		switch {
		case f.Hidden || f.Name == "help":
		case hidden[f.Name] || isOfMethod || cmd.InheritedFlags().Lookup(f.Name) != nil:
			more++
		default:
			flags = append(flags, f.Name)
		}
	})
	return flags, more
}

func writeFirstSteps(w io.Writer) error {
	steps := [][2]string{
		{"ufs-stream demo --keep data", "make a table whose answer is known, and select from it"},
		{"ufs-stream select data -k 6 -o sel.json", "select, and keep the result"},
		{"ufs-stream report sel.json -o report.html", "look at it"},
	}
	entries, _ := os.ReadDir(".") // without a list of files, the commands above are right too
	at := slices.IndexFunc(entries, func(e os.DirEntry) bool {
		return e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") && chunkio.InputFormatByName(e.Name()) != nil
	})
	if at >= 0 {
		file := shell.Quote("./" + entries[at].Name())
		steps = [][2]string{
			{"ufs-stream inspect " + file, "what the columns are"},
			{"ufs-stream select " + file + " -o sel.json", "the columns that explain the others"},
			{"ufs-stream report sel.json -o report.html", "look at them"},
		}
	}
	width := 0
	for _, step := range steps {
		width = max(width, len([]rune(step[0])))
	}
	fmt.Fprint(w, "ufs-stream selects the columns that explain the others, of data without labels. Three commands to begin with:\n\n")
	for _, step := range steps {
		fmt.Fprintf(w, "  %s%s  %s\n", step[0], strings.Repeat(" ", width-len([]rune(step[0]))), step[1])
	}
	_, err := fmt.Fprint(w, "\nufs-stream -h shows all verbs, VERB -h the flags of every day, and VERB --help everything.\n")
	return err
}

// helpSchema names the version of the JSON form of the help.
const helpSchema = "ufs-stream/help/v1"

// helpDocument is the help for programs: everything that can be asked of the command.
type helpDocument struct {
	Schema    string            `json:"schema"`
	Version   string            `json:"version"`
	Verbs     []verbHelp        `json:"verbs"` // all, or the one that was named
	Flags     []flagHelp        `json:"flags"` // of every verb
	Methods   []methodHelp      `json:"methods"`
	Formats   []inputFormatHelp `json:"input_formats"`
	ExitCodes map[string]string `json:"exit_codes"` // their meanings
}

// verbHelp describes a verb.
type verbHelp struct {
	Name     string     `json:"name"`
	Usage    string     `json:"usage"`
	Short    string     `json:"short"` // its purpose
	Examples []string   `json:"examples"`
	Flags    []flagHelp `json:"flags"` // of this verb only
}

// flagHelp describes a flag.
type flagHelp struct {
	Name     string   `json:"name"`               // without dashes
	Short    string   `json:"short,omitempty"`    // its letter
	Type     string   `json:"type"`               // bool, int, number, string, name (one of values), list (with commas), repeated, duration, size or time
	Value    string   `json:"value,omitempty"`    // the word for the value in the help
	Default  string   `json:"default,omitempty"`  // empty if the run decides, or if there is none
	Values   []string `json:"values,omitempty"`   // the values that are allowed
	Bounds   string   `json:"bounds,omitempty"`   // the numbers that are allowed, in words
	Shapes   []string `json:"shapes,omitempty"`   // features, statistics, selection: they depend on the value; plan: fixes it for many machines
	Methods  []string `json:"methods,omitempty"`  // the only methods that take it
	Section  string   `json:"section,omitempty"`  // of the help
	Variable string   `json:"variable,omitempty"` // the variable of the environment that sets the default
	Help     string   `json:"help"`
}

// methodHelp describes a method.
type methodHelp struct {
	Name    string   `json:"name"`
	About   string   `json:"about"`
	From    string   `json:"from"`  // the statistics that it needs: profile, gram, graph or rows
	Scale   string   `json:"scale"` // by default
	When    string   `json:"when"`
	Time    string   `json:"time"`
	Caution string   `json:"caution"`
	Options []string `json:"options"` // the flags that are its own
}

// inputFormatHelp describes a format of input files.
type inputFormatHelp struct {
	Name    string   `json:"name"`
	Endings []string `json:"endings"`
	Sparse  bool     `json:"sparse"` // rows of index:value
	Text    bool     `json:"text"`   // read from beginning to end, into a scratch file
}

func (c *cli) writeHelpJSON(named *cobra.Command) error {
	root := named.Root()
	doc := helpDocument{Schema: helpSchema, Version: ufs.Release, Verbs: []verbHelp{}, ExitCodes: make(map[string]string)}
	for _, verb := range root.Commands() {
		if verb.IsAvailableCommand() && verb.Runnable() && (named == root || named == verb) {
			doc.Verbs = append(doc.Verbs, describeVerb(verb))
		}
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { doc.Flags = append(doc.Flags, describeFlag(f, "")) })
	for _, s := range methods.All() {
		doc.Methods = append(doc.Methods, describeMethod(s))
	}
	for _, f := range chunkio.InputFormats() {
		doc.Formats = append(doc.Formats, inputFormatHelp{f.Name, append([]string{}, f.Endings...), f.IsSparse(), f.IsText()})
	}
	for line := range strings.Lines(program.ExitCodes) {
		code, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		doc.ExitCodes[code] = strings.TrimSpace(meaning)
	}
	return print.WriteJSON(c.out, doc)
}

func describeVerb(verb *cobra.Command) verbHelp {
	h := verbHelp{Name: verb.Name(), Usage: verb.UseLine(), Short: verb.Short, Examples: []string{}, Flags: []flagHelp{}}
	for _, example := range listExamples(verb) {
		h.Examples = append(h.Examples, strings.TrimSpace(example))
	}
	for _, g := range groupFlags(verb) {
		for _, name := range g.flags {
			if f := verb.Flag(name); !f.Hidden {
				h.Flags = append(h.Flags, describeFlag(f, g.title))
			}
		}
	}
	return h
}

func describeFlag(f *pflag.Flag, section string) flagHelp {
	h := flagHelp{Name: f.Name, Short: f.Shorthand, Type: f.Value.Type(), Default: f.DefValue, Values: f.Annotations[valuesAnnotation], Shapes: f.Annotations[shapesAnnotation], Section: section}
	h.Value, h.Help = pflag.UnquoteUsage(f)
	if bounds := f.Annotations[boundsAnnotation]; len(bounds) > 0 {
		h.Bounds = bounds[0]
	}
	switch v := f.Value.(type) {
	case *requestFlag: // its text may also be a word, such as auto
		h.Type = "string"
	case *choiceFlag:
		h.Values = v.allowed
	case *optionFlag:
		h.Values, h.Methods, h.Shapes = v.option.Allowed, methods.Names(methods.Knowing(methods.All(), f.Name)), []string{"selection"}
	}
	if f.Name == "method" {
		h.Values = methods.Names(methods.All())
	}
	types := map[string]string{"int64": "int", "uint64": "int", "float64": "number", "NUMBER": "number", "stringSlice": "list", "intSlice": "list", "NUMBERS": "list", "stringArray": "repeated"}
	if h.Type, h.Default = cmp.Or(types[h.Type], h.Type), strings.Trim(h.Default, "[]"); h.Type == "string" && len(h.Values) > 0 {
		h.Type = "name"
	}
	if h.Default == "0" && h.Bounds != "" {
		h.Default = ""
	}
	if !cannotHaveDefault(f.Name) {
		h.Variable = variableName(f.Name)
	}
	return h
}

func describeMethod(s method.Spec) methodHelp {
	from := map[method.From]string{method.FromProfile: "profile", method.FromGram: "gram", method.FromGraph: "graph", method.FromRows: "rows"}
	h := methodHelp{s.Name, s.About, from[s.From], s.Scale.String(), s.Guide.When, s.Guide.Time, s.Guide.Caution, []string{}}
	for _, o := range s.Declare().Options.All() {
		h.Options = append(h.Options, o.Name)
	}
	return h
}

// Keys of the annotations of a flag from the table of options.
const (
	boundsAnnotation = "bounds"
	shapesAnnotation = "shapes"
)

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/progress"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// requestFlags holds the flags that set the fields of a request. Each verb adds the parts of a request that it takes.
type requestFlags struct {
	req     ufs.Request
	options []request.Option // the options with a flag
}

func (f *requestFlags) addOptions(fs *pflag.FlagSet, parts request.Part, names ...string) {
	f.options = request.ListParts(parts, names...)
	for _, o := range f.options {
		addOption(fs, o, &f.req)
	}
	if parts&request.PartChoice != 0 {
		f.req.Choice.Options = method.Settings{}
		addOptionFlags(fs, f.req.Choice.Options)
	}
}

func addOption(fs *pflag.FlagSet, o request.Option, q *ufs.Request) {
	o.Help = stream.Text{Format: o.Help}.Spell(program.FlagOf)
	switch field := o.FieldIn(q).(type) {
	case nil:
		fs.VarP(&requestFlag{o, q}, o.Name, o.Short, o.Help)
	case *string:
		if o.Values == nil || o.HasRole(request.CheckedByRun) {
			fs.StringVar(field, o.Name, "", o.Help)
		} else {
			fs.Var(&choiceFlag{allowed: o.Values, set: func(value string) { *field = value }}, o.Name, o.Help)
		}
	case *[]string:
		if o.HasRole(request.Repeats) {
			fs.StringArrayVar(field, o.Name, nil, o.Help)
		} else {
			fs.StringSliceVar(field, o.Name, nil, o.Help)
		}
	case *bool:
		if o.Values == nil {
			fs.BoolVar(field, o.Name, false, o.Help)
		} else {
			fs.Var(&choiceFlag{allowed: o.Values, set: func(value string) { *field = value == o.Values[1] }}, o.Name, o.Help)
		}
	case *int:
		fs.IntVar(field, o.Name, 0, o.Help)
	case *int64:
		if o.HasRole(request.CountsBytes) {
			fs.Var((*program.Bytes)(field), o.Name, o.Help)
		} else {
			fs.Int64Var(field, o.Name, 0, o.Help)
		}
	case *uint64:
		fs.Uint64Var(field, o.Name, 0, o.Help)
	case *float64:
		fs.Float64Var(field, o.Name, 0, o.Help)
	case *time.Time:
		fs.Var((*program.Moment)(field), o.Name, o.Help)
	case *time.Duration:
		fs.DurationVar(field, o.Name, 0, o.Help)
	default:
		panic(fmt.Sprintf("option %s has a value of type %T", o.Name, field))
	}
	flag := fs.Lookup(o.Name)
	flag.NoOptDefVal = cmp.Or(o.NoValue, flag.NoOptDefVal)
	if o.Default != "" {
		if err := flag.Value.Set(o.Default); err != nil {
			panic(fmt.Sprintf("option %s: %v", o.Name, err))
		}
		flag.DefValue = flag.Value.String()
	}
	flag.DefValue = cmp.Or(o.Shown, flag.DefValue)
	setAllowedValues(fs, o.Name, o.Values...)
	flag.Annotations[boundsAnnotation], flag.Annotations[shapesAnnotation] = []string{o.Bounds.Want}, o.ListShapes()
}

// requestFlag is the flag of an option that has its own texts.
type requestFlag struct {
	option request.Option
	req    *ufs.Request
}

func (f *requestFlag) String() string { return f.option.FormatValue(f.req) }

func (f *requestFlag) Set(text string) error { return f.option.ParseValue(f.req, text) }

func (f *requestFlag) Type() string { return "number" }

// memoryUsage is the help of --memory-limit in verbs that select nothing.
const memoryUsage = "peak resident memory, as 512MiB or 4GB"

const partsOfData = request.PartColumns | request.PartRows | request.PartTables | request.PartLimits | request.PartScratch

func (f *requestFlags) requireInputs(cmd *cobra.Command, args []string) error {
	if f.req.Input.Plan != "" {
		return nil
	}
	return program.AtLeastOne("INPUT")(cmd, args)
}

// buildRequest checks the flags and builds the request from them. output is the path of the verb's result.
func (f *requestFlags) buildRequest(c *cli, cmd *cobra.Command, inputs []string, output string) (ufs.Request, error) {
	q := f.req
	if err := request.CheckBounds(&q, f.options, cmd.Flags().Changed); err != nil {
		return q, err
	}
	if n := strayNumber(inputs); n != "" && q.Choice.Stability == ufs.AnyShards {
		return q, stream.Usagef("there is no input named %s; for a number of hash shards write --stability=8", n)
	}
	q.Input.Paths, q.Output, q.Input.Stdin = inputs, output, c.in
	if cmd.Flags().Changed("null-values") && len(q.Input.Texts.Nulls) == 0 { // an empty list means that only an empty field is missing
		q.Input.Texts.Nulls = []string{""}
	}
	limitMemory(c, q.Limits.Memory)
	q.Hooks.Meter = new(stream.Meter)
	mode := c.progress.value
	if c.quiet || c.writesJSON() && mode != "json" {
		mode = "off"
	}
	q.Hooks.Progress, q.Hooks.Note, q.Hooks.Say, q.Hooks.Spelling = progress.NewReporter(c.terminal, mode, q.Hooks.Meter), c.printTextIfVerbose, func(t stream.Text) { c.printRemark("%s", t.Spell(program.FlagOf)) }, program.FlagOf
	return q, nil
}

type boundFlag struct {
	name   string
	value  any
	bounds request.Bounds
}

// checkBounds returns an error if a flag is set to a number that its bounds do not allow. The requests of the verbs
// cannot show that a flag is set to 0.
func checkBounds(verb *cobra.Command, flags ...boundFlag) error {
	for _, f := range flags {
		if err := f.bounds.CheckNumber(f.name, f.value); verb.Flags().Changed(f.name) && err != nil {
			return err
		}
	}
	return nil
}

// optionFlag is the flag of a method option. Several methods may have an option with the same name.
type optionFlag struct {
	option   *method.Option
	settings method.Settings
}

func addOptionFlags(fs *pflag.FlagSet, settings method.Settings) {
	for _, o := range methodOptions() {
		f := fs.VarPF(&optionFlag{o.option, settings}, o.option.Name, "", o.usage)
		if f.DefValue = o.option.Default; o.option.Type == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}

// methodOptions lists the options of all methods. Their usage names the methods.
var methodOptions = sync.OnceValue(func() (list []methodOption) {
	usages := make(map[string][]optionUsage)
	for _, spec := range methods.All() {
		for _, opt := range spec.Declare().Options.All() {
			of := usages[opt.Name]
			if of == nil {
				list = append(list, methodOption{option: opt})
			}
			at := slices.IndexFunc(of, func(u optionUsage) bool { return u.text == opt.Usage })
			if at < 0 {
				at, of = len(of), append(of, optionUsage{text: opt.Usage})
			}
			of[at].methods = append(of[at].methods, spec.Name)
			usages[opt.Name] = of
		}
	}
	for i := range list {
		o := &list[i]
		for i, u := range usages[o.option.Name] {
			if i > 0 { // name the flag's value only once
				o.usage += "; "
				u.text = strings.ReplaceAll(u.text, "`", "")
			}
			o.usage += strings.Join(u.methods, ", ") + ": " + u.text
		}
		if o.option.Syntax != "" {
			o.usage += "; " + o.option.Syntax
		}
	}
	return list
})

type methodOption struct {
	option *method.Option // as declared by the first method that has it
	usage  string
}

type optionUsage struct {
	methods []string
	text    string
}

func (f *optionFlag) String() string {
	if f.option == nil {
		return ""
	}
	return f.settings.Text(f.option.Name)
}

func (f *optionFlag) Set(s string) error {
	if err := f.option.Parse(s); err != nil {
		return err
	}
	f.settings[f.option.Name] = s
	return nil
}

func (f *optionFlag) Type() string { return f.option.Type }

// countListFlag is a flag whose value is one or more whole numbers above 0, separated by commas.
type countListFlag []int

func (n *countListFlag) Type() string { return "NUMBERS" }
func (n *countListFlag) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*n), " ", ","), "[]")
}

func (n *countListFlag) Set(s string) error {
	var list countListFlag
	for part := range strings.SplitSeq(s, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || k < 1 {
			return errors.New("want whole numbers from 1 on, as 10,20,50")
		}
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	*n = list
	return nil
}

// strayNumber returns the first input that is a number and not the name of a file. If a user writes --stability 8,
// pflag treats the 8 as an input, because the value of this flag is optional.
func strayNumber(inputs []string) string {
	for _, in := range inputs {
		if _, err := strconv.Atoi(in); err == nil {
			if _, err := os.Stat(in); err != nil {
				return in
			}
		}
	}
	return ""
}

type choiceFlag struct {
	value   string
	allowed []string
	set     func(value string) // stores the value elsewhere too; may be nil
}

func newChoiceFlag(value string, allowed ...string) choiceFlag {
	return choiceFlag{value: value, allowed: allowed}
}

func (c *choiceFlag) String() string { return c.value }

func (c *choiceFlag) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return stream.Errorf("want %s%v", strings.Join(c.allowed, ", "), suggest.DidYouMean(s, c.allowed))
	}
	if c.value = s; c.set != nil {
		c.set(s)
	}
	return nil
}

func (c *choiceFlag) Type() string { return "name" }

// limitMemory sets the memory limit of the process until the command ends.
func limitMemory(c *cli, limit int64) {
	c.restoreMemory()
	c.restoreMemory = ufs.Bound(limit)
}

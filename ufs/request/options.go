package request

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Option is an option of requests. Commands have a flag of its name, and a line of their configuration; runs record it.
type Option struct {
	Name, Short string // Short is a letter, or empty
	Help        string // of the flag, as the format of a [stream.Text]; the word in backquotes stands for the value
	Part        Part
	Section     string   // title of the section in the help of a command
	Default     string   // the value that a command sets if its user sets none
	Shown       string   // the value that help shows, but that a command does not set: a run treats an open option differently
	NoValue     string   // the value of a flag that is given without one
	Values      []string // the values of a text; or the two texts that mean false and true
	Bounds      Bounds
	roles       Role
	field       func(q *Request) any // pointer to the value
	usage       func() string        // computes Help
	format      func(q *Request) string
	parse       func(q *Request, text string) error // replaces the way of reading values of this type
}

// Part is a set of options that commands take as a whole.
type Part uint

// The parts.
const (
	PartColumns    Part = 1 << iota // files of a run, and the columns that become features
	PartRows                        // conditions on rows
	PartTables                      // versions of tables, formats of text, and object stores
	PartExclusion                   // of suspicious columns
	PartChoice                      // the method, and the features that it may select
	PartLimits                      // threads, memory, the seed
	PartScratch                     // files for the time of the run
	PartCheckpoint                  // progress of the run
	PartAlone                       // options that each command names that takes them

	AllParts = PartAlone<<1 - 1
)

// The titles of the sections in the help of a command.
const (
	Everyday  = "Everyday"
	Reading   = "Input"
	Preparing = "Columns"
	Choosing  = "How many, and which"
	Limiting  = "Limits and resuming"
)

// Role is a set of the roles that an option has in the records of runs, and on the command line.
type Role uint

// The roles.
const (
	ShapesAnswer         Role = 1 << iota // a selection records the value of the request
	ShapesStatistics                      // statistics record it, and selections made from them
	FrozenByPlan                          // all statistics files that are made from a plan have the plan's value
	FollowsMethod                         // a plan records its value, which holds only for the method of the plan
	AgreesWithStatistics                  // a request that sets it must set the value of its statistics
	MakesFeatures                         // features are made by it, so that apply and eval take it from a selection
	ReadsText                             // replaces a guess about files of text
	NamesColumn                           // its value is the name of a column
	NamesColumns                          // its value is a list of names of columns
	Repeats                               // its flag is repeated for each element of a list
	CountsBytes                           // a number of bytes
	CheckedByRun                          // a flag takes values that a run then refuses, with a better message
)

const (
	everyRecord  = ShapesAnswer | ShapesStatistics | FrozenByPlan
	featureRoles = ShapesStatistics | FrozenByPlan | AgreesWithStatistics | MakesFeatures
)

// Bounds are the numbers that an option may be set to. The zero Bounds allow all.
type Bounds struct {
	Want   string // describes the allowed numbers, in errors
	Allows func(number float64) bool
}

// Bounds of several options.
var (
	OneOrMore    = AtLeast(1, "1 or more")
	ShareUpToOne = Bounds{"a share above 0 and up to 1", func(v float64) bool { return v > 0 && v <= 1 }}
)

// AtLeast returns bounds that allow numbers from least on.
func AtLeast(least float64, want string) Bounds {
	return Bounds{want, func(number float64) bool { return number >= least }}
}

// CheckNumber returns an error if the bounds do not allow the value of an option, which is of a type of numbers.
func (b Bounds) CheckNumber(option string, value any) error {
	if b.Allows == nil || b.Allows(reflect.ValueOf(value).Convert(reflect.TypeFor[float64]()).Float()) {
		return nil
	}
	return stream.Usagef("%v %v: want %s", stream.Option(option), value, b.Want)
}

// CheckBounds checks options of q against their bounds, if isSet is true for them. A nil isSet means the options with a
// value other than 0.
func CheckBounds(q *Request, list []Option, isSet func(option string) bool) error {
	for _, o := range list {
		switch {
		case o.Bounds.Allows == nil, o.Name == "k" && q.Choice.AutoK:
			continue
		case isSet == nil && o.isOpen(q), isSet != nil && !isSet(o.Name):
			continue
		}
		value := reflect.Indirect(reflect.ValueOf(o.field(q)).Elem())
		if err := o.Bounds.CheckNumber(o.Name, value.Interface()); err != nil {
			return err
		}
	}
	return nil
}

// ListParts lists the options of some parts, and further options by name.
func ListParts(parts Part, names ...string) (list []Option) {
	for _, o := range describedOptions() {
		if o.Part&parts != 0 || slices.Contains(names, o.Name) {
			list = append(list, o)
		}
	}
	return list
}

var describedOptions = sync.OnceValue(func() []Option {
	list := slices.Clone(options)
	for i := range list {
		if list[i].usage != nil {
			list[i].Help = list[i].usage()
		}
	}
	return list
})

// FieldIn returns a pointer to the value in q. It returns nil if only ParseValue reads the texts of the option.
func (o *Option) FieldIn(q *Request) any {
	if o.parse != nil {
		return nil
	}
	return o.field(q)
}

// FormatValue writes the value in q as text. It is for options without FieldIn.
func (o *Option) FormatValue(q *Request) string { return o.format(q) }

// ParseValue sets the value in q to a text. It is for options without FieldIn.
func (o *Option) ParseValue(q *Request, text string) error { return o.parse(q, text) }

// HasRole reports whether the option has at least one of the roles in the set role.
func (o *Option) HasRole(role Role) bool { return o.roles&role != 0 }

// ListShapes lists the things that depend on the value: "features", "statistics", and the "selection" made from them.
// The "plan" of a job for many machines fixes the value for all of them.
func (o *Option) ListShapes() (shapes []string) {
	for _, shape := range []struct {
		role Role
		name string
	}{{MakesFeatures, "features"}, {ShapesStatistics, "statistics"}, {ShapesAnswer, "selection"}, {FrozenByPlan, "plan"}} {
		if o.HasRole(shape.role) {
			shapes = append(shapes, shape.name)
		}
	}
	return shapes
}

func (o *Option) isOpen(q *Request) bool {
	v := reflect.ValueOf(o.field(q)).Elem()
	// An empty list of spellings is a value, and an empty list of names is none.
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 && !o.HasRole(ReadsText)
}

func recordedValue(q *Request, o *Option) any {
	v := reflect.ValueOf(o.field(q)).Elem()
	if o.isOpen(q) || v.CanInt() && v.Int() < 0 { // AnyShards is no number yet
		return nil
	}
	if names, isList := v.Interface().([]string); isList {
		return JoinNames(names)
	}
	return v.Interface()
}

// RecordOptions returns, by name, the values of the options of a role that q sets. The names of a list are one text.
func RecordOptions(q *Request, role Role) map[string]any {
	record := make(map[string]any)
	for _, o := range options {
		if value := recordedValue(q, &o); o.HasRole(role) && value != nil {
			record[o.Name] = value
		}
	}
	return record
}

// ListOptions returns, by name, the values of the options of a role that q sets, all as texts.
func ListOptions(q *Request, role Role) map[string]string {
	list := make(map[string]string)
	for option, value := range RecordOptions(q, role) {
		list[option] = fmt.Sprint(value)
	}
	return list
}

// ListSection lists the names of the options of a section of the help.
func ListSection(section string) (names []string) {
	for _, o := range options {
		if o.Section == section {
			names = append(names, o.Name)
		}
	}
	return names
}

// OptionNames lists the names of the options that have a role.
func OptionNames(role Role) (names []string) {
	for _, o := range options {
		if o.HasRole(role) {
			names = append(names, o.Name)
		}
	}
	return names
}

// ListOpenRowOptions implements ufs.ListOpenRowOptions: it lists the options that choose or weight rows and that q
// leaves open.
func ListOpenRowOptions(q *Request) (names []string) {
	for _, o := range options {
		if o.HasRole(AgreesWithStatistics) && !o.HasRole(MakesFeatures) && o.isOpen(q) {
			names = append(names, o.Name)
		}
	}
	return names
}

// SetOption sets an option of q to a recorded text. isKnown is false if records have no such option.
func SetOption(q *Request, name, text string) (isKnown bool, err error) {
	at := slices.IndexFunc(options, func(o Option) bool { return o.Name == name && o.HasRole(everyRecord) })
	if at < 0 {
		return false, nil
	}
	switch field := options[at].field(q).(type) {
	case *string:
		*field = text
	case *[]string:
		*field, err = SplitNames(text)
		q.Input.Texts.Recorded = q.Input.Texts.Recorded || options[at].HasRole(ReadsText)
	case *bool:
		if *field = text == "true"; !options[at].HasRole(ShapesStatistics) { // in statistics, any other text means false
			_, err = fmt.Sscan(text, field)
		}
	default:
		_, err = fmt.Sscan(text, field)
	}
	return true, err
}

// FillOptions copies from p the options of a role that q leaves open.
func FillOptions(q, p *Request, role Role) {
	for _, o := range options {
		if o.HasRole(role) && o.isOpen(q) && !o.isOpen(p) {
			reflect.ValueOf(o.field(q)).Elem().Set(reflect.ValueOf(o.field(p)).Elem())
			q.Input.Texts.Recorded = q.Input.Texts.Recorded || o.HasRole(ReadsText)
		}
	}
}

// FillFeatureOptions copies the options that make features from the record of a selection to q, which may have its own
// options for reading text.
func FillFeatureOptions(q *Request, record method.Settings) error {
	var p Request
	for _, name := range OptionNames(MakesFeatures) {
		if _, ok := record[name]; !ok {
			continue
		}
		if _, err := SetOption(&p, name, record.Text(name)); err != nil {
			return stream.Errorf("the selection's {%s}: %w", name, err)
		}
	}
	FillOptions(q, &p, MakesFeatures)
	return nil
}

// The names of the options about columns of categories, and a value of Columns.Categorical for no columns.
const (
	OptionCategorical = "categorical"
	OptionCategories  = "categories" // the values found, as JSON: a list per column, or null if there are too many
	CategoricalAuto   = "auto"
	categoricalNone   = "none"
)

// The names of the options about the scaling of rows, and the values of Columns.RowScale.
const (
	OptionRowScale    = "rows-scale"
	OptionFrequencies = "document-frequencies" // the weights of the rows that have each feature, as JSON
	RowScaleNone      = "none"
	RowScaleUnit      = "l2"
	RowScaleTFIDF     = "tfidf"
	RowScaleTotal     = "cp10k"
	RowScaleLog       = "cp10k,log1p"
)

// RowScales implements ufs.RowScales: it lists the values of Columns.RowScale, the default first.
func RowScales() []string {
	return []string{RowScaleNone, RowScaleUnit, RowScaleTFIDF, RowScaleTotal, RowScaleLog}
}

// MaxCategories bounds the number of distinct values of a text column that becomes categories. Each value becomes a
// feature, and the size of the Gram matrix grows with the square of the number of features.
const MaxCategories = 64

// Special values of Checkpoint.Folder. All other values are names of folders.
const (
	// AutoCheckpoint requests a folder next to Request.Output if the run is predicted to be long.
	AutoCheckpoint = "auto"
	NoCheckpoint   = "none"
)

// CacheBeside is the value of Request.Cache for the folder of the first input.
const CacheBeside = "beside"

// OptionHeader is the option by which the first row of CSV files is a header or not.
const OptionHeader = "header"

// MaxCost bounds a cost, so that sums of costs do not overflow.
const MaxCost = 1e100

// RandomBaseline is the name of the baseline that draws new random features in every run.
const RandomBaseline = judge.Random

// The names of the options of a merge that a merged file records, and that selections from this file report.
const (
	OptionWindow = "window"
	OptionDecay  = "decay"
)

// The scale of normal scores, and the option that identifies the ranks of these scores.
const (
	ScaleRank = "rank"
	// OptionRanks identifies the ranks that scores were made from: statistics of scores from other ranks do not add up.
	OptionRanks = "ranks"
)

// OptionGraphRows is the option under which the number of sampled rows for a survey is recorded.
const OptionGraphRows = "graph-rows"

// The names of the options that a statistics file records about its sample of rows.
const (
	OptionSampleRows = "sample-rows"
	// OptionSampleMissing is the missing policy requested for the scan. It acts when methods select from the sample; the
	// profile in the file is of all rows.
	OptionSampleMissing = "sample-missing"
)

// ScaleNames implements ufs.ScaleNames: it lists the values of Choice.Scale.
func ScaleNames() []string {
	var names []string
	for s := gram.ScaleNone; s <= gram.ScaleRank; s++ {
		names = append(names, s.String())
	}
	return names
}

// If neither the Gram matrix nor the rows fit into memory, a method may select from an estimate of the matrix. The
// estimate comes from a sketch of the rows (gram.Sketch): fewer rows, each a sum of input rows with random signs. One
// pass gathers the sketch and a profile. Sketches of shards add up, as moments do. Methods read the rows again for
// exact values.

// OptionSketch is the option in which a statistics file records the number of rows of its sketch.
const OptionSketch = "sketch"

// SketchAuto is the value of Choice.Sketch for the default number of rows.
const SketchAuto = "auto"

// AnyShards is the value of Choice.Stability for the default number of hash shards or, with Stats, for the number of
// shards in the file.
const AnyShards = -1

// OptionStability is the option in which a statistics file records the number of its hash shards.
const OptionStability = "stability"

// NamesFile reports whether the text of an option names a file. Text for groups names a file if it is neither JSON nor
// of a kind such as prefix:. Text for costs names a file if it is not JSON, and text for a tree if it is of no kind,
// whatever its ending. Text for anchors always names a file.
func NamesFile(option, text string) bool {
	switch option {
	case "groups", "costs":
		return text != "" && !IsJSON([]byte(text)) && (option == "costs" || !isKindOf(text, GroupsPrefix, GroupsRegex, GroupsLists))
	case "anchors-file":
		return text != ""
	case "tree":
		return text != "" && !isKindOf(text, GroupsPrefix, "image", "correlation") // trees use prefix: too
	}
	return false
}

// isKindOf reports whether the text of an option equals one of the kinds, or begins with one that ends with a colon.
func isKindOf(text string, kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		return text == kind || strings.HasSuffix(kind, ":") && strings.HasPrefix(text, kind)
	})
}

// IsJSON reports whether text can be a JSON object, i.e. begins with a brace.
func IsJSON(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// StatisticsShape returns the values of all options that affect statistics. They are recorded in the header of a
// statistics file, and compared with the values in a checkpoint.
func StatisticsShape(q *Request) map[string]string {
	s := ListOptions(q, ShapesStatistics)
	if q.Choice.Scale != ScaleRank { // other scales do not affect statistics
		delete(s, "scale")
	}
	if q.SampleRows == 0 && q.Choice.Sketch == "" { // nothing is drawn
		delete(s, "seed")
	}
	return s
}

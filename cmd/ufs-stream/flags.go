package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/progress"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// requestFlags holds the flags that set the fields of a request. Each verb adds the groups of flags that it supports.
type requestFlags struct {
	req              ufs.Request
	missing, onError choiceFlag
	header           choiceFlag
	memory, scratch  program.Bytes
	seed             uint64
	version          int64
}

const whereUsage = "only rows for which `EXPR` is true: comparisons of columns and partition keys with constants, as day >= '2026-01-01' and site in ('a', 'b') and x is not null"

const unionUsage = "a column that a file lacks is null in its rows (else all files must have the same columns)"

// addInputFlags adds the flags that choose rows, columns and the missing-value policy.
func (f *requestFlags) addInputFlags(fs *pflag.FlagSet) {
	f.missing = newChoiceFlag(ufs.MissingPolicies()[0], ufs.MissingPolicies()...)
	f.onError = newChoiceFlag("fail", "fail", "skip-file")
	q := &f.req
	fs.StringVar(&q.Plan, "plan", "", "read the files that the plan file `JOB.plan.json` names, in place of INPUT; it has the options that shape statistics (see plan)")
	fs.StringSliceVar(&q.Columns.Names, "columns", nil, "only these columns are features (`GLOBS`: names or globs, comma-separated); partition keys and the index of a data frame are features only if named here")
	fs.StringSliceVar(&q.Columns.Exclude, "exclude", nil, "these columns are no features (`GLOBS`: names or globs, comma-separated)")
	fs.StringVar(&q.Columns.Label, "label", "", "the class column `COL`: never a feature")
	fs.StringVar(&q.Columns.Weight, "weight", "", "column `COL` of row weights (>= 0): never a feature")
	fs.StringVar(&q.Columns.Sparse, "sparse", "", "sparse rows: the list columns `INDICES,VALUES[,D]`, or a map column, MAP[,D], hold zero-based feature numbers (a map also texts) and their values, or ROW,INDEX,VALUE[,D] a value each, sorted by row; absent is 0; D is the number of features")
	fs.StringVar(&q.Input.Where, "where", "", whereUsage)
	fs.BoolVar(&q.Columns.UnionByName, "union-by-name", false, unionUsage)
	fs.StringVar(&q.Columns.Categorical, "categorical", "", "columns of categories, `COL,…`, or auto: text of at most 64 distinct values. Each category is a feature, NAME=VALUE, scaled as in multiple correspondence analysis; these columns are read once more beforehand, by plan too (default: none)")
	fs.BoolVar(&q.Columns.Times, "times", false, "dates and times are features: a number (days, or seconds since 1970) and its positions in the day, the week and the year as sine and cosine: ts, ts.hour.sin, …")
	fs.BoolVar(&q.Columns.MissingIndicators, "missing-indicators", false, "unless --missing is error or drop-row: for each feature with nulls another, is_missing(NAME), that is 1 where it is missing, else 0")
	fs.Var(&f.missing, "missing", "nulls, NaN and infinities: mean (fill with the column's mean over the whole input; filled values are counted if the flag is not given), error (refuse, with the place), drop-row, zero, pairwise (greedy family: each covariance over the rows that have both columns)")
	fs.Int64Var(&q.SampleRows, "rows", 0, "quick try: only a seeded sample of `N` rows (0: all)")
	f.addLakeFlags(fs)
	fs.Var(&f.onError, "on-error", "a file that cannot be read: fail, or skip-file (left out with a warning; a pass under way starts again)")
}

// addHygieneFlags adds the flags that leave out columns because of their values.
func (f *requestFlags) addHygieneFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.req.Columns.AutoExclude, "auto-exclude", false, "leave out the columns that otherwise cause a warning: identifiers, times as numbers, mostly missing ones, copies of others, and those that nearly determine --label. The output lists them, with the reason. Methods on an anchor graph or over rows then read the input once more")
	fs.Float64Var(&f.req.Columns.MaxMissing, "max-missing", 0, "leave out columns that lack a value in more than this `SHARE` of the rows, as 0.5; without this flag, a share above 0.5 is a warning")
}

func (f *requestFlags) requireInputs(cmd *cobra.Command, args []string) error {
	if f.req.Plan != "" {
		return nil
	}
	return program.AtLeastOne("INPUT")(cmd, args)
}

// addLakeFlags adds the flags for versions of tables, places that may be read, formats of texts, and object stores.
func (f *requestFlags) addLakeFlags(fs *pflag.FlagSet) {
	f.version = -1
	fs.Int64Var(&f.version, "version", -1, "version `N` of the Delta table (default: the newest)")
	fs.Lookup("version").DefValue = "0" // the help does not show a default of 0
	fs.Var((*program.Moment)(&f.req.Input.AsOf), "as-of", "the Delta table as it was at `TIME`, as 2026-01-31 or 2026-01-31T08:00:00Z (UTC)")
	fs.StringArrayVar(&f.req.Input.Allow, "allow", nil, "lists, plans, selections and logs of tables may also name files below `PREFIX`, a folder or a URL with its parameters, as s3://BUCKET/FOLDER/?region=… (repeatable; without it only files in their own place)")
	f.addTextFlags(fs)
	f.addStoreFlags(fs)
}

func (f *requestFlags) addTextFlags(fs *pflag.FlagSet) {
	t := &f.req.Input.Texts
	f.header = newChoiceFlag("", "auto", "yes", "no")
	fs.Var(&f.header, "header", "CSV: yes, the first row has the names of the columns; no, it is data; auto, decide by comparing it with the rows below (default: auto, or as the plan or selection records)")
	fs.StringSliceVar(&t.Types, "types", nil, "CSV and NDJSON: `COL=TYPE,…` for columns whose type is not to be guessed: bool, int, float, date, time, text")
	fs.StringSliceVar(&t.Text, "text", nil, "CSV and NDJSON: columns `COL,…` (names or globs) that are text though their values look like numbers: postal codes, phone numbers, keys")
	fs.StringSliceVar(&t.Nulls, "null-values", nil, "CSV: a `LIST` of spellings of a missing value, as NA,?,-999, in place of the usual ones of pandas; an empty field always is one. The listed ones are missing in text and in NDJSON too. Numbers in the list are missing values of features in every format")
}

func (f *requestFlags) addStoreFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.req.Input.Anonymous, "anonymous", false, "inputs in object stores are public: look for no credentials and sign no request for them")
}

// defaultMemory is the default memory limit, in bytes, of all verbs.
const defaultMemory = 2 << 30

func (f *requestFlags) addMemoryFlag(fs *pflag.FlagSet) {
	f.memory = defaultMemory
	fs.Var(&f.memory, "memory-limit", "peak resident memory, as 512MiB or 4GB")
}

func (f *requestFlags) addLimitFlags(fs *pflag.FlagSet) {
	fs.Uint64Var(&f.seed, "seed", 1, "seed `N` of everything random, from 1 on")
	fs.IntVar(&f.req.Limits.Threads, "threads", 0, "`N` worker threads (0: one for each core); never changes the result")
	f.memory = defaultMemory
	fs.Var(&f.memory, "memory-limit", "peak resident memory, as 512MiB or 4GB; never changes a method's selection. Without --method, too little memory for the recommended one means greedy. Without -k, too little to find how many are worth keeping means 50. The output reports this")
}

// addMethodFlags adds the flags for the method, the number of features and the scale. It also adds a flag for each
// option that a method declares.
func (f *requestFlags) addMethodFlags(fs *pflag.FlagSet) {
	all := methods.All()
	methodsThat := func(takes func(method.Takes) bool) string {
		return strings.Join(methods.Names(slices.DeleteFunc(slices.Clone(all), func(s method.Spec) bool { return !takes(s.Takes) })), ", ")
	}
	q := &f.req
	fs.StringVar(&q.Choice.Method, "method", "", fmt.Sprintf("selector: %s (default: %s, or %s if a sample of the rows shows no clusters; scan gathers for both)", strings.Join(methods.Names(all), ", "), methods.Recommended, methods.Fallback))
	fs.VarP((*featureCountFlag)(q), "k", "k", fmt.Sprintf("select `N` features, or auto: as many as explain more than noise, for methods on a Gram matrix in memory (default: auto if possible, else %d, or all if there are fewer, and the output gives the reason; path: %[1]d)", ufs.DefaultK))
	fs.Lookup("k").DefValue = "0" // the help does not show a default of 0
	fs.Float64Var(&q.Choice.Variance, "variance", 0, methodsThat(func(t method.Takes) bool { return t.Variance })+": stop when this `SHARE` of the total is explained, as 0.95, in place of -k")
	fs.Float64Var(&q.Choice.MinGain, "min-gain", 0, "stop when the next feature adds less than `SHARE` to the explained part, as 0.01; with -k N at most N ("+methodsThat(func(t method.Takes) bool { return t.MinGain })+"; other graph methods: of their first N, default "+strconv.Itoa(ufs.DefaultK)+", drop the features after the last one that adds as much)")
	fs.StringSliceVar(&q.Choice.Keep, "keep", nil, "features or groups that are in from the start (`GLOBS`: names or globs, comma-separated)")
	f.addChoiceFlags(fs)
	fs.StringVar(&q.Choice.Scale, "scale", "", "none (raw), center, minmax, unit, standard, pareto, rank (normal scores of ranks, which no outlier moves; one more pass) (default: "+defaultScalesText(all)+")")
	setAllowedValues(fs, "scale", ufs.ScaleNames()...)
	q.Choice.Options = method.Settings{}
	addOptionFlags(fs, q.Choice.Options, all)
}

// addChoiceFlags adds the flags that restrict which features may be chosen: forbidden features, groups, costs, budget.
func (f *requestFlags) addChoiceFlags(fs *pflag.FlagSet) {
	q := &f.req
	fs.StringSliceVar(&q.Choice.Forbid, "forbid", nil, "features or groups that are never chosen, but explained like others (`GLOBS`: names or globs, comma-separated; --exclude removes columns from the data too)")
	fs.StringVar(&q.Choice.Groups, "groups", "", "choose whole groups of features, and count groups by -k: `GROUPS` is a file of JSON {\"group\": [\"column\", …]} or CSV name,group, prefix:SEP (the part of a name before SEP), regex:RE (its first group or the whole match), or lists (emb of emb[0], emb[1], …)")
	fs.IntVar(&q.Choice.GroupMost, "group-most", 0, "with --groups: choose single features, at most `N` of each group")
	fs.StringVar(&q.Choice.Costs, "costs", "", "costs of columns and groups: `FILE` of CSV name,cost or JSON {\"name\": cost}. A column that is not named costs 1, such a group the sum of its columns. The greedy family chooses by gain per cost; for groups of several sizes it does so without this flag too")
	fs.Float64Var(&q.Choice.Budget, "budget", 0, "choose while the total cost stays within `X`; -k is then a further bound")
}

func (f *requestFlags) addStabilityFlag(fs *pflag.FlagSet) {
	fs.Var((*shardCountFlag)(&f.req.Choice.Stability), "stability", "greedy family and graph methods: keep the statistics of `H` hash shards of the rows apart (even, 4 to 32; the flag alone: 8, or the number in --stats). Also select from half-samples, which are sums of shards, to show how often each feature is chosen and how well the choices agree. No row is read again. This takes memory for H+1 times the statistics, and time for 20 further selections from them")
	fs.Lookup("stability").NoOptDefVal = anyShards
}

func (f *requestFlags) addSketchFlag(fs *pflag.FlagSet) {
	fs.StringVar(&f.req.Choice.Sketch, "sketch", "", "greedy and methods on the anchor graph, if the Gram matrix is too large: estimate it by a sketch of `ROWS` rows. ROWS may also be the error of an entry as a share (as 2%), or auto (2,048 rows). The output marks estimates")
}

func (f *requestFlags) addPassesFlag(fs *pflag.FlagSet) {
	fs.IntVar(&f.req.Choice.Reads, "passes", 0, "greedy with --sketch: read the input at most `N` times. 1 leaves estimates, 2 (default) makes the scores exact, more may find a better choice")
	fs.Lookup("passes").DefValue = "0" // the help does not show a default of 0
}

func (f *requestFlags) addScratchFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.req.Limits.TempDir, "temp-dir", "", "folder `DIR` for scratch files, used for CSV and other files of rows, for standard input that is read more than once (a stream of Arrow IPC only if named here), and for rows that a method iterates over, if they do not fit into memory and --checkpoint names no folder (default: the system's)")
	fs.Var(&f.scratch, "max-temp-size", "largest scratch space, including copies of objects, as 100GiB (default: no bound)")
}

func (f *requestFlags) addCheckpointFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.req.Checkpoint.Folder, "checkpoint", ufs.AutoCheckpoint, "save the progress of the run in `DIR` now and then, and when interrupted; the same command continues from there. auto: in OUTPUT.checkpoint next to -o, if the run is predicted to take more than ten minutes; none: nowhere")
	fs.DurationVar(&f.req.Checkpoint.Every, "checkpoint-every", 30*time.Second, "shortest time between saves; they take no more than 2 % of the run")
}

// buildRequest checks the flags and builds the request from them. output is the path of the verb's result.
func (f *requestFlags) buildRequest(c *cli, cmd *cobra.Command, inputs []string, output string) (ufs.Request, error) {
	q, isSet := f.req, cmd.Flags().Changed
	switch {
	case q.Choice.Options != nil && isSet("k") && q.Choice.K < 1 && !q.Choice.AutoK:
		return q, stream.Usagef("-k %d: want 1 or more", q.Choice.K)
	case isSet("variance") && !(q.Choice.Variance > 0 && q.Choice.Variance <= 1):
		return q, stream.Usagef("--variance %v: want a share above 0 and up to 1", q.Choice.Variance)
	case isSet("min-gain") && !(q.Choice.MinGain > 0 && q.Choice.MinGain < 1):
		return q, stream.Usagef("--min-gain %v: want a share above 0 and below 1", q.Choice.MinGain)
	case isSet("max-missing") && !(q.Columns.MaxMissing > 0 && q.Columns.MaxMissing < 1):
		return q, stream.Usagef("--max-missing %v: want a share above 0 and below 1, as 0.5", q.Columns.MaxMissing)
	case isSet("seed") && f.seed == 0:
		return q, stream.Usagef("--seed 0: want a number from 1 on")
	case q.Choice.Stability == ufs.AnyShards:
		if n := strayNumber(inputs); n != "" {
			return q, stream.Usagef("there is no input named %s; for a number of hash shards write --stability=8", n)
		}
	}
	if err := f.checkChoiceFlags(isSet); err != nil {
		return q, err
	}
	q.Input.Paths, q.Output, q.Input.Stdin = inputs, output, c.in
	if !isSet("method") { // the plan may name a method
		q.Choice.Method = ""
	}
	if isSet("missing") {
		q.Columns.Missing = f.missing.value
	}
	if isSet("seed") {
		q.Choice.Seed = f.seed
	}
	if isSet("version") {
		if f.version < 0 {
			return q, stream.Usagef("--version %d: want 0 or more", f.version)
		}
		q.Input.Version = &f.version
	}
	q.Input.Texts.Header = f.header.value
	if cmd.Flags().Changed("null-values") && len(q.Input.Texts.Nulls) == 0 { // an empty list means that only an empty field is missing
		q.Input.Texts.Nulls = []string{""}
	}
	q.SkipBad = f.onError.value == "skip-file"
	q.Limits.Memory, q.Limits.MaxScratch = int64(f.memory), int64(f.scratch)
	limitMemory(c, q.Limits.Memory)
	q.Hooks.Meter = new(stream.Meter)
	mode := c.progress.value
	if c.quiet {
		mode = "off"
	}
	q.Hooks.Progress, q.Hooks.Note, q.Hooks.Say, q.Hooks.Spelling = progress.NewReporter(c.terminal, mode, q.Hooks.Meter), c.printTextIfVerbose, func(t stream.Text) { c.printRemark("%s", t.Spell(program.FlagOf)) }, program.FlagOf
	return q, nil
}

// checkChoiceFlags returns an error if the user has set --budget or --group-most to 0. The request cannot show this,
// because in it 0 means that the flag was not given.
func (f *requestFlags) checkChoiceFlags(isSet func(string) bool) error {
	switch q := &f.req; {
	case isSet("budget") && q.Choice.Budget == 0:
		return stream.Usagef("--budget 0: want a number above 0")
	case isSet("group-most") && q.Choice.GroupMost == 0:
		return stream.Usagef("--group-most 0: want 1 or more")
	}
	return nil
}

// defaultScalesText lists the default scale of each method. The scale that most methods have comes first.
func defaultScalesText(all []method.Spec) string {
	var scales []string
	methodsOf := make(map[string][]string)
	for _, s := range all {
		scale := s.Scale.String()
		if s.Takes.Sample {
			scale = "the one that suits a sample of the rows"
		}
		if methodsOf[scale] == nil {
			scales = append(scales, scale)
		}
		methodsOf[scale] = append(methodsOf[scale], s.Name)
	}
	slices.SortStableFunc(scales, func(a, b string) int { return len(methodsOf[b]) - len(methodsOf[a]) })
	text := scales[0]
	for _, scale := range scales[1:] {
		text += "; " + strings.Join(methodsOf[scale], ", ") + ": " + scale
	}
	return text
}

// optionFlag is the flag of a method option. Several methods may have an option with the same name.
type optionFlag struct {
	option   *method.Option // as declared by the first method that has it
	settings method.Settings
}

func addOptionFlags(fs *pflag.FlagSet, settings method.Settings, all []method.Spec) {
	flags := make(map[string]*pflag.Flag)
	usages := make(map[string][]optionUsage)
	for _, spec := range all {
		for _, opt := range spec.Declare().Options.All() {
			if flags[opt.Name] == nil {
				f := fs.VarPF(&optionFlag{opt, settings}, opt.Name, "", "")
				if flags[opt.Name], f.DefValue = f, opt.Default; opt.Type == "bool" {
					f.NoOptDefVal = "true"
				}
			}
			list := usages[opt.Name]
			at := slices.IndexFunc(list, func(u optionUsage) bool { return u.text == opt.Usage })
			if at < 0 {
				at, list = len(list), append(list, optionUsage{text: opt.Usage})
			}
			list[at].methods = append(list[at].methods, spec.Name)
			usages[opt.Name] = list
		}
	}
	for name, f := range flags {
		for i, u := range usages[name] {
			if i > 0 { // name the flag's value only once
				f.Usage += "; "
				u.text = strings.ReplaceAll(u.text, "`", "")
			}
			f.Usage += strings.Join(u.methods, ", ") + ": " + u.text
		}
		if syntax := f.Value.(*optionFlag).option.Syntax; syntax != "" {
			f.Usage += "; " + syntax
		}
	}
}

// optionUsage is a help text of an option, with the methods that use this text for the option.
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

// featureCountFlag is -k: the number of features to select, or auto. It sets K and AutoK of a request.
type featureCountFlag ufs.Request

func (n *featureCountFlag) String() string {
	if n.Choice.AutoK {
		return "auto"
	}
	return strconv.Itoa(n.Choice.K)
}

func (n *featureCountFlag) Set(s string) error {
	k, err := strconv.Atoi(s)
	if err != nil && s != "auto" {
		return errors.New("want a whole number, or auto")
	}
	n.Choice.K, n.Choice.AutoK = k, s == "auto"
	return nil
}

func (n *featureCountFlag) Type() string { return "number" }

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

// shardCountFlag is the flag --stability, a number of hash shards. Without a value the flag means the number in the
// statistics, or else the default.
type shardCountFlag int

const anyShards = "auto"

func (n *shardCountFlag) String() string {
	switch *n {
	case 0:
		return ""
	case ufs.AnyShards:
		return anyShards
	}
	return strconv.Itoa(int(*n))
}

func (n *shardCountFlag) Set(s string) error {
	if s == anyShards {
		*n = ufs.AnyShards
		return nil
	}
	count, err := strconv.Atoi(s)
	if err != nil || count < 1 {
		return errors.New("want an even number from 4 to 32, as --stability=8")
	}
	*n = shardCountFlag(count)
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

func (n *shardCountFlag) Type() string { return "number" }

// choiceFlag is a flag with a fixed set of values.
type choiceFlag struct {
	value   string
	allowed []string
}

func newChoiceFlag(value string, allowed ...string) choiceFlag { return choiceFlag{value, allowed} }

func (c *choiceFlag) String() string { return c.value }

func (c *choiceFlag) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("want %s%s", strings.Join(c.allowed, ", "), program.DidYouMean(s, c.allowed))
	}
	c.value = s
	return nil
}

func (c *choiceFlag) Type() string { return "name" }

// limitMemory sets the memory limit of the process until the command ends.
func limitMemory(c *cli, limit int64) {
	c.restoreMemory()
	c.restoreMemory = ufs.Bound(limit)
}

package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/recipe"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// selectFlags are the flags of the verb select. The verbs path, plan and inspect use them too.
type selectFlags struct {
	requestFlags
	output outputFlags
	recipe recipeFlags // only used by select
}

// partsOfSelection are the parts of a request for selecting features.
const partsOfSelection = partsOfData | request.PartChoice | request.PartExclusion

func newSelect(c *cli) *cobra.Command {
	var o selectFlags
	var d detailsFlag
	cmd := &cobra.Command{
		Use:   "select INPUT… | --stats ALL.ufs",
		Short: "Rank and select features: the main job",
		Long: `Select the features that explain the rest best. INPUT is one or more of:
  Parquet or Arrow IPC files (also streams saved to a file), globs, and directories (with
  key=value partitions); Delta tables (their folder, or delta:// before it); @list.txt with one of
  these a line, unless a file is itself named @list.txt; or - for standard input in any format;
  ` + describeTextFormats() + `
A file of another name is recognized by its first bytes, or as text if its lines are all alike.
The same holds for the files of a folder, except that names beginning with _ or . are ignored.
Files that were passed over, and guesses, are counted and named.

Files of rows are read once, into a compressed scratch file in --temp-dir, and then like
Parquet; plan shows its size, and convert keeps it. The types of text come from its first
1 MiB: numbers, true and false, dates, times (2026-01-31T08:00:00Z), else text. inspect and -v
show the types, and why a column with numbers is text, with line and value. Numbers that would
lose leading zeros, a phone number's plus or digits are text; --types, --text and naming them in
--columns override this. A later value that does not fit is an error with its line.
Empty fields are nulls. In columns that are not text, so are the null spellings of pandas (NA, N/A,
#N/A, NaN, NULL, None, <NA>, …). --null-values LIST replaces those spellings, for columns of text
too; its numbers, such as -999, are missing values of features in every format.
Missing values are filled with the column's mean and counted on standard error; --missing changes
this. CSV is separated by commas, tabs, semicolons or bars; the most frequent one in the first
row decides. Nested members of JSON become columns a.b and a[0]. Objects with ever new keys become a
map for --sparse. Columns of arrays become x[0], x[1], …, or the fields of a structured type.

The rows below decide whether the first row of CSV has the names of the columns. Words over
numbers are names. So are numbers that rise, differ and lie outside the range of the columns, such as
years and wavelengths. A first row with the type and the range of the rows below is data, of columns
c0, c1, …. If the decision may be wrong, a warning gives both readings; --header yes or no
overrides it. All files of an input are read like the first. So are the shards of its plan, and the
input of apply and eval by its selection. A file that cannot be read like that is refused.

Standard input goes to a scratch file too, and can be read as often as a file. A stream of
Arrow IPC may be of any length: without --temp-dir it is not kept and can be read only once.

INPUT may lie in object stores: s3://BUCKET/KEY, gs://, azblob://CONTAINER/KEY, with
globs (quoted) and folders; https:// for single files. Credentials, endpoint and region
come from the same places as for the stores' own tools (AWS_PROFILE, AWS_ENDPOINT_URL_S3,
GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT, …), or in part from the URL:
s3://bucket/key?region=eu-central-1&endpoint=https://minio.example.com. Never write a
secret into a URL. Results (-o) can go to such places as well.

  ufs-stream select data/*.parquet -k 50
  ufs-stream select 's3://bucket/events/*.parquet' -k 50 -o s3://bucket/sel.json
  ufs-stream select s3://bucket/table --as-of 2026-01-31 --where "site in ('a', 'b')"
  ufs-stream select data --label class --variance 0.95 -o sel.json
  ufs-stream select --stats all.ufs -k 50 --format names
  ufs-stream select --stats all.ufs                        (as many as are worth keeping)
  ufs-stream select --stats all.ufs --min-gain 0.01        (until the next adds less than 1 %)
  ufs-stream select data -k 12 --format sql | duckdb       (also py, yaml; apply does so from SEL.json)
  ufs-stream select --stats rows.ufs -k 50 --method eufs   (rows kept by scan --sample-rows)

Methods (help methods says which when):
` + methodNamesText(),
		RunE: func(cmd *cobra.Command, args []string) error { return runSelect(c, cmd, args, &o, &d) },
	}
	o.addOptions(cmd.Flags(), partsOfSelection|request.PartCheckpoint, "stats", "cache", "stability", "sketch", "passes")
	o.output.addFlags(cmd.Flags(), append([]string{"table", "json", "csv", "parquet", "names"}, recipe.Formats()...)...)
	d.addFlags(cmd.Flags())
	o.recipe.addFlags(cmd.Flags())
	showFlagsInGroups(cmd)
	return cmd
}

func methodNamesText() string {
	var b strings.Builder
	for _, spec := range methods.All() {
		fmt.Fprintf(&b, "  %-12s %s\n", spec.Name, spec.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func runSelect(c *cli, cmd *cobra.Command, args []string, o *selectFlags, d *detailsFlag) error {
	if err := d.checkTarget(); err != nil {
		return err
	}
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	if err := o.output.resolveFormat(cmd.Context()); err != nil {
		return err
	}
	if err := o.recipe.checkFormat(cmd.Flags(), o.output.format); err != nil {
		return err
	}
	if err := o.recipe.checkInputs(o.output.format, args); err != nil {
		return err
	}
	if err := checkFlagsAgainstStats(cmd, q); err != nil {
		return err
	}
	s, err := ufs.Select(cmd.Context(), q)
	if s == nil {
		return err
	}
	unconverged := err
	c.reportRun(s.Passes, s.Timing, s.Memory, s.Warnings)
	if err := d.moveReports(cmd.Context(), c, s, o.output.format); err != nil {
		return err
	}
	// If the iteration has not converged, the result is written all the same.
	if isRecipeFormat(o.output.format) {
		err = writeSelectionRecipe(cmd.Context(), c, s, o, &q, args)
	} else {
		err = writeResult(cmd.Context(), c, o.output, print.WriteSelection, s)
	}
	if err != nil {
		return err
	}
	if line := print.WorthSentence(s); line != "" && c.progress.value != "json" && (o.output.format != "table" || o.output.path != "") {
		c.printRemark("%s", line)
	}
	if err := ufs.Forget(q); err != nil {
		return err
	}
	return unconverged
}

func writeSelectionRecipe(ctx context.Context, c *cli, s *stream.Selection, o *selectFlags, q *ufs.Request, inputs []string) error {
	at, err := locateColumns(ctx, s, q, o.recipe.readsFiles(o.output.format))
	if err != nil {
		return err
	}
	r, err := o.recipe.newRecipe(s, at, inputs)
	if err != nil {
		return err
	}
	return c.writeOutput(ctx, o.output.path, func(w io.Writer) error { return r.Write(w, o.output.format) })
}

// checkFlagsAgainstStats returns an error if a flag is set to its default value while the statistics file contains
// another value. The request alone would not show whether the flag was set.
func checkFlagsAgainstStats(cmd *cobra.Command, q ufs.Request) error {
	isSet := cmd.Flags().Changed
	unsetFlags := slices.DeleteFunc(ufs.ListOpenRowOptions(q), func(flag string) bool { return !isSet(flag) })
	switch {
	case q.Stats == "" || len(q.Input.Paths) > 0 || isSet("checkpoint"):
		return nil
	case isSet("on-error") && !q.SkipBad:
		return stream.Usagef("{-on-error} is for reading files; %s is read whole or not at all", place.DisplayName(q.Stats))
	case len(unsetFlags) == 0 || !chunkio.IsStats(cmd.Context(), q.Stats, chunkio.FetchOptions{Anonymous: q.Input.Anonymous, Meter: q.Hooks.Meter}):
		return nil
	}
	seen, err := ufs.Inspect(cmd.Context(), ufs.Request{Input: ufs.Input{Paths: []string{q.Stats}, Anonymous: q.Input.Anonymous}, Hooks: ufs.Hooks{Meter: q.Hooks.Meter}}, false)
	if err != nil {
		return err
	}
	for _, flag := range slices.Sorted(slices.Values(unsetFlags)) {
		if recorded := seen.Options[flag]; recorded != "" {
			return stream.Usagef("--%s %s: %s was scanned with --%[1]s %[4]s; scan again with the --%[1]s you want", flag, cmd.Flag(flag).Value, place.DisplayName(q.Stats), recorded)
		}
	}
	return nil
}

// detailsFlag determines how the reports on all features are written: all (in the JSON), none, auto, or a Parquet file.
type detailsFlag struct{ target string }

const (
	detailsAuto = "auto"
	detailsAll  = "all"
	detailsNone = "none"
	// maxFeaturesInJSON is the largest number of reports that --details auto writes to the JSON. They need 5 MB.
	maxFeaturesInJSON = 20_000
	// maxLeftOutInJSON is the largest number of left-out columns in a JSON without the reports on all features.
	maxLeftOutInJSON = 1000
)

func (d *detailsFlag) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&d.target, "details", detailsAuto, "reports and scores of all features: `all` in the JSON, none, FILE.parquet next to it, or auto: in the JSON up to "+humanize.Comma(maxFeaturesInJSON)+" features")
}

func (d *detailsFlag) checkTarget() error {
	switch {
	case d.target == detailsAuto, d.target == detailsAll, d.target == detailsNone, path.Ext(d.target) == ".parquet":
		return nil
	}
	return stream.Usagef("--details %q: want auto, all, none or a FILE.parquet", d.target)
}

// moveReports writes the reports to a Parquet file if the flag names one. It removes from s the reports that the JSON
// of s omits.
func (d *detailsFlag) moveReports(ctx context.Context, c *cli, s *stream.Selection, format string) error {
	if d.target == detailsAll || d.target == detailsAuto && len(s.Columns) <= maxFeaturesInJSON {
		return nil
	}
	if path.Ext(d.target) == ".parquet" {
		if err := c.writeOutput(ctx, d.target, func(w io.Writer) error { return print.WriteDetails(w, s) }); err != nil {
			return err
		}
	} else if d.target == detailsAuto && format == "json" {
		c.printRemark("the JSON has no reports on the %s features; --details all adds them, --details FILE.parquet writes them to a file", humanize.Comma(int64(len(s.Columns))))
	}
	if format != "json" {
		return nil
	}
	s.Columns, s.Scores = []stream.ColumnReport{}, nil
	if n := len(s.LeftOut) - maxLeftOutInJSON; n > 0 {
		s.LeftOut = s.LeftOut[:maxLeftOutInJSON]
		s.Warnings = append(s.Warnings, print.CountNoun(n, "more column")+" left out; --details all names them")
	}
	return nil
}

// describeTextFormats returns the lines of help on formats whose files are read from beginning to end.
func describeTextFormats() string {
	var rows, sparse []string
	for _, f := range chunkio.InputFormats() {
		switch {
		case f.IsSparse():
			sparse = append(sparse, f.Name+" ("+strings.Join(f.Endings, ", ")+")")
		case f.IsText():
			rows = append(rows, f.Endings...)
		}
	}
	return fmt.Sprintf("files of rows: %s; text of sparse rows, with\n  features x[INDEX]: %s; all of these also .gz, .zst, .bz2.", strings.Join(rows, ", "), strings.Join(sparse, ", "))
}

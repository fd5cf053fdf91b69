package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/recipe"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// recipeFlags choose the SQL dialect of a query, and the table that it selects from.
type recipeFlags struct{ dialect, table string }

func (h *recipeFlags) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&h.dialect, "dialect", recipe.Dialects()[0], "for --format sql: "+strings.Join(recipe.Dialects(), ", "))
	fs.StringVar(&h.table, "from", "", "for --format sql: select FROM `TABLE`, copied as it is (default: duckdb reads the files themselves; in other dialects fill it in)")
}

// checkFormat returns an error if one of these flags is given and the format is not sql, or if the dialect is unknown.
func (h *recipeFlags) checkFormat(fs *pflag.FlagSet, format string) error {
	for _, flag := range []string{"dialect", "from"} {
		if fs.Changed(flag) && format != "sql" {
			return stream.Usagef("--%s is for --format sql", flag)
		}
	}
	return recipe.CheckDialect(h.dialect)
}

// isRecipeFormat reports whether a format is a recipe for other tools (sql, py, yaml), not a format of data.
func isRecipeFormat(format string) bool { return slices.Contains(recipe.Formats(), format) }

// readsFiles reports whether the format is a query that names the files to read.
func (h *recipeFlags) readsFiles(format string) bool {
	return recipe.ReadsFiles(format, h.dialect, h.table)
}

// checkInputs returns an error if the names of inputs show that a query cannot read them. It is called before the run.
func (h *recipeFlags) checkInputs(format string, inputs []string) error {
	if !h.readsFiles(format) {
		return nil
	}
	for _, in := range inputs {
		base := strings.ToLower(place.Base(in))
		form, packing := "Parquet", "" // also if the name does not show the format
		if strings.HasSuffix(base, ".bz2") {
			packing = "bz2"
		}
		if f := chunkio.InputFormatByName(base); f != nil && !place.IsFolder(in) {
			form = f.Name
		}
		if in == "-" {
			form = recipe.StandardInput
		}
		if err := recipe.CheckDuckDB(in, form, packing); err != nil {
			return err
		}
	}
	return nil
}

// newRecipe returns the recipe of a selection. at has the locations of its columns. inputs are the names of files.
func (h *recipeFlags) newRecipe(s *stream.Selection, at *chunkio.Located, inputs []string) (*recipe.Recipe, error) {
	r := &recipe.Recipe{Selection: s, Dialect: h.dialect, Table: h.table, Batches: at.Batches}
	for _, c := range at.Columns {
		if c.Sparse {
			return nil, stream.Usagef("%s is a feature of sparse rows, which no column holds by itself; write it dense with: ufs-stream apply INPUT --selection SEL.json -o OUT", c.Name)
		}
		r.Columns = append(r.Columns, recipe.Column{Name: c.Name, Path: c.Path, Element: c.Element, Key: c.Key})
	}
	if at.Table == nil { // the files of a table belong to one version, and a glob could also match files of other versions
		r.Glob = duckdbGlob(inputs, at.Files)
		r.Sources, r.Form, r.Hive = sourcesAndForm(inputs, at.Files)
	}
	return r, nil
}

// locateColumns finds the locations of the columns of a new selection. If reads is true, the recipe is a query that
// reads the files, and needs the full locations. For other formats the names suffice unless they are ambiguous: a dot
// may be part of a name or separate a struct from its field, and brackets may denote an item of a list. Statistics
// (q.Stats) contain the names of their inputs, which are read only if --allow permits this.
func locateColumns(ctx context.Context, s *stream.Selection, q *ufs.Request, reads bool) (*chunkio.Located, error) {
	at := &chunkio.Located{Table: s.Table}
	for _, in := range s.Inputs {
		at.Files = append(at.Files, in.Path)
	}
	ambiguous := ""
	for _, name := range print.InputNames(s) {
		at.Columns = append(at.Columns, chunkio.Place{Name: name, Path: []string{name}, Element: -1})
		if ambiguous == "" && strings.ContainsAny(name, ".[") {
			ambiguous = name
		}
	}
	if ambiguous == "" && !reads {
		return at, nil
	}
	fault := stream.Dataf("the selection", "")
	fault.Remedy = stream.Textf("use: ufs-stream apply INPUT --selection SEL.json --format …")
	a := ufs.ApplyRequest{
		Input:     ufs.Input{Plan: q.Input.Plan, Anonymous: q.Input.Anonymous, Allow: q.Input.Allow},
		Selection: s,
		Limits:    q.Limits,
	}
	var err error
	if q.Input.Plan == "" {
		a.Input.Paths, err = recordedInputs(s, q)
		if s.Table != nil {
			a.Input.Version = &s.Table.Version
		}
	}
	if err == nil {
		at, err = ufs.Locate(ctx, a)
	}
	switch {
	case err == nil:
		return at, nil
	case ambiguous == "":
		fault.Err = stream.Errorf("a query reads the files, and they cannot be examined for it: %w", err)
	default:
		fault.Err = stream.Errorf("it is unclear whether %q is a column of this name or a part of one: %w", ambiguous, err)
	}
	return nil, fault
}

// recordedInputs returns arguments for the inputs that a selection was made from: its files, or its table.
func recordedInputs(s *stream.Selection, q *ufs.Request) ([]string, error) {
	var list []string
	switch {
	case s.Table != nil:
		list = []string{s.Table.Path}
	case len(s.Inputs) == 0:
		return nil, stream.Errorf("it names no input")
	}
	for _, in := range s.Inputs {
		if in.Path == "-" {
			return nil, stream.Errorf("it was made from standard input")
		}
		if s.Table == nil {
			list = append(list, in.Path)
		}
	}
	for i, input := range list {
		if q.Stats != "" {
			scope, err := place.NewScope(place.DisplayName(q.Stats), place.OwnPlaces(q.Stats), q.Input.Allow)
			if err == nil {
				input, err = scope.Resolve(input)
			}
			if err != nil {
				return nil, err
			}
		}
		if list[i] = input; strings.HasPrefix(input, "@") { // a leading @ of a file name would mean a list of files
			list[i] = "./" + input
		}
		if s.Table != nil {
			list[i] = "delta://" + list[i]
		}
	}
	return list, nil
}

// sourcesAndForm returns the inputs in the form that DuckDB and Python accept, and their format. hive means that
// folders have names of the form key=value. It does not expand folders and globs among the inputs.
func sourcesAndForm(inputs, files []string) (list []string, form recipe.Form, hive bool) {
	if len(files) == 0 {
		return nil, "", false
	}
	for i, f := range files {
		fileForm := formOfFileName(f)
		if i == 0 {
			form = fileForm
		}
		if fileForm != form {
			return nil, "", false
		}
		hive = hive || isHivePath(f)
	}
	for _, in := range inputs {
		source, ok := sourceOfArgument(in, form)
		if !ok {
			list = nil
			break
		}
		list = append(list, source)
	}
	if list == nil {
		for _, f := range files {
			list = append(list, sourceForTools(f))
		}
	}
	return list, form, hive
}

// sourceOfArgument returns an argument in the form that DuckDB and Python accept. It returns false if the argument must
// be expanded into files.
func sourceOfArgument(in string, form recipe.Form) (string, bool) {
	if place.IsURL(in) || strings.HasPrefix(in, "@") {
		return "", false
	}
	local, err := place.LocalPath(in)
	if err != nil {
		return "", false
	}
	switch fi, err := os.Stat(local); {
	case err == nil && fi.IsDir():
		return escapeGlob(strings.TrimRight(local, "/")) + "/**/*.parquet", form == recipe.Parquet
	case err == nil:
		return escapeGlob(local), true
	}
	return local, !strings.ContainsAny(local, `{[\`)
}

// duckdbGlob returns a glob for DuckDB if the only input is a folder or glob of Parquet files. It returns "" if the
// glob would also match files that ufs-stream did not read, because the query must not read these either.
func duckdbGlob(inputs, files []string) string {
	if len(inputs) != 1 {
		return ""
	}
	glob, ok := sourceOfArgument(inputs[0], recipe.Parquet)
	if !ok || strings.HasPrefix(glob, "~") || strings.Contains(glob, `\`) {
		return ""
	}
	var found []string
	var err error
	if folder, isFolder := strings.CutSuffix(glob, "/**/*.parquet"); isFolder && escapeGlob(folder) == folder {
		err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.Type()&fs.ModeSymlink != 0: // DuckDB may or may not follow a symbolic link
				return fs.ErrInvalid
			case !entry.IsDir() && strings.HasSuffix(path, ".parquet"):
				found = append(found, path)
			}
			return nil
		})
	} else if !strings.Contains(glob, "**") {
		found, err = filepath.Glob(glob)
	}
	slices.Sort(found)
	if err != nil || len(found) == 0 || !slices.EqualFunc(found, files, func(x, y string) bool { return x == filepath.Clean(y) }) {
		return ""
	}
	return glob
}

func sourceForTools(file string) string {
	if place.IsURL(file) {
		return urlForTools(file)
	}
	return escapeGlob(file)
}

// urlForTools returns a URL in the form that other tools accept: without our query, and with az:// for Azure.
func urlForTools(url string) string {
	if !place.IsURL(url) || strings.HasPrefix(url, "http") {
		return place.DisplayName(url)
	}
	url, _, _ = strings.Cut(url, "?")
	if rest, ok := strings.CutPrefix(url, "azblob://"); ok {
		return "az://" + rest
	}
	return url
}

func escapeGlob(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}

// formOfFileName guesses the format of a file from the ending of its name. It returns "" for standard input and for
// formats that recipes do not have. Files with unknown endings are considered Parquet.
func formOfFileName(file string) recipe.Form {
	base := strings.ToLower(place.Base(file))
	for _, packed := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, packed)
	}
	for ending, form := range map[string]recipe.Form{
		".csv": recipe.CSV, ".ndjson": recipe.NDJSON, ".jsonl": recipe.NDJSON, ".json": recipe.NDJSON,
		".arrow": recipe.Arrow, ".ipc": recipe.Arrow, ".feather": recipe.Arrow,
		".ufs": "",
	} {
		if strings.HasSuffix(base, ending) {
			return form
		}
	}
	if f := chunkio.InputFormatByName(base); f != nil && f.Name != "Parquet" {
		return ""
	}
	if !strings.Contains(file, "/") && strings.Contains(file, " ") { // standard input
		return ""
	}
	return recipe.Parquet
}

// isHivePath reports whether a folder in the path has the form key=value, as partitions have.
func isHivePath(file string) bool {
	folders := strings.Split(file, "/")
	return slices.ContainsFunc(folders[:len(folders)-1], func(f string) bool { return strings.Index(f, "=") > 0 })
}

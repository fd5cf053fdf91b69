package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/recipe"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// handOnFlags say how a query is written.
type handOnFlags struct{ dialect, table string }

func (h *handOnFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&h.dialect, "dialect", recipe.Dialects()[0], "of --format sql: "+strings.Join(recipe.Dialects(), ", "))
	fs.StringVar(&h.table, "from", "", "of --format sql: select FROM `TABLE`, as it stands (default: duckdb reads the files themselves; in others put it in)")
}

// check refuses what does not go with the format.
func (h *handOnFlags) check(fs *pflag.FlagSet, format string) error {
	for _, flag := range []string{"dialect", "from"} {
		if fs.Changed(flag) && format != "sql" {
			return stream.Usagef("--%s is for --format sql", flag)
		}
	}
	return recipe.CheckDialect(h.dialect)
}

// handsOn reports whether a format is one for other tools.
func handsOn(format string) bool { return slices.Contains(recipe.Formats(), format) }

// recipe is a selection for other tools. at says where its columns lie; inputs are the arguments that
// the files came from, or none.
func (h *handOnFlags) recipe(s *stream.Selection, at *chunkio.Located, inputs []string) (*recipe.Recipe, error) {
	r := &recipe.Recipe{Selection: s, Dialect: h.dialect, Table: h.table}
	for _, c := range at.Columns {
		if c.Sparse {
			return nil, stream.Usagef("%s is a feature of sparse rows, which no column holds by itself; write it dense with: ufs-stream apply INPUT --selection SEL.json -o OUT", c.Name)
		}
		r.Columns = append(r.Columns, recipe.Column{Name: c.Name, Path: c.Path, Element: c.Element})
	}
	if at.Table != nil {
		r.Sources, r.Form = []string{scheme(at.Table.Path)}, recipe.Delta
		return r, nil
	}
	r.Sources, r.Form, r.Hive = sources(inputs, at.Files)
	return r, nil
}

// located finds where the columns of a new selection lie. Where a name leaves it open, a footer of
// the input tells: a dot may be of a name or of a struct, and brackets are of a list. Statistics (q.Stats)
// name their input, which is read only if they may name it.
func located(ctx context.Context, s *stream.Selection, q *ufs.Request) (*chunkio.Located, error) {
	at := &chunkio.Located{Table: s.Table}
	for _, in := range s.Inputs {
		at.Files = append(at.Files, in.Path)
	}
	var open []string
	for _, f := range s.Selected {
		at.Columns = append(at.Columns, chunkio.Place{Name: f.Name, Path: []string{f.Name}, Element: -1})
		if strings.ContainsAny(f.Name, ".[") {
			open = append(open, f.Name)
		}
	}
	if len(open) == 0 {
		return at, nil
	}
	sparse, _ := s.Options["sparse"].(string)
	var found *chunkio.Located
	err := stream.Dataf("the selection", "it names no input")
	if len(s.Inputs) > 0 {
		input, failed := s.Inputs[0].Path, error(nil)
		if q.Stats != "" {
			var scope *place.Scope
			if scope, failed = place.NewScope(place.Name(q.Stats), place.OwnPlaces(q.Stats), q.Allow); failed == nil {
				input, failed = scope.Resolve(input)
			}
			if failed == nil {
				input, failed = place.FromRoot(input) // no name is an @list then
			}
		}
		if failed == nil {
			found, failed = chunkio.Locate(ctx, []string{input}, chunkio.ApplyOptions{Columns: open, Sparse: sparse, Anonymous: q.Anonymous})
		}
		if failed != nil {
			err.Err = failed
		}
	}
	if found == nil {
		err.Err = stream.Errorf("nothing tells whether %q is a column of this name or a part of one: %w", open[0], err.Err)
		err.Remedy = stream.Textf("use: ufs-stream apply INPUT --selection SEL.json {format} …")
		return nil, err
	}
	places := make(map[string]chunkio.Place, len(open))
	for _, p := range found.Columns {
		places[p.Name] = p
	}
	for i, c := range at.Columns {
		if p, there := places[c.Name]; there {
			at.Columns[i] = p
		}
	}
	return at, nil
}

// writeRecipe writes a selection for other tools.
func (c *cli) writeRecipe(ctx context.Context, path, format string, r *recipe.Recipe) error {
	return c.write(ctx, path, func(w io.Writer) error { return r.Write(w, format) })
}

// sources are the places of files as DuckDB and Python take them: folders and globs stay what they are.
func sources(inputs, files []string) (list []string, form recipe.Form, hive bool) {
	if len(files) == 0 {
		return nil, "", false
	}
	for i, f := range files {
		own := formOf(f)
		if i == 0 {
			form = own
		}
		if own != form {
			return nil, "", false
		}
		hive = hive || hivePath(f)
	}
	for _, in := range inputs {
		s, ok := source(in, form)
		if !ok {
			list = nil
			break
		}
		list = append(list, s)
	}
	if list == nil {
		for _, f := range files {
			list = append(list, plainSource(f))
		}
	}
	return list, form, hive
}

// source is an argument that needs not be expanded.
func source(in string, form recipe.Form) (string, bool) {
	if place.IsURL(in) || strings.HasPrefix(in, "@") {
		return "", false
	}
	local, err := place.Local(in)
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

// plainSource is a file, whose name is no glob.
func plainSource(file string) string {
	if place.IsURL(file) {
		return scheme(file)
	}
	return escapeGlob(file)
}

// scheme is a URL as others spell it: a bucket's without our query, Azure's as az://.
func scheme(url string) string {
	if !place.IsURL(url) || strings.HasPrefix(url, "http") {
		return place.Name(url)
	}
	url, _, _ = strings.Cut(url, "?")
	if rest, ok := strings.CutPrefix(url, "azblob://"); ok {
		return "az://" + rest
	}
	return url
}

// escapeGlob makes of a path a glob that means it alone.
func escapeGlob(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}

// formOf tells the form of a file by its name; what has another ending, or none, is Parquet.
func formOf(file string) recipe.Form {
	base := strings.ToLower(place.Base(file))
	for _, packed := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, packed)
	}
	for ending, form := range map[string]recipe.Form{
		".csv": recipe.CSV, ".ndjson": recipe.NDJSON, ".jsonl": recipe.NDJSON, ".json": recipe.NDJSON,
		".arrow": recipe.Arrow, ".ipc": recipe.Arrow, ".feather": recipe.Arrow,
		".tsv": "", ".npy": "", ".svm": "", ".libsvm": "", ".avro": "", ".arrows": "", ".ufs": "",
	} {
		if strings.HasSuffix(base, ending) {
			return form
		}
	}
	if !strings.Contains(file, "/") && strings.Contains(file, " ") { // standard input
		return ""
	}
	return recipe.Parquet
}

// hivePath reports whether a folder of the path is a partition, key=value.
func hivePath(file string) bool {
	folders := strings.Split(file, "/")
	return slices.ContainsFunc(folders[:len(folders)-1], func(f string) bool { return strings.Index(f, "=") > 0 })
}

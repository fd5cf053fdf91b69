package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/progress"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// jsonDocument is a kind of JSON that the program writes.
type jsonDocument struct {
	name, title string // of the schema's file, and of the document
	form        reflect.Type
	version     string // the value of the member schema; empty if there is none
}

// treeNode is the form of the output of tree, which package eufs writes by itself.
type treeNode struct {
	Features []string    `json:"features"` // of this node only
	Children []*treeNode `json:"children"`
}

// jsonDocuments are all kinds of JSON that the program writes for programs.
var jsonDocuments = []jsonDocument{
	{"select", "Output of ufs-stream select", reflect.TypeFor[stream.Selection](), stream.SelectionSchema},
	{"path-curve", "Output of ufs-stream path, for methods whose selections are nested", reflect.TypeFor[stream.Curve](), stream.CurveSchema},
	{"path-grid", "Output of ufs-stream path, for methods with weights", reflect.TypeFor[stream.Grid](), stream.GridSchema},
	{"eval", "Output of ufs-stream eval", reflect.TypeFor[stream.Evaluation](), stream.EvaluationSchema},
	{"plan", "Output of ufs-stream plan", reflect.TypeFor[ufs.Forecast](), ""},
	{"inspect", "Output of ufs-stream inspect", reflect.TypeFor[ufs.Inspection](), ""},
	{"explain", "Output of ufs-stream explain", reflect.TypeFor[ufs.Explanation](), ufs.ExplainSchema},
	{"redundancy", "Output of ufs-stream redundancy", reflect.TypeFor[ufs.Redundant](), ufs.RedundancySchema},
	{"diff", "Output of ufs-stream diff", reflect.TypeFor[ufs.Difference](), ufs.DifferenceSchema},
	{"check", "Output of ufs-stream check", reflect.TypeFor[ufs.Verdict](), ufs.VerdictSchema},
	{"tree", "Output of ufs-stream tree", reflect.TypeFor[treeNode](), ""},
	{"version", "Output of ufs-stream version", reflect.TypeFor[program.Build](), ""},
	{"help", "Output of ufs-stream help", reflect.TypeFor[helpDocument](), helpSchema},
	{"message", "A line of standard error with --messages json", reflect.TypeFor[program.Message](), ""},
	{"progress", "A line of standard error with --progress json", reflect.TypeFor[progress.Snapshot](), ""},
}

// member is a member of a JSON object, in order.
type member struct {
	key   string
	value any
}

type object []member

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		b.WriteByte("{,"[min(i, 1)])
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(m.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// generator makes a schema of a Go type, with a definition for each struct in it. Descriptions are the comments.
type generator struct {
	comments func(t reflect.Type) map[string]string // by the name of a field, and "" for the type
	isClosed bool                                   // objects have no other members
	root     reflect.Type
	version  string // of root, the value of its member schema
	defs     map[string]object
	seen     []string // keys of defs in order
}

func (g *generator) schemaOf(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[stream.Number]():
		return object{{"type", []string{"number", "null"}}}
	case reflect.TypeFor[stream.Position]():
		return object{{"type", []string{"integer", "null"}}, {"minimum", 0}}
	}
	if t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[json.Marshaler]()) {
		panic(fmt.Sprintf("the JSON of %v is written by itself: add its schema here", t))
	}
	switch t.Kind() {
	case reflect.String:
		return object{{"type", "string"}}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Int, reflect.Int64:
		return object{{"type", "integer"}}
	case reflect.Uint64:
		return object{{"type", "integer"}, {"minimum", 0}}
	case reflect.Float64:
		return object{{"type", "number"}}
	case reflect.Interface:
		return object{}
	case reflect.Pointer:
		return g.schemaOf(t.Elem())
	case reflect.Slice:
		return object{{"type", "array"}, {"items", g.schemaOf(t.Elem())}}
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", g.schemaOf(t.Elem())}}
	case reflect.Struct:
		if _, isKnown := g.defs[t.Name()]; !isKnown {
			g.seen = append(g.seen, t.Name())
			g.defs[t.Name()] = nil // a struct may contain itself
			g.defs[t.Name()] = g.structSchema(t)
		}
		return object{{"$ref", "#/$defs/" + t.Name()}}
	}
	panic(fmt.Sprintf("no schema for %v", t))
}

func (g *generator) structSchema(t reflect.Type) object {
	members, required := object{}, []string{}
	g.addFields(t, &members, &required, true)
	s := object{{"type", "object"}}
	if about := g.comments(t)[""]; about != "" {
		s = append(s, member{"description", about})
	}
	s = append(s, member{"properties", members}, member{"required", required})
	if g.isClosed {
		s = append(s, member{"additionalProperties", false})
	}
	return s
}

func (g *generator) addFields(t reflect.Type, members *object, required *[]string, isAlways bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if inner := f.Type; f.Anonymous && name == "" {
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			g.addFields(inner, members, required, isAlways && inner == f.Type)
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		s := g.schemaOf(f.Type)
		if isOmitted := strings.Contains(options, "omit"); isAlways && !isOmitted {
			*required = append(*required, name)
			if f.Type.Kind() == reflect.Pointer {
				s = object{{"anyOf", []any{s, object{{"type", "null"}}}}}
			}
		}
		if name == "schema" && t == g.root && g.version != "" {
			s = object{{"const", g.version}}
		}
		if about := g.comments(t)[f.Name]; about != "" {
			s = append(s, member{"description", about})
		}
		*members = append(*members, member{name, s})
	}
}

// commentReader reads the comments of types in the source of this module.
func commentReader(t *testing.T) func(reflect.Type) map[string]string {
	packages := make(map[string]map[string]map[string]string) // by folder, type and field
	return func(typ reflect.Type) map[string]string {
		folder := "."
		if at := strings.Index(typ.PkgPath(), "ufs-stream/ufs-stream/"); at >= 0 {
			folder = filepath.Join("..", "..", filepath.FromSlash(typ.PkgPath()[at+len("ufs-stream/ufs-stream/"):]))
		}
		if packages[folder] == nil {
			packages[folder] = commentsIn(t, folder)
		}
		return packages[folder][typ.Name()]
	}
}

func commentsIn(t *testing.T, folder string) map[string]map[string]string {
	t.Helper()
	types := make(map[string]map[string]string)
	isSource := func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go") || f.Name() == "schema_test.go"
	}
	for _, pkg := range mustbe.Get(parser.ParseDir(token.NewFileSet(), folder, isSource, parser.ParseComments))(t) { //nolint:staticcheck // build tags do not matter here
		for _, file := range pkg.Files {
			for _, decl := range file.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok || gen.Tok != token.TYPE {
					continue
				}
				for _, spec := range gen.Specs {
					typ := spec.(*ast.TypeSpec)
					types[typ.Name.Name] = fieldComments(gen, typ)
				}
			}
		}
	}
	return types
}

func fieldComments(decl *ast.GenDecl, typ *ast.TypeSpec) map[string]string {
	join := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	comments := map[string]string{"": join(decl.Doc.Text())}
	if s, ok := typ.Type.(*ast.StructType); ok {
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				comments[name.Name] = join(f.Doc.Text() + " " + f.Comment.Text())
			}
		}
	}
	return comments
}

// schemaText makes the schema of a document. Published schemas allow members that later versions add; closed ones do
// not.
func schemaText(doc jsonDocument, comments func(reflect.Type) map[string]string, isClosed bool) (string, error) {
	g := generator{comments: comments, isClosed: isClosed, root: doc.form, version: doc.version, defs: make(map[string]object)}
	root := g.schemaOf(doc.form)
	defs := object{}
	for _, name := range g.seen {
		defs = append(defs, member{name, g.defs[name]})
	}
	s := object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", "https://github.com/ufs-stream/ufs-stream/blob/main/docs/schema/" + doc.name + ".json"}, {"title", doc.title}}
	compact, err := append(append(s, root...), member{"$defs", defs}).MarshalJSON()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = json.Indent(&b, compact, "", " ")
	return b.String() + "\n", err
}

// closedSchemas are the compiled closed schemas by name.
var closedSchemas sync.Map

// closedSchema is the closed schema of a document.
func closedSchema(doc jsonDocument) (*jsonschema.Schema, error) {
	compile := sync.OnceValues(func() (*jsonschema.Schema, error) {
		text, err := schemaText(doc, func(reflect.Type) map[string]string { return nil }, true)
		if err != nil {
			return nil, err
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(doc.name, value); err != nil {
			return nil, err
		}
		return c.Compile(doc.name)
	})
	known, _ := closedSchemas.LoadOrStore(doc.name, compile)
	return known.(func() (*jsonschema.Schema, error))()
}

// judgeJSON validates a text of a verb against the closed schema of its document. The name of a path's document is in
// the text.
func judgeJSON(verb, text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	var version any
	if members, ok := value.(map[string]any); ok {
		version = members["schema"]
	}
	at := slices.IndexFunc(jsonDocuments, func(d jsonDocument) bool { return d.name == verb || d.version != "" && d.version == version })
	if at < 0 {
		return fmt.Errorf("the verb %s has no schema, nor %v", verb, version)
	}
	schema, err := closedSchema(jsonDocuments[at])
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// judgeOutputs validates the JSON that a run wrote, if it did.
func judgeOutputs(args []string, out, errors string) error {
	if len(args) == 0 {
		return nil
	}
	if strings.HasPrefix(out, "{") && args[0] != "apply" && args[0] != "convert" && args[0] != cobra.ShellCompNoDescRequestCmd {
		if err := judgeJSON(args[0], out); err != nil {
			return err
		}
	}
	if findMessageFormat(args) != "json" {
		return nil
	}
	for line := range strings.Lines(errors) {
		document := "message"
		if strings.HasPrefix(line, `{"event":"p`) {
			document = "progress"
		}
		if err := judgeJSON(document, line); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// TestSchemasArePublished: docs/schema has the schema of every document, as the Go types declare it: the names, order,
// kinds and comments of all members. UFS_UPDATE_GOLDEN writes them. Every one is a valid schema.
func TestSchemasArePublished(t *testing.T) {
	comments := commentReader(t)
	folder := filepath.Join("..", "..", "docs", "schema")
	var published []string
	for _, doc := range jsonDocuments {
		path := filepath.Join(folder, doc.name+".json")
		published = append(published, doc.name+".json")
		got := mustbe.Get(schemaText(doc, comments, false))(t)
		if os.Getenv("UFS_UPDATE_GOLDEN") != "" {
			mustbe.Do(t, os.MkdirAll(folder, 0o777))
			write(t, path, got)
		}
		if want := read(t, path); got != want {
			t.Errorf("%s differs from the Go types: run this test with UFS_UPDATE_GOLDEN=1; got\n%s", path, got)
		}
		c := jsonschema.NewCompiler()
		c.AssertVocabs()
		if _, err := c.Compile(path); err != nil {
			t.Errorf("%s is no valid schema: %v", path, err)
		}
	}
	slices.Sort(published)
	var found []string
	for _, entry := range mustbe.Get(os.ReadDir(folder))(t) {
		found = append(found, entry.Name())
	}
	if !slices.Equal(found, published) {
		t.Errorf("docs/schema has %v, want %v", found, published)
	}
}

// TestOutputsFitSchemas: every verb with JSON writes documents of many kinds, which are valid by their closed schemas,
// and so are the lines of standard error. invoke itself looks, also in all other tests.
func TestOutputsFitSchemas(t *testing.T) {
	in, files := plantHoled(t, 300, 2)
	at := folder(t)
	text := write(t, at("t.csv"), "when,name,a,b,c\n"+strings.Repeat("2026-01-01,x,1,2,4\n2026-01-02,y,2,1,9\n2026-01-03,x,5,7,1\n2026-01-04,z,1,4,2\n", 30))
	costs := write(t, at("costs.csv"), "x001,3\n")
	classes, ofClasses := labelled(t, 60)
	tried := make(map[string]bool) // verbs
	judge := func(document string, args ...string) string {
		t.Helper()
		tried[args[0]] = true
		if args[0] != "tree" {
			args = append(args, "--format", "json")
		}
		out := must(t, args...)
		if err := judgeJSON(document, out); err != nil {
			t.Errorf("%v writes JSON that does not fit: %v\n%s", args, err, out)
		}
		return out
	}
	must(t, "scan", in, "--missing", "mean", "-o", at("all.ufs"))
	must(t, "scan", files[0], "--missing", "mean", "-o", at("part.ufs"))

	judge("select", "select", in, "-k", "3", "--method", "variance")
	judge("select", "select", in, "-k", "3", "--method", "sfufs")
	judge("select", "select", in, "--costs", costs, "--budget", "5", "--method", "greedy", "--explain-columns", "x00*")
	judge("select", "select", in, "-k", "2", "--groups", "regex:x0.", "--method", "greedy", "--stability=4")
	judge("select", "select", in, "-k", "2", "--method", "greedy", "--sketch", "64", "--memory-limit", "64MiB")
	judge("select", "select", text, "--times", "--categorical", "auto", "--missing-indicators")
	judge("select", "select", in)
	sel := write(t, at("sel.json"), judge("select", "select", in, "-k", "3", "--method", "greedy", "--exclude", "x004"))
	judge("path-curve", "path", in, "-k", "3", "--method", "greedy")
	judge("path-curve", "path", in, "-k", "2", "--method", "greedy", "--groups", "regex:x0.", "--costs", costs)
	judge("path-grid", "path", in, "-k", "3", "--method", "sfufs", "--alpha", "0.1,1")
	judge("plan", "plan", in, "-k", "3")
	judge("plan", "plan", in, "--machines", "1,10", "--method", "eufs")
	judge("inspect", "inspect", in, "--scan")
	judge("inspect", "inspect", text)
	judge("inspect", "inspect", at("all.ufs"))
	judge("eval", "eval", classes, "--selection", ofClasses, "--label", "label", "--runs", "2", "--classify", "knn,ridge")
	judge("eval", "eval", in, "--selection", sel)
	judge("explain", "explain", "x001", "x004", "--selection", sel)
	judge("explain", "explain", "x001", "x002", "--selection", sel, in)
	judge("redundancy", "redundancy", in, "--threshold", "0.3")
	judge("check", "check", "--selection", sel, "--stats", at("all.ufs"))
	judge("check", "check", "--selection", sel, "--stats", at("all.ufs"), "--baseline", at("part.ufs"), "--tolerance", "1")
	judge("diff", "diff", sel, ofClasses)
	judge("tree", "tree", in, "--tree", "correlation")
	judge("version", "version")
	judge("help", "help")
	judge("help", "help", "select")
	for _, cmd := range newRoot(new(cli)).Commands() {
		if writesJSON(cmd) && !tried[cmd.Name()] {
			t.Errorf("%s writes JSON, and no output of it was judged", cmd.Name())
		}
	}

	for _, args := range [][]string{
		{"select", in, "-v", "--progress", "json"}, {"select", at("nosuch")}, {"select", in, "--zzz"}, {"select", in, "--memory-limit", "1MiB"},
		{"select", in, "-o", at("no/such/folder.json")}, {"select", text, "--types", "name=int"}, {"select", "-k", "0", in},
	} {
		if r := invoke(append(args, "--messages", "json")...); !strings.HasPrefix(r.err, `{"event":"`) {
			t.Errorf("%v: standard error has no messages:\n%s", args, r.err)
		}
	}
}

// writesJSON reports whether a verb has the format json, or only that.
func writesJSON(cmd *cobra.Command) bool {
	f := cmd.Flag("format")
	if f == nil || cmd.Name() == "apply" { // the formats of apply are of recipes
		return cmd.Name() == "tree"
	}
	return slices.Contains(describeFlag(f, "").Values, "json")
}

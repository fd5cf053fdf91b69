package gates

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// finding is one place that counts toward a measure.
type finding struct {
	measure string
	folder  string // slash-separated, from the root of the repository
	name    string // of the folder, type or function, or the line of the comment
	at      string // file:line; empty for a folder
	count   int    // files, methods, names, lines, or 1 for an occurrence
}

// houseMeasures is everything that is measured of a tree.
type houseMeasures struct {
	findings []finding
	totals   map[string]int // the denominator of each measure that is a share
}

// definedType is a type of a package, with everything that a selector on its value can name.
type definedType struct {
	folder, name, at string
	fields, embedded []string
	methodFiles      map[string]string // method: file
}

// houseSurvey collects the measures of a tree, file by file.
type houseSurvey struct {
	houseMeasures
	files map[string]int // production files by folder
	types map[string]*definedType
}

// overusedWords are words that make a comment a riddle: each stood there 5 to 60 times as often as in well-kept
// projects, most of the time for a name that was missing.
var overusedWords = map[string]*regexp.Regexp{
	"what":          regexp.MustCompile(`(?i)\bwhat\b`),
	"says/tells":    regexp.MustCompile(`(?i)\b(says?|tells?)\b`),
	"where":         regexp.MustCompile(`(?i)\bwhere\b`),
	"those of":      regexp.MustCompile(`(?i)\bthose (of|that|which|with)\b`),
	"so many":       regexp.MustCompile(`(?i)\bso many\b`),
	"beside/behind": regexp.MustCompile(`(?i)\b(beside|behind)\b`),
}

var (
	commentWord  = regexp.MustCompile(`[A-Za-z']+`)
	formatVerb   = regexp.MustCompile(`%[-+# 0-9.*]*[a-zA-Z]`)
	twoLetters   = regexp.MustCompile(`[a-zA-Z]{2}`)
	failureCalls = []string{"Error", "Errorf", "Fatal", "Fatalf"}
	// irregularParticiples do not end in -ed, and verbsInEd do though they are verbs or nouns.
	irregularParticiples = strings.Fields("begun bound bought broken brought built caught chosen cut done drawn found given gone grown heard held hidden " +
		"kept known laid left lent lost made meant met paid said seen sent shown sold sought spent split taken taught thought told torn understood won written")
	verbsInEd = strings.Fields("embed exceed feed need proceed seed shed speed succeed")
)

// measureTree measures the files of eachGoFile: production files of every module, except generated ones, and the
// failure calls of tests.
func measureTree(root string) (*houseMeasures, error) {
	s := &houseSurvey{houseMeasures: houseMeasures{totals: make(map[string]int)}, files: make(map[string]int), types: make(map[string]*definedType)}
	if err := eachGoFile(root, s.measureFile); err != nil {
		return nil, err
	}
	for _, folder := range slices.Sorted(maps.Keys(s.files)) {
		s.record(finding{"files in a folder", folder, folder, "", s.files[folder]})
	}
	for _, key := range slices.Sorted(maps.Keys(s.types)) {
		s.measureType(s.types[key])
	}
	return &s.houseMeasures, nil
}

func (s *houseSurvey) record(f finding) { s.findings = append(s.findings, f) }

func (s *houseSurvey) measureFile(file string, set *token.FileSet, tree *ast.File) {
	at := func(pos token.Pos) string { return fmt.Sprintf("%s:%d", file, set.Position(pos).Line) }
	folder := path.Dir(file)
	if strings.HasSuffix(file, "_test.go") {
		s.measureFailureCalls(folder, tree, at)
		return
	}
	if ast.IsGenerated(tree) {
		return
	}
	s.files[folder]++
	for _, group := range tree.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, "//go:") {
				s.measureComment(folder, c, at(c.Pos()))
			}
		}
	}
	for _, decl := range tree.Decls {
		switch x := decl.(type) {
		case *ast.FuncDecl:
			s.measureFunction(folder, file, x, at(x.Pos()), set.Position(x.End()).Line-set.Position(x.Pos()).Line+1)
		case *ast.GenDecl:
			for _, spec := range x.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					s.addType(folder, t, at(t.Pos()))
				}
			}
		}
	}
}

func (s *houseSurvey) measureComment(folder string, c *ast.Comment, at string) {
	words := len(commentWord.FindAllString(c.Text, -1))
	line, _, _ := strings.Cut(c.Text, "\n")
	for tic, pattern := range overusedWords {
		measure := fmt.Sprintf("%q in comments", tic)
		s.totals[measure] += words
		for range pattern.FindAllString(c.Text, -1) {
			s.record(finding{measure, folder, line, at, 1})
		}
	}
}

func (s *houseSurvey) measureFunction(folder, file string, f *ast.FuncDecl, at string, lines int) {
	name := f.Name.Name
	if f.Recv != nil && len(f.Recv.List) > 0 {
		receiver := typeName(f.Recv.List[0].Type)
		s.typeOf(folder, receiver).methodFiles[name] = file
		name = receiver + "." + name
	}
	s.record(finding{"lines of a function", folder, name, at, lines})
	s.totals["functions of one word"]++
	if isOneWord(f.Name.Name) {
		s.record(finding{"functions of one word", folder, name, at, 1})
	}
	if isParticiple(f.Name.Name) {
		s.record(finding{"participles as functions", folder, name, at, 1})
	}
	if !f.Name.IsExported() {
		s.totals["private functions with a comment"]++
		if f.Doc != nil {
			s.record(finding{"private functions with a comment", folder, name, at, 1})
		}
	}
}

func (s *houseSurvey) typeOf(folder, name string) *definedType {
	key := folder + "." + name
	if s.types[key] == nil {
		s.types[key] = &definedType{folder: folder, name: name, methodFiles: make(map[string]string)}
	}
	return s.types[key]
}

func (s *houseSurvey) addType(folder string, spec *ast.TypeSpec, at string) {
	t := s.typeOf(folder, spec.Name.Name)
	t.at = at
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range structure.Fields.List {
		if len(field.Names) == 0 {
			t.embedded = append(t.embedded, typeName(field.Type))
		}
		for _, name := range field.Names {
			t.fields = append(t.fields, name.Name)
		}
	}
}

// typeName returns T or pkg.T of a type expression, without pointers and type arguments.
func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return typeName(x.X) + "." + x.Sel.Name
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.IndexListExpr:
		return typeName(x.X)
	}
	return "?"
}

func (s *houseSurvey) measureType(t *definedType) {
	key := t.folder + "." + t.name
	files := slices.Sorted(maps.Values(t.methodFiles))
	names := make(map[string]int)
	s.countReachable(t, names, make(map[*definedType]bool))
	shadowed := slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool { return names[name] < 2 })
	s.record(finding{"methods of a type", t.folder, key, t.at, len(t.methodFiles)})
	s.record(finding{"files with methods of a type", t.folder, key, t.at, len(slices.Compact(files))})
	s.record(finding{"names reachable on a value", t.folder, key, t.at, len(names)})
	s.record(finding{"shadowed names on a value", t.folder, key + " (" + strings.Join(shadowed, ", ") + ")", t.at, len(shadowed)})
	if len(t.embedded) > 1 {
		s.record(finding{"structs that embed two", t.folder, key, t.at, 1})
	}
}

// countReachable counts, by name, the fields and methods of a value of type t, embedded ones included.
func (s *houseSurvey) countReachable(t *definedType, names map[string]int, visited map[*definedType]bool) {
	if t == nil || visited[t] {
		return
	}
	visited[t] = true
	for _, field := range t.fields {
		names[field]++
	}
	for method := range t.methodFiles {
		names[method]++
	}
	for _, embedded := range t.embedded {
		names[embedded[strings.LastIndex(embedded, ".")+1:]]++
		s.countReachable(s.findType(t.folder, embedded), names, visited)
	}
}

// findType resolves the name of an embedded type in its own folder, or in the first folder of that package name.
func (s *houseSurvey) findType(folder, name string) *definedType {
	pkg, typ, isQualified := strings.Cut(name, ".")
	if !isQualified {
		return s.types[folder+"."+name]
	}
	for _, key := range slices.Sorted(maps.Keys(s.types)) {
		if t := s.types[key]; t.name == typ && path.Base(t.folder) == pkg {
			return t
		}
	}
	return nil
}

// measureFailureCalls records the calls of t.Error and its like whose literal texts have no word, only verbs for values.
func (s *houseSurvey) measureFailureCalls(folder string, tree *ast.File, at func(token.Pos) string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(failureCalls, selector.Sel.Name) {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); !ok || !slices.Contains([]string{"t", "b", "tb", "f"}, x.Name) {
			return true
		}
		text := ""
		for _, argument := range call.Args {
			if literal, ok := argument.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text += literal.Value
			}
		}
		if !twoLetters.MatchString(formatVerb.ReplaceAllString(text, "")) {
			s.record(finding{"failures of tests without a word", folder, selector.Sel.Name, at(call.Pos()), 1})
		}
		return true
	})
}

// isOneWord reports whether a name has no capital and no underscore after its first letter.
func isOneWord(name string) bool {
	return strings.IndexFunc(name[1:], func(r rune) bool { return unicode.IsUpper(r) || r == '_' }) < 0
}

func isParticiple(name string) bool {
	name = strings.ToLower(name[:1]) + name[1:]
	return isOneWord(name) && (slices.Contains(irregularParticiples, name) || strings.HasSuffix(name, "ed") && !slices.Contains(verbsInEd, name))
}

// compareFindings orders findings by measure, then from the worst on, then by place.
func compareFindings(a, b finding) int {
	return cmp.Or(strings.Compare(a.measure, b.measure), b.count-a.count, strings.Compare(a.name, b.name), strings.Compare(a.at, b.at))
}

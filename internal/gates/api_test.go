package gates

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

const module = "github.com/ufs-stream/ufs-stream/"

// libraries are the packages that other modules import.
var libraries = []string{"anchor", "chunkio", "cluster", "eufs", "gram", "greedy", "greedy/selection", "method", "methods", "methods/align", "methods/baseline", "methods/cdlfs", "methods/cpufs", "methods/fsfs", "methods/fspca", "methods/hvg", "methods/jelsr", "methods/pca", "methods/rsfs", "methods/rufs", "methods/socfs", "methods/sogfs", "methods/spcafs", "methods/spec", "methods/u2fs", "methods/udfs", "report", "sfufs", "stream", "ufs", "ufs/request", "ufs/result"}

// Code outside the module cannot name a type of an internal package, so no exported API may need one.
func TestPublicAPINamesNoInternalType(t *testing.T) {
	load := exportData(t)
	for _, name := range libraries {
		pkg := must.Get(load.Import(module + name))(t)
		s := search{seen: make(map[types.Type]bool)}
		for _, object := range pkg.Scope().Names() {
			if token.IsExported(object) {
				s.object(name+"."+object, pkg.Scope().Lookup(object))
			}
		}
		for _, f := range s.found {
			t.Errorf("the public API names an internal type: %s", f)
		}
	}
}

// exportData imports the libraries from the compiler's export data.
func exportData(t *testing.T) types.Importer {
	args := []string{"-export", "-deps", "-json=ImportPath,Export"}
	for _, name := range libraries {
		args = append(args, module+name)
	}
	files := make(map[string]string)
	for _, p := range list(t, args...) {
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
}

// search follows the exported names of a package down to the types that they use.
type search struct {
	seen  map[types.Type]bool
	found []string
}

func (s *search) object(place string, o types.Object) {
	name, isType := o.(*types.TypeName)
	if !isType {
		s.visit(place, o.Type())
		return
	}
	if alias, ok := o.Type().(*types.Alias); ok {
		s.visit(place, alias.Rhs())
		return
	}
	s.visit(place, name.Type().Underlying())
	named := name.Type().(*types.Named)
	for m := range named.Methods() {
		if m.Exported() {
			s.visit(place+"."+m.Name(), m.Type())
		}
	}
}

// visit reports the internal types that t mentions. It does not enter named types of the libraries: those are visited
// at their declaration.
func (s *search) visit(place string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		s.visit(place, t.Rhs())
	case *types.Named:
		if pkg := t.Obj().Pkg(); pkg != nil && strings.HasPrefix(pkg.Path(), module+"internal/") {
			s.found = append(s.found, fmt.Sprintf("%s mentions %s", place, t))
		}
		for arg := range t.TypeArgs().Types() {
			s.visit(place, arg)
		}
		if pkg := t.Obj().Pkg(); pkg != nil && strings.HasPrefix(pkg.Path(), module) && !t.Obj().Exported() && !s.seen[t] {
			s.seen[t] = true
			s.object(place, t.Obj()) // callers can reach its exported fields and methods
		}
	case *types.Pointer:
		s.visit(place, t.Elem())
	case *types.Slice:
		s.visit(place, t.Elem())
	case *types.Array:
		s.visit(place, t.Elem())
	case *types.Chan:
		s.visit(place, t.Elem())
	case *types.Map:
		s.visit(place, t.Key())
		s.visit(place, t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			s.visit(place, v.Type())
		}
	case *types.Signature:
		s.visit(place, t.Params())
		s.visit(place, t.Results())
		for p := range t.TypeParams().TypeParams() {
			s.visit(place, p.Constraint())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				s.visit(place+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			s.visit(place+"."+m.Name(), m.Type())
		}
	case *types.Union:
		for term := range t.Terms() {
			s.visit(place, term.Type())
		}
	}
}

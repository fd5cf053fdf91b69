package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ufs-stream/ufs-stream/"

// mayImport is the package table of the design: which packages of this module
// each one may import. A package that is not listed here does not belong.
var mayImport = map[string][]string{
	"stream":              {},
	"chunkio":             {"stream", "chunkio/internal/copier", "chunkio/internal/format", "chunkio/internal/ipc", "chunkio/internal/parquet", "chunkio/internal/text", "chunkio/internal/writer", "internal/atomicfile"},
	"internal/atomicfile": {"stream"},
	"internal/kernel":     {},
	"internal/linalg":     {"internal/kernel"},
	"internal/planted":    {"stream"},
	"internal/words":      {},
	"internal/agree":      {},
	"gram":                {"stream", "internal/kernel", "internal/words"},
	"greedy":              {"stream", "gram", "internal/kernel"},
	"cluster":             {"stream", "internal/kernel"},
	"anchor":              {"stream", "gram", "cluster", "internal/kernel", "internal/words"},
	"baseline":            {"stream", "gram", "anchor", "cluster", "internal/kernel", "internal/linalg"},
	"sfufs":               {"stream", "gram", "anchor", "cluster", "internal/agree", "internal/kernel", "internal/linalg"},
	"cpufs":               {"stream", "gram", "anchor", "cluster", "internal/kernel", "internal/linalg"},
	"eufs":                {"stream", "gram", "anchor", "cluster", "internal/kernel", "internal/linalg"},
	"internal/exit":       {"stream"},
	"internal/judge":      {"stream", "gram", "greedy", "cluster", "internal/kernel", "internal/linalg"},
	"report":              {"stream"},
	"bench":               {"stream", "chunkio", "gram", "anchor", "cluster", "greedy", "sfufs", "eufs", "cpufs", "baseline", "report", "internal/agree", "internal/atomicfile", "internal/exit", "internal/judge", "internal/kernel", "internal/linalg", "internal/planted"},
	"cmd/ufs-stream":      {"stream", "chunkio", "gram", "anchor", "cluster", "greedy", "sfufs", "eufs", "cpufs", "baseline", "report", "internal/agree", "internal/atomicfile", "internal/exit", "internal/judge", "internal/kernel", "internal/linalg", "internal/planted"},

	"chunkio/internal/copier":     {"stream", "chunkio/internal/format", "chunkio/internal/ipc", "chunkio/internal/parquet", "chunkio/internal/writer"},
	"chunkio/internal/format":     {"stream", "chunkio/internal/text"},
	"chunkio/internal/formattest": {"chunkio/internal/format", "chunkio/internal/text"},
	"chunkio/internal/ipc":        {"stream", "chunkio/internal/format", "chunkio/internal/text"},
	"chunkio/internal/parquet":    {"stream", "chunkio/internal/format", "chunkio/internal/text"},
	"chunkio/internal/text":       {},
	"chunkio/internal/writer":     {"stream", "chunkio/internal/format", "chunkio/internal/parquet"},
}

// importers names the packages that alone may import a module (by prefix). Beyond
// the design, which gives gonum to internal/linalg, greedy takes gonum's loops over
// single rows (floats.Scale and the like), which are no products.
var importers = map[string][]string{
	"github.com/apache/arrow/":                       {"chunkio", "chunkio/internal/copier", "chunkio/internal/formattest", "chunkio/internal/parquet", "chunkio/internal/writer"},
	"github.com/klauspost/":                          {"chunkio", "chunkio/internal/ipc", "chunkio/internal/parquet", "chunkio/internal/writer"},
	"github.com/spf13/":                              {"cmd/ufs-stream", "bench"},
	"github.com/vbauerster/":                         {"cmd/ufs-stream"},
	"gonum.org/v1/gonum/":                            {"internal/linalg", "internal/judge", "greedy"},
	"gonum.org/v1/plot":                              {"report"},
	"github.com/chromedp/":                           nil, // of tests
	"golang.org/x/sys/cpu":                           {"internal/kernel"},
	"github.com/apache/thrift/":                      nil, // arrow's own
	"google.golang.org/":                             nil, // what only pqarrow needs
	"github.com/apache/arrow/go/v15/parquet/pqarrow": nil, // panics where nobody can recover
}

// TestLayering keeps the arrows of the design: it reads every package's imports
// from the go tool, tests left out (they may build on whatever they check).
func TestLayering(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("package %s is not in the design's table", name)
		}
		for _, imp := range p.Imports {
			if own, ok := strings.CutPrefix(imp, module); ok {
				if !slices.Contains(allowed, own) {
					t.Errorf("%s imports %s, which the design does not allow", name, own)
				}
				continue
			}
			for prefix, may := range importers {
				if strings.HasPrefix(imp, prefix) && !slices.Contains(may, name) {
					t.Errorf("%s imports %s; of this module only %q may", name, imp, may)
				}
			}
		}
	}
}
